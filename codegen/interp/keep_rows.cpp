#include <algorithm>

#include "ir/edit.hpp"
#include "lower.hpp"

namespace plait::interp {
namespace {

using ir::kNone;
using ir::Op;
using ir::Val;

class RowKeeper {
 public:
  RowKeeper(const ir::Kernel& k, std::vector<ir::Local>& rows)
      : k_(k), a_(ir::analyse(k_)), rows_(rows) {}
  ir::Kernel run() {
    const auto count = static_cast<Val>(k_.insts.size());
    for (Val v = 0; v < count; ++v)
      if (k_.insts[v].op == Op::Load && repeated(v)) keep(v);
    return std::move(k_);
  }

 private:
  ir::Kernel k_;
  const ir::Analysis a_;
  std::vector<ir::Local>& rows_;

  // Inside the vector loop only that loop's variable and the innermost loop's address the load, and
  // a loop stands between the two.
  bool repeated(Val v) const {
    const ir::Inst& load = k_.insts[v];
    std::int32_t inner = a_.block[v], vector = a_.vector_loop[inner];
    if (vector < 0 || inner == vector || a_.parent[inner] == vector) return false;
    if (!a_.varies[v] || k_.buffers[load.index].written) return false;
    const ir::Loop& loop = k_.loops[inner];
    Op bound = k_.insts[loop.end].op;
    if (loop.begin != kNone || (bound != Op::Param && bound != Op::Const)) return false;
    bool strided = false;
    for (const ir::Term& t : k_.accesses[load.access].terms) {
      if (t.var == k_.loops[vector].var)
        strided = t.stride.param != ir::kNoParam ||
                  t.stride.value != static_cast<std::int64_t>(itemsize(load.type));
      else if (t.var != loop.var && inside(a_.block[t.var], vector))
        return false;
    }
    return strided;
  }
  bool inside(std::int32_t block, std::int32_t loop) const {
    while (block >= 0 && block != loop) block = a_.parent[block];
    return block == loop;
  }

  void keep(Val v) {
    const std::int32_t inner = a_.block[v], vector = a_.vector_loop[inner];
    const ir::Inst& bound = k_.insts[k_.loops[inner].end];
    const ir::Coeff count =
        bound.op == Op::Param ? ir::Coeff{0, bound.index} : ir::Coeff{bound.imm.as<std::int64_t>()};
    // Everything that addresses the row is defined before the vector loop, so its start will do.
    const std::int32_t local = ir::stage(k_, {.readers = {{inner, v}},
                                              .home = vector,
                                              .count = count,
                                              .before = k_.loops[vector].body[0]});
    rows_.push_back(k_.locals[local]);
  }
};

}  // namespace

ir::Kernel keep_rows(const ir::Kernel& k, std::vector<ir::Local>& rows) {
  return RowKeeper(k, rows).run();
}

}  // namespace plait::interp
