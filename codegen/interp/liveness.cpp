#include <algorithm>

#include "lower.hpp"

namespace plait::interp {

using ir::kNone;
using ir::Op;
using ir::Val;

template <class F>
void Liveness::each_operand(Val v, F visit) const {
  const ir::Inst& i = k_.insts[v];
  if (i.op != Op::Result)
    for (Val o : i.operands)
      if (o != kNone) visit(o, true);
  ir::for_each_access(k_, i, [&](std::int32_t a) {
    for (const ir::Term& t : k_.accesses[a].terms) visit(t.var, false);
  });
  ir::for_each_value_beside(k_, i, [&](Val o) {
    if (o != kNone) visit(o, true);
  });
  if (opens_loop(i)) {
    const ir::Loop& l = k_.loops[i.index];
    if (l.begin != kNone) visit(l.begin, true);
    visit(l.end, true);
    for (const ir::Reduction& r : l.reductions)
      if (r.init != kNone) visit(r.init, true);
  }
}

void Liveness::count(Val v, std::int32_t user_block, bool as_value) {
  uses_[v] += a_.block[v] == user_block ? 1 : 2;
  value_uses_[v] += as_value;
}

void Liveness::extend(Val v, std::int32_t block, std::int32_t position) {
  while (block != a_.block[v]) {
    position = position_[loop_inst_[block]];
    block = a_.parent[block];
  }
  last_[v] = std::max(last_[v], position);
}

Liveness::Liveness(const ir::Kernel& k, const ir::Analysis& a)
    : k_(k),
      a_(a),
      items_(k.loops.size()),
      fused_(k.insts.size(), kNone),
      position_(k.insts.size(), 0),
      last_(k.insts.size(), 0),
      uses_(k.insts.size(), 0),
      value_uses_(k.insts.size(), 0),
      loop_inst_(k.loops.size(), kNone) {
  for (std::size_t l = 0; l < k.loops.size(); ++l) {
    auto block = static_cast<std::int32_t>(l);
    for (Val v : k.loops[l].body)
      each_operand(v, [&](Val o, bool as_value) { count(o, block, as_value); });
    for (const ir::Reduction& r : k.loops[l].reductions) count(r.value, block, true);
  }
  std::vector<char> moved(k.insts.size(), 0);
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    for (Val v : k.loops[l].body) {
      const ir::Inst& i = k.insts[v];
      if (i.op != Op::Store && i.op != Op::StoreLocal) continue;
      Val value = i.operands[0];
      Op op = k.insts[value].op;
      bool lanes = a.vector_loop[l] >= 0;
      if ((op == Op::Apply || op == Op::Cast) && uses_[value] == 1 &&
          a.varies[value] == static_cast<char>(lanes)) {
        fused_[v] = value;
        moved[value] = 1;
      }
    }
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    for (Val v : k.loops[l].body) {
      if (moved[v]) continue;
      const ir::Inst& i = k.insts[v];
      position_[v] = last_[v] = static_cast<std::int32_t>(items_[l].size());
      items_[l].push_back(v);
      if (opens_loop(i)) loop_inst_[i.index] = v;
    }
  for (std::size_t l = 0; l < k.loops.size(); ++l) {
    auto block = static_cast<std::int32_t>(l);
    for (Val v : items_[l]) {
      auto use = [&](Val o, bool) {
        if (!moved[o]) extend(o, block, position_[v]);
      };
      each_operand(v, use);
      if (fused_[v] != kNone) each_operand(fused_[v], use);
    }
    for (const ir::Reduction& r : k.loops[l].reductions)
      extend(r.value, block, static_cast<std::int32_t>(items_[l].size()));
  }
}

bool Liveness::writes(Val item, bool local, std::int32_t index) const {
  const ir::Inst& i = k_.insts[item];
  if (opens_loop(i)) {
    const auto& body = k_.loops[i.index].body;
    return std::any_of(body.begin(), body.end(), [&](Val v) { return writes(v, local, index); });
  }
  if (i.op == Op::Fragment) return local && k_.fragments[i.index].local == index;
  return i.op == (local ? Op::StoreLocal : Op::Store) && i.index == index;
}

bool Liveness::only_stored(Val load) const {
  const auto& items = items_[a_.block[load]];
  auto at = static_cast<std::size_t>(last_[load]);
  if (uses_[load] != 1 || at >= items.size()) return false;
  const ir::Inst& user = k_.insts[items[at]];
  return (user.op == Op::Store || user.op == Op::StoreLocal) && user.operands[0] == load;
}

bool Liveness::clobbered(Val load) const {
  const ir::Inst& i = k_.insts[load];
  bool local = i.op == Op::LoadLocal;
  if (!local && !k_.buffers[i.index].written) return false;
  const auto& items = items_[a_.block[load]];
  auto end = std::min<std::int32_t>(last_[load], static_cast<std::int32_t>(items.size()) - 1);
  for (std::int32_t at = position_[load] + 1; at <= end; ++at) {
    if (!writes(items[at], local, i.index)) continue;
    // Reading and writing exactly the same elements in one operation is fine.
    const ir::Inst& s = k_.insts[items[at]];
    bool same = at == last_[load] && s.access >= 0;
    if (same) {
      const ir::Access &x = k_.accesses[i.access], &y = k_.accesses[s.access];
      auto equal = [](const ir::Coeff& p, const ir::Coeff& q) {
        return p.param == q.param && (p.param != ir::kNoParam || p.value == q.value);
      };
      same = equal(x.offset, y.offset) &&
             std::equal(x.terms.begin(), x.terms.end(), y.terms.begin(), y.terms.end(),
                        [&](const ir::Term& p, const ir::Term& q) {
                          return p.var == q.var && equal(p.stride, q.stride);
                        });
    }
    if (!same) return true;
  }
  return false;
}

}  // namespace plait::interp
