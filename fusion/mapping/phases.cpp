#include "phases.hpp"

#include <algorithm>

namespace plait::mapping {

namespace {

void add(std::vector<bool>& to, const std::vector<bool>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to[i] || from[i];
}
bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (a[i] && b[i]) return true;
  return false;
}

}  // namespace

Touched& Touched::operator+=(const Touched& o) {
  add(reads, o.reads);
  add(writes, o.writes);
  return *this;
}
bool Touched::conflicts(const Touched& o) const {
  return meet(writes, o.writes) || meet(writes, o.reads) || meet(reads, o.writes);
}

Touched touched(const ir::Kernel& k, const NestFacts& n, Val v) {
  const Inst& i = k.insts[v];
  const std::size_t locals = k.locals.size(), exchange = locals + k.buffers.size();
  Touched t{std::vector<bool>(exchange + 1), std::vector<bool>(exchange + 1)};
  switch (i.op) {
    case Op::LoadLocal:
      t.reads[i.index] = true;
      break;
    case Op::StoreLocal:
      t.writes[i.index] = true;
      break;
    // What is only written, or only read, nobody waits for.
    case Op::Load:
    case Op::Gather:
      t.reads[locals + i.index] = k.buffers[i.index].written;
      break;
    case Op::Store:
    case Op::Scatter:
      t.writes[locals + i.index] =
          i.op == Op::Scatter || std::any_of(k.insts.begin(), k.insts.end(), [&](const Inst& o) {
            return o.op == Op::Load && o.index == i.index;
          });
      break;
    case Op::Fragment: {
      const ir::Fragment& p = k.fragments[i.index];
      t.reads[p.a.local] = t.reads[p.b.local] = t.writes[p.local] = true;
      break;
    }
    case Op::Reduce:
      t.writes[exchange] = n.shared[i.index] != 0 || n.over_warps[i.index] != 0;
      return t += touched(k, n, i.index);
    case Op::For:
      return touched(k, n, i.index);
    default:
      break;
  }
  return t;
}

Touched touched(const ir::Kernel& k, const NestFacts& n, std::int32_t loop) {
  Touched t;
  for (Val v : k.loops[loop].body) t += touched(k, n, v);
  return t;
}

bool Phases::follow(const Touched& next) {
  const bool waits = since_.conflicts(next);
  if (waits) since_ = {};
  since_ += next;
  return waits;
}

}  // namespace plait::mapping
