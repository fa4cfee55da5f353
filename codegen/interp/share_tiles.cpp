#include <algorithm>

#include "lower.hpp"

namespace plait::interp {

using ir::kNone;
using ir::Op;
using ir::Val;

ir::Kernel share_tiles(ir::Kernel k, std::vector<SharedTiles>& shared) {
  const ir::Analysis a = ir::analyse(k);
  const auto is_number = [&](Val v) { return ir::is_number(k.insts[v]); };
  for (std::size_t l = 0; l < k.loops.size(); ++l) {
    const auto outer = static_cast<std::int32_t>(l), row = ir::row_loop(k, outer);
    if (row < 0 || !k.loops[row].lanes() || a.vector_loop[outer] >= 0) continue;
    // Numbers stay: they do not vary, and the loop's bounds read them.
    auto& from = k.loops[outer].body;
    auto& to = k.loops[row].body;
    const auto moved = std::stable_partition(from.begin(), from.end() - 1, is_number);
    to.insert(to.begin(), moved, from.end() - 1);
    from.erase(moved, from.end() - 1);
    const ir::Inst& end = k.insts[k.loops[row].end];
    const ir::Coeff count =
        end.op == Op::Param ? ir::Coeff{0, end.index} : ir::Coeff{end.imm.as<std::int64_t>()};
    shared.push_back({outer, row, count});
  }
  return k;
}

ir::Analysis analyse(const ir::Kernel& k, const std::vector<SharedTiles>& shared) {
  ir::Analysis a = ir::analyse(k);
  for (const SharedTiles& s : shared)
    for (Val v : k.loops[s.row].body) {
      const ir::Inst& i = k.insts[v];
      for (Val o : i.operands)
        if (o != kNone && a.block[o] == s.row && a.varies[o]) a.varies[v] = 1;
      if (i.access >= 0)
        for (const ir::Term& t : k.accesses[i.access].terms)
          if (t.var == k.loops[s.outer].var) a.varies[v] = 1;
    }
  return a;
}

}  // namespace plait::interp
