#include "loop_facts.hpp"

#include <algorithm>

#include "ir/analysis.hpp"

namespace plait::fusion {
using namespace ir;

double LoopFacts::trips(std::int32_t l) const {
  const auto grid = static_cast<double>(concrete(in_, lk_.grid_extent));
  if (k_.loops[l].begin != kNone && lk_.scatters) return std::max(1.0, grid / 64);
  if (k_.loops[l].begin != kNone && !lk_.partials.empty()) {
    const PlanNode& root = in_.graph[lk_.partials[0].root];
    const double elements = in_.graph[root.in[0]].node->elements.cost();
    const double few = lk_.pairwise_chunks ? grid : kChunkElements * grid / std::max(1.0, elements);
    return std::max(1.0, std::min(grid / 64, few));
  }
  if (l != 0) return std::max(1.0, static_cast<double>(concrete(in_, lk_.extents[l])));
  return lk_.partials.empty() ? std::max(1.0, grid) : 64;
}

std::int64_t LoopFacts::value(const Coeff& c) const {
  return c.param == kNoParam ? c.value : concrete(in_, lk_.params[c.param]);
}

std::int64_t LoopFacts::stride(const Inst& access, std::int32_t l) const {
  for (const Term& t : k_.accesses[access.access].terms)
    if (t.var == k_.loops[l].var) return value(t.stride);
  return 0;
}

bool LoopFacts::depends(const Inst& access, std::int32_t l) const {
  const auto& terms = k_.accesses[access.access].terms;
  return std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return follows(t.var, l); });
}

bool LoopFacts::index_moves(const Inst& gather, std::int32_t l) const {
  bool moves = gather.operands[0] == k_.loops[l].var;
  for_each_inst(k_, l, [&](Val v, std::int32_t) { moves |= v == gather.operands[0]; });
  return moves;
}

std::int32_t LoopFacts::parent(std::int32_t l) const {
  for (std::size_t p = 0; p < k_.loops.size(); ++p)
    for (Val v : k_.loops[p].body)
      if (opens_loop(k_.insts[v]) && k_.insts[v].index == l) return static_cast<std::int32_t>(p);
  return 0;
}

// Scans in a loop inside, and what they have scanned so far in a local of this loop or one around.
bool LoopFacts::keeps_windows(std::int32_t l) const {
  if (k_.locals.empty() || !ir::scans_inside(k_, l) || ir::scans(k_, l)) return false;
  bool keeps = false;
  for_each_inst(k_, l, [&](Val v, std::int32_t at) {
    keeps |= k_.insts[v].op == Op::StoreLocal && ir::scans(k_, at);
  });
  return keeps;
}

// Whether the number follows from the loop's variable.
bool LoopFacts::follows(Val v, std::int32_t l) const {
  if (v == kNone) return false;
  const Inst& i = k_.insts[v];
  if (i.op == Op::Var) return i.index == l;
  bool loaded = false;
  ir::for_each_access(k_, i, [&](std::int32_t access) {
    for (const Term& t : k_.accesses[access].terms) loaded |= follows(t.var, l);
  });
  return loaded || std::any_of(std::begin(i.operands), std::end(i.operands),
                               [&](Val o) { return follows(o, l); });
}

bool LoopFacts::may_be_lanes(std::int32_t l) const {
  if ((l == 0 && !lk_.partials.empty()) || ir::multiplies(k_, l)) return false;
  if (ir::carries(k_, l)) return false;
  if (keeps_windows(l)) return false;
  // Lanes go through a loop inside together.
  bool together = true;
  for_each_loop(l, [&](std::int32_t c) {
    if (c != l) together &= !follows(k_.loops[c].begin, l) && !follows(k_.loops[c].end, l);
  });
  if (!together) return false;
  // What an iteration leaves where the next one finds it.
  const auto carries = [&](const Inst& i) {
    if (i.op != Op::StoreLocal || stride(i, l) != 0) return false;
    bool own = k_.locals[i.index].home == l;
    for_each_loop(l, [&](std::int32_t c) { own |= k_.locals[i.index].home == c; });
    return !own;
  };
  bool apart = true;
  for_each_inst(k_, l, [&](Val v, std::int32_t at) {
    const Inst& i = k_.insts[v];
    if (i.op == Op::Store) apart &= stride(i, l) != 0;
    // An address is the same for all lanes, or steps with the loop itself.
    ir::for_each_access(k_, i, [&](std::int32_t access) {
      for (const Term& t : k_.accesses[access].terms)
        apart &= t.var == k_.loops[l].var || !follows(t.var, l);
    });
    // Lanes scatter in order, all of an iteration of a loop inside before its next one.
    for (std::int32_t inside = at; i.op == Op::Scatter && inside != l; inside = parent(inside))
      apart &= depends(i, inside);
    apart &= !carries(i);
  });
  return apart;
}

}  // namespace plait::fusion
