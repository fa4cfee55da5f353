#include "turns.hpp"

#include <algorithm>

namespace plait::cuda {

void find_turns(const ir::Kernel& k, Nest& n) {
  constexpr std::int64_t kMostBytes = 32 * 1024;
  const std::int32_t last = n.chain.back();
  if (n.chain.size() < 2) return;
  for (const ir::Local& l : k.locals)
    if (l.home == last) return;
  std::vector<char> turned(k.insts.size());
  std::int32_t other = -1;
  for (Val v : k.loops[last].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) return;
    if (i.op != Op::Load || k.buffers[i.index].written) continue;
    const auto item = static_cast<std::int64_t>(itemsize(i.type));
    bool across = false, simple = true;
    std::int32_t along = -1;
    for (const ir::Term& t : k.accesses[i.access].terms) {
      const Inst& var = k.insts[t.var];
      const bool next = t.stride.param == kNoParam && t.stride.value == item;
      if (t.var == k.loops[last].var)
        across = !next && (t.stride.param != kNoParam || t.stride.value != 0);
      else if (var.op == Op::Var && next)
        along = var.index;
      else
        simple &= var.op == Op::Var || var.op == Op::Param || var.op == Op::Const;
    }
    if (!across || !simple || along < 0 || (other >= 0 && along != other)) continue;
    other = along;
    turned[v] = 1;
  }
  if (other < 0) return;
  n.turned = std::move(turned);
  if (turn_bytes(k, n) <= kMostBytes) n.turned_loop = other;
}

std::int64_t turn_count(const ir::Kernel& k, const Nest& n, const Extents& e) {
  std::int64_t count = 1;
  for (std::int32_t l : n.chain) {
    const std::int64_t extent = trips(k, l, e);
    count *= l == n.chain.back() || l == n.turned_loop ? (extent + kTurn - 1) / kTurn : extent;
  }
  return count;
}

std::int64_t turn_bytes(const ir::Kernel& k, const Nest& n) {
  std::int64_t bytes = 0;
  for (std::size_t v = 0; v < k.insts.size(); ++v)
    if (n.turned[v])
      bytes += static_cast<std::int64_t>(itemsize(k.insts[v].type)) * kTurn * (kTurn + 1);
  return bytes;
}

}  // namespace plait::cuda
