#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "rule.hpp"
#include "tiles.hpp"

namespace plait::mapping {

namespace {

template <class F>
void each_inst(const ir::Kernel& k, std::int32_t loop, F&& f) {
  for (Val v : k.loops[loop].body) {
    f(k.insts[v], loop);
    if (opens_loop(k.insts[v])) each_inst(k, k.insts[v].index, f);
  }
}

// Loops right under `loop`.
template <class F>
void each_loop(const ir::Kernel& k, std::int32_t loop, F&& f) {
  for (Val v : k.loops[loop].body)
    if (opens_loop(k.insts[v])) f(k.insts[v].index);
}

// Whether every store under `loop` goes to a place of its own for each iteration of it.
bool stores_apart(const ir::Kernel& k, std::int32_t loop) {
  bool apart = true;
  each_inst(k, loop, [&](const Inst& i, std::int32_t) {
    if (i.op != Op::Store && i.op != Op::StoreLocal && i.op != Op::Scatter) return;
    if (i.op == Op::StoreLocal) {
      // A local that lives inside the loop is each iteration's own.
      std::int32_t home = k.locals[i.index].home;
      bool inside = home == loop;
      each_inst(k, loop,
                [&](const Inst& l, std::int32_t) { inside |= opens_loop(l) && l.index == home; });
      if (inside) return;
    }
    const auto& terms = k.accesses[i.access].terms;
    apart &= std::any_of(terms.begin(), terms.end(), [&](const ir::Term& t) {
      return t.var == k.loops[loop].var && (t.stride.param != kNoParam || t.stride.value != 0);
    });
  });
  return apart;
}

// The loop that a flattened chain goes on with below `loop`; -1 when it ends here. What stands
// beside that loop is computed again for each of its iterations, so it has to be cheap.
std::int32_t next_in_chain(const ir::Kernel& k, std::int32_t loop) {
  std::int32_t child = -1;
  for (const ir::Local& l : k.locals)
    if (l.home == loop) return -1;
  for (Val v : k.loops[loop].body) {
    const Inst& i = k.insts[v];
    if (opens_loop(i)) {
      if (child >= 0 || i.op == Op::Reduce) return -1;
      child = i.index;
    } else if (i.op == Op::Store || i.op == Op::StoreLocal || i.op == Op::Fragment ||
               i.op == Op::Scatter || (i.op == Op::Load && k.buffers[i.index].written) ||
               (i.op == Op::Apply && op_info(i.fn).cost == Cost::Expensive)) {
      return -1;
    }
  }
  if (child < 0 || ir::multiplies(k, child)) return -1;
  const ir::Loop& c = k.loops[child];
  return c.begin == kNone && (c.end == kNone || known(k, c.end)) && stores_apart(k, child) ? child
                                                                                           : -1;
}

}  // namespace

std::int64_t trips(const ir::Kernel& k, std::int32_t loop, const Extents& e) {
  if (loop == 0) return e.grid;
  const ir::Loop& l = k.loops[loop];
  if ((l.begin != kNone && !known(k, l.begin)) || !known(k, l.end)) return -1;
  const std::int64_t begin = l.begin == kNone ? 0 : value_of(k, l.begin, e.params);
  return std::max<std::int64_t>(0, value_of(k, l.end, e.params) - begin);
}

namespace {

// The margin below 2^31 is the stride of a grid.
constexpr std::int64_t kIndexLimit = (std::int64_t{1} << 31) - (std::int64_t{1} << 21);

// Whether both name a place in the same row: they differ at most in what moves with loops in
// `loop`.
bool same_row(const ir::Kernel& k, std::int32_t loop, const ir::Access& a, const ir::Access& b) {
  std::vector<Val> inner;
  each_inst(k, loop, [&](const Inst& i, std::int32_t) {
    if (opens_loop(i)) inner.push_back(k.loops[i.index].var);
  });
  const auto without = [&](ir::Access of) {
    std::erase_if(of.terms, [&](const ir::Term& t) {
      return std::find(inner.begin(), inner.end(), t.var) != inner.end();
    });
    return of;
  };
  const ir::Access row = without(a);
  return ir::same(row, without(b)) && std::any_of(row.terms.begin(), row.terms.end(), [&](auto& t) {
           return t.var == k.loops[loop].var;
         });
}
// Whether the two are so far apart that no iteration of the loop reaches where another one starts.
bool lies_beyond(const ir::Kernel& k, std::int32_t loop, const ir::Access& a, ir::Access b) {
  const ir::Loop& l = k.loops[loop];
  if (!known(k, l.end) || k.insts[l.end].op != Op::Const || l.begin != kNone ||
      a.offset.param != kNoParam || b.offset.param != kNoParam)
    return false;
  const std::int64_t apart = std::abs(a.offset.value - b.offset.value);
  b.offset = a.offset;
  return ir::same(a, b) && a.terms.size() == 1 && a.terms[0].var == l.var &&
         a.terms[0].stride.param == kNoParam &&
         std::abs(a.terms[0].stride.value) * value_of(k, l.end, nullptr) <= apart;
}
// Whether an iteration may read what another one of the same loop writes to a local. `by_rows`:
// iterations have rows of their own, whatever loops inside do there.
bool leaves_in_locals(const ir::Kernel& k, std::int32_t loop, bool by_rows) {
  bool any = false;
  each_inst(k, loop, [&](const Inst& store, std::int32_t) {
    if (store.op != Op::StoreLocal) return;
    each_inst(k, loop, [&](const Inst& load, std::int32_t) {
      any |= load.op == Op::LoadLocal && load.index == store.index &&
             !ir::same(k.accesses[load.access], k.accesses[store.access]) &&
             !lies_beyond(k, loop, k.accesses[load.access], k.accesses[store.access]) &&
             !(by_rows && same_row(k, loop, k.accesses[load.access], k.accesses[store.access]));
    });
  });
  return any;
}
// Whether threads may take the iterations of this loop side by side: no order shows and nothing is
// stored twice to one place.
bool can_share(const ir::Kernel& k, std::int32_t loop, bool by_rows = false) {
  // A team scans together, but nothing that stands around a scan is shared.
  bool scans = ir::carries(k, loop);
  each_loop(k, loop, [&](std::int32_t l) { scans |= ir::scans_inside(k, l); });
  if (scans) return false;
  bool complex = false, real = false;
  for (const ir::Reduction& r : k.loops[loop].reductions) {
    const DType t = k.insts[r.value].type;
    if (reduce_info(r.kind).has(kOrderShows) && inexact(t) && !is_tree(k, r) &&
        r.order != ir::Order::Grouped)
      return false;
    if (is_tree(k, r)) (is_complex(t) ? complex : real) = true;
  }
  // Sums of both kinds have trees of two shapes.
  return !(complex && real) && stores_apart(k, loop) && !leaves_in_locals(k, loop, by_rows);
}

void mark_in_thread(const ir::Kernel& k, NestFacts& n, std::int32_t loop) {
  n.in_thread[loop] = 1;
  each_loop(k, loop, [&](std::int32_t l) { mark_in_thread(k, n, l); });
}

void share(const ir::Kernel& k, NestFacts& n, std::int32_t loop) {
  n.shared[loop] = 1;
  mark_in_thread(k, n, loop);
}

// Marks the loops under `loop` that a team shares: a loop that no loop stands in or only short
// ones, and else one that leaves nothing to share below it. Returns whether there are any.
bool mark_shared(const ir::Kernel& k, NestFacts& n, std::int32_t loop) {
  constexpr std::int64_t kShort = 16;
  bool any = false;
  each_loop(k, loop, [&](std::int32_t l) {
    bool brief = true;
    each_inst(k, l, [&](const Inst& i, std::int32_t) {
      if (!opens_loop(i)) return;
      const Inst& end = k.insts[k.loops[i.index].end];
      brief &= end.op == Op::Const && end.imm.as<std::int64_t>() <= kShort;
    });
    if (!(brief && can_share(k, l)) && mark_shared(k, n, l)) {
      any = true;
    } else if (can_share(k, l)) {
      any = true;
      share(k, n, l);
    }
  });
  return any;
}

bool has_locals(const ir::Kernel& k, std::int32_t loop) {
  const auto under = loops_under(k, loop);
  return std::any_of(k.locals.begin(), k.locals.end(),
                     [&](const ir::Local& l) { return under[l.home] != 0; });
}

// Whether all lanes of a warp may fold the same values, and warps what they have.
bool folds_again(const ir::Kernel& k, std::int32_t loop) {
  const auto& folds = k.loops[loop].reductions;
  return std::none_of(folds.begin(), folds.end(),
                      [](const ir::Reduction& r) { return reduce_info(r.kind).has(kRepeatsShow); });
}

// Of loops that warps take: the innermost ones that lanes can share.
bool mark_lanes(const ir::Kernel& k, NestFacts& n, std::int32_t loop) {
  bool any = false;
  each_loop(k, loop, [&](std::int32_t l) {
    if (mark_lanes(k, n, l)) {
      any = true;
    } else if (can_share(k, l)) {
      any = true;
      share(k, n, l);
    }
  });
  return any;
}

// The loops that threads of a block share, which all run what is around them: those over rows go to
// warps, whose lanes share loops inside, and others to all threads.
void mark_phases(const ir::Kernel& k, NestFacts& n, std::int32_t loop) {
  each_loop(k, loop, [&](std::int32_t l) {
    if (ir::multiplies(k, l) || !can_share(k, l, true)) return mark_phases(k, n, l);
    const bool rows = !has_locals(k, l) && folds_again(k, l) && mark_lanes(k, n, l);
    if (rows)
      n.over_warps[l] = 1;
    else if (can_share(k, l))
      share(k, n, l);
    else
      mark_phases(k, n, l);
  });
}

}  // namespace

NestFacts analyse_nest(const ir::Kernel& k) {
  NestFacts n;
  for (std::int32_t l = 0; l >= 0; l = next_in_chain(k, l)) n.chain.push_back(l);
  const std::int32_t last = n.chain.back();
  n.shared.resize(k.loops.size());
  n.in_thread.resize(k.loops.size());
  n.over_warps.resize(k.loops.size());
  n.multiplies = ir::multiplies(k, 0);
  for (const ir::Loop& l : k.loops)
    for (const ir::Reduction& r : l.reductions) n.grouped |= r.order == ir::Order::Grouped;
  if (n.multiplies)
    mark_phases(k, n, last);
  else
    n.shareable = mark_shared(k, n, last);
  each_inst(k, last, [&](const Inst& i, std::int32_t at) {
    n.nested_below |= opens_loop(i) && at != last;
    // All threads of a team would write the local, some after others have read it.
    if (i.op == Op::StoreLocal && !n.in_thread[at]) n.shareable = false;
    n.scans |= i.op == Op::Running && n.shared[at];
    // No extent bounds an index.
    n.computed_index |= i.op == Op::Gather || i.op == Op::Scatter;
    // One thread scatters in order.
    n.shareable &= i.op != Op::Scatter;
  });
  const auto in_chain = [&](std::int32_t l) {
    return std::find(n.chain.begin(), n.chain.end(), l) != n.chain.end();
  };
  each_inst(k, 0, [&](const Inst& i, std::int32_t at) {
    if (i.access < 0) return;
    bool moves_above = i.op == Op::LoadLocal || i.op == Op::StoreLocal, moves_below = false;
    for (const ir::Term& t : k.accesses[i.access].terms) {
      const Inst& var = k.insts[t.var];
      if (var.op == Op::Var) {
        (in_chain(var.index) ? moves_above : moves_below) = true;
        moves_above |= k.loops[var.index].begin != kNone;  // a chunk of a long row
      }
      if ((i.op != Op::Load && i.op != Op::Store) || in_chain(at)) continue;
      if (var.op != Op::Var || t.stride.param != kNoParam ||
          std::abs(t.stride.value) != static_cast<std::int64_t>(itemsize(i.type)))
        continue;
      ++(in_chain(var.index) ? n.along_chain : n.along_inner);
    }
    n.own_rows |= moves_above && moves_below;
  });
  mark_all(k, n);
  return n;
}

std::int64_t iterations(const ir::Kernel& k, const NestFacts& n, const Extents& e) {
  std::int64_t total = 1;
  for (std::int32_t l : n.chain) total *= std::max<std::int64_t>(0, trips(k, l, e));
  return total;
}

namespace {

// What extents bound.
class Reach {
 public:
  Reach(const ir::Kernel& k, const Extents& e) : k_(k), e_(e) {}
  // What the loop's variable stays below; infinite when nothing bounds it. The bounds of a chunked
  // region's chunks are read from memory, and lie within the axis that is cut.
  double loop(std::int32_t l) const {
    if (l == 0) return static_cast<double>(e_.grid);
    const Val begin = k_.loops[l].begin, end = k_.loops[l].end;
    if (!known(k_, end) && e_.split > 0) return static_cast<double>(e_.split);
    const double last = value(end);
    return begin != kNone && known(k_, begin) ? std::max(last, value(begin)) : last;
  }
  // No integer is further from zero.
  double value(Val v) const {
    const Inst& i = k_.insts[v];
    if (known(k_, v)) return std::abs(static_cast<double>(value_of(k_, v, e_.params)));
    if (i.op == Op::Var) return loop(i.index);
    if (i.op != Op::Apply) return std::numeric_limits<double>::infinity();
    switch (i.fn) {
      case OpId::Subtract:
        if (const double length = of_block(i); length >= 0) return length;
        [[fallthrough]];
      case OpId::Add:
        return value(i.operands[0]) + value(i.operands[1]);
      case OpId::Multiply:
        return value(i.operands[0]) * value(i.operands[1]);
      case OpId::Minimum:
      case OpId::Maximum:
        return std::max(value(i.operands[0]), value(i.operands[1]));
      case OpId::Where:
        return std::max(value(i.operands[1]), value(i.operands[2]));
      case OpId::FloorDivide:
        return value(i.operands[0]) /
               (known(k_, i.operands[1]) ? std::max(1.0, value(i.operands[1])) : 1);
      case OpId::Remainder:
        return value(i.operands[1]);
      default:
        return std::numeric_limits<double>::infinity();
    }
  }

 private:
  const ir::Kernel& k_;
  const Extents& e_;

  // From the beginning of a block to its end or to another one before that; -1 for anything else.
  double of_block(const Inst& i) const {
    const Inst& end = k_.insts[i.operands[0]];
    if (end.op != Op::Apply || end.fn != OpId::Minimum) return -1;
    const Inst& whole = k_.insts[end.operands[0]];
    return whole.op == Op::Apply && whole.fn == OpId::Add && whole.operands[0] == i.operands[1]
               ? value(whole.operands[1])
               : -1;
  }
};

}  // namespace

int largest_tile(const ir::Kernel& k, const Extents& e) {
  const Reach reach(k, e);
  int largest = 16;
  for (const Inst& i : k.insts) {
    if (i.op != Op::Fragment) continue;
    const double elements = reach.value(i.operands[0]) * reach.value(i.operands[1]);
    while (largest < 64 && elements > largest * kBlockThreads) largest *= 2;
  }
  return largest;
}

bool needs_wide(const ir::Kernel& k, const NestFacts& n, const Extents& e) {
  if (n.computed_index || e.split >= kIndexLimit) return true;
  double total = 1;
  for (std::int32_t l : n.chain)
    total *= static_cast<double>(std::max<std::int64_t>(1, trips(k, l, e)));
  if (total >= static_cast<double>(kIndexLimit)) return true;
  const Reach reach(k, e);
  for (std::size_t l = 0; l < k.loops.size(); ++l)
    if (!(reach.loop(static_cast<std::int32_t>(l)) < static_cast<double>(kIndexLimit))) return true;
  for (const Inst& i : k.insts) {
    if (i.access < 0) continue;
    const ir::Access& a = k.accesses[i.access];
    auto coeff = [&](const ir::Coeff& c) {
      return std::abs(static_cast<double>(c.param == kNoParam ? c.value : e.params[c.param]));
    };
    double most = coeff(a.offset);
    for (const ir::Term& t : a.terms)
      if (const double stride = coeff(t.stride); stride > 0) most += reach.value(t.var) * stride;
    if (most >= static_cast<double>(kIndexLimit)) return true;
  }
  return false;
}

}  // namespace plait::mapping
