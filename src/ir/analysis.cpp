#include "analysis.hpp"

#include <algorithm>
#include <cstring>

#include "edit.hpp"

namespace plait::ir {
namespace {

class Analyser {
 public:
  explicit Analyser(const Kernel& k) : k_(k) {
    a_.parent.assign(k.loops.size(), -1);
    a_.vector_loop.assign(k.loops.size(), -1);
    a_.block.assign(k.insts.size(), -1);
    a_.varies.assign(k.insts.size(), 0);
  }
  Analysis run() {
    walk(0, -1);
    return std::move(a_);
  }

 private:
  const Kernel& k_;
  Analysis a_;

  void walk(std::int32_t index, std::int32_t parent) {
    const Loop& loop = k_.loops[index];
    a_.parent[index] = parent;
    a_.vector_loop[index] = loop.lanes() ? index : parent >= 0 ? a_.vector_loop[parent] : -1;
    if (loop.var != kNone) {
      a_.block[loop.var] = index;
      a_.varies[loop.var] = loop.lanes();
    }
    for (const std::vector<Val>* block : {&loop.body, &loop.otherwise})
      for (Val v : *block) {
        a_.block[v] = index;
        const Inst& i = k_.insts[v];
        if (opens_loop(i))
          walk(i.index, index);
        else
          a_.varies[v] = a_.vector_loop[index] >= 0 && varies(i, index);
      }
  }
  bool varies(const Inst& i, std::int32_t around) const {
    if (i.op == Op::Running || i.op == Op::Carried)
      return k_.loops[around].lanes() ||
             a_.folds_apart(around, k_.loops[around].reductions[i.index]);
    if (i.op == Op::Result) {
      // The results of a vector Reduce are uniform outside it.
      std::int32_t reduce = k_.insts[i.operands[0]].index;
      return !k_.loops[reduce].lanes() &&
             a_.folds_apart(reduce, k_.loops[reduce].reductions[i.index]);
    }
    if (i.op == Op::LoadLocal && a_.per_lane(k_.locals[i.index])) return true;
    for (Val o : i.operands)
      if (o != kNone && a_.varies[o]) return true;
    if (i.access >= 0)
      for (const Term& t : k_.accesses[i.access].terms)
        if (a_.varies[t.var]) return true;
    return false;
  }
};

}  // namespace

Analysis analyse(const Kernel& k) { return Analyser(k).run(); }

Val running(const Kernel& k, std::int32_t loop, std::size_t fold) {
  for (Val v : k.loops[loop].body)
    if (k.insts[v].op == Op::Running && k.insts[v].index == static_cast<std::int32_t>(fold))
      return v;
  return kNone;
}

bool scans(const Kernel& k, std::int32_t loop) {
  const auto& body = k.loops[loop].body;
  return !k.loops[loop].reductions.empty() &&
         (carries(k, loop) || std::any_of(body.begin(), body.end(),
                                          [&](Val v) { return k.insts[v].op == Op::Running; }));
}

bool carries(const Kernel& k, std::int32_t loop) {
  const auto& folds = k.loops[loop].reductions;
  return std::any_of(folds.begin(), folds.end(),
                     [](const Reduction& r) { return r.kind == ReduceKind::Last; });
}

bool scans_inside(const Kernel& k, std::int32_t loop) {
  const auto& body = k.loops[loop].body;
  return scans(k, loop) || std::any_of(body.begin(), body.end(), [&](Val v) {
           return opens_loop(k.insts[v]) && scans_inside(k, k.insts[v].index);
         });
}

bool over_warps(const Kernel& k, std::int32_t loop) {
  bool any = false;
  if (k.loops[loop].scope == Scope::Block)
    for_each_inst(k, loop, [&](Val v, std::int32_t) {
      any |= opens_loop(k.insts[v]) && k.loops[k.insts[v].index].scope == Scope::Warp;
    });
  return any;
}

bool multiplies(const Kernel& k, std::int32_t loop) {
  return std::any_of(k.loops[loop].body.begin(), k.loops[loop].body.end(), [&](Val v) {
    const Inst& i = k.insts[v];
    return i.op == Op::Fragment || (opens_loop(i) && multiplies(k, i.index));
  });
}

namespace {

bool is_computed(const Inst& i) {
  return i.op == Op::Apply || i.op == Op::Cast || i.op == Op::Load || i.op == Op::LoadLocal ||
         i.op == Op::Gather || is_number(i);
}

}  // namespace

std::int32_t row_loop(const Kernel& k, std::int32_t loop) {
  const Loop& outer = k.loops[loop];
  if (!outer.reductions.empty() || outer.body.empty()) return -1;
  const Inst& last = k.insts[outer.body.back()];
  if (last.op != Op::For) return -1;
  const Loop& row = k.loops[last.index];
  if (row.begin != kNone || !is_number(k.insts[row.end])) return -1;
  for (const Local& l : k.locals)
    if (l.home == loop || l.home == last.index) return -1;
  const auto in_both = [&](auto&& holds) {
    return std::all_of(outer.body.begin(), outer.body.end() - 1, holds) &&
           std::all_of(row.body.begin(), row.body.end(), holds);
  };
  const auto defined_here = [&](Val v) {
    return !in_both([&](Val here) { return here != v || is_number(k.insts[here]); });
  };
  const auto addresses_alone = [&](Val v) {
    const Inst& i = k.insts[v];
    for (Val o : i.operands)
      if (o != kNone && (o == outer.var || o == row.var)) return false;
    if (i.access < 0) return true;
    const auto& terms = k.accesses[i.access].terms;
    return std::none_of(terms.begin(), terms.end(),
                        [&](const Term& t) { return defined_here(t.var); });
  };
  // Each iteration writes elements of its own, and finds nothing that another one left.
  const auto is_own = [&](Val v) {
    const Inst& i = k.insts[v];
    if (i.op != Op::Store && i.op != Op::StoreLocal) return true;
    const auto& terms = k.accesses[i.access].terms;
    if (std::none_of(terms.begin(), terms.end(), [&](const Term& t) { return t.var == outer.var; }))
      return false;
    return i.op == Op::Store || in_both([&](Val o) {
             const Inst& other = k.insts[o];
             return other.op != Op::LoadLocal || other.index != i.index ||
                    same(k.accesses[other.access], k.accesses[i.access]);
           });
  };
  const bool apart = std::all_of(outer.body.begin(), outer.body.end() - 1,
                                 [&](Val v) { return is_computed(k.insts[v]); }) &&
                     std::none_of(row.body.begin(), row.body.end(), [&](Val v) {
                       return opens_loop(k.insts[v]) || k.insts[v].op == Op::Fragment;
                     });
  return apart && in_both(addresses_alone) && in_both(is_own) ? last.index : -1;
}

std::optional<bool> deciding_value(const Kernel& k, std::int32_t loop) {
  const Loop& l = k.loops[loop];
  if (l.reductions.size() != 1 || k.insts[l.reductions[0].value].type != DType::Bool)
    return std::nullopt;
  const bool in_memory = std::all_of(l.body.begin(), l.body.end(), [&](Val v) {
    const Inst& i = k.insts[v];
    return i.op == Op::Load || i.op == Op::Const || i.op == Op::Param || i.op == Op::Arg ||
           (i.op == Op::Cast && i.type == DType::Bool);
  });
  if (!in_memory) return std::nullopt;
  const int decided = reduce_info(l.reductions[0].kind).decided;
  return decided < 0 ? std::nullopt : std::optional(decided == 1);
}

namespace {

bool applies(const Kernel& k, Val v, OpId fn) {
  return k.insts[v].op == Op::Apply && k.insts[v].fn == fn;
}
bool is_constant(const Kernel& k, Val v, std::int64_t n) {
  const Inst& i = k.insts[v];
  if (i.op != Op::Const || is_float(i.type) || is_complex(i.type)) return false;
  std::int64_t bits = 0;
  std::memcpy(&bits, i.imm.bytes, itemsize(i.type));
  return bits == n;
}
// x of x & (x - 1), kNone of others.
Val without_a_bit(const Kernel& k, Val v) {
  if (!applies(k, v, OpId::BitwiseAnd)) return kNone;
  const Val x = k.insts[v].operands[0], less = k.insts[v].operands[1];
  return applies(k, less, OpId::Subtract) && k.insts[less].operands[0] == x &&
                 is_constant(k, k.insts[less].operands[1], 1)
             ? x
             : kNone;
}

}  // namespace

bool loses_bits(const Kernel& k, std::int32_t loop) {
  const Loop& l = k.loops[static_cast<std::size_t>(loop)];
  if (l.kind != LoopKind::Repeat) return false;
  Val left_at_zero = kNone, x = kNone;
  std::int32_t local = -1;
  for (Val v : l.body) {
    const Inst& i = k.insts[v];
    if (i.op == Op::Break && i.index == loop && left_at_zero == kNone) {
      const Val condition = i.operands[0];
      if (condition == kNone || !applies(k, condition, OpId::LogicalNot)) continue;
      const Val test = k.insts[condition].operands[0];
      if (applies(k, test, OpId::NotEqual) && is_constant(k, k.insts[test].operands[1], 0))
        left_at_zero = k.insts[test].operands[0];
    } else if (i.op == Op::StoreLocal && x == kNone) {
      x = without_a_bit(k, i.operands[0]);
      local = i.index;
    }
  }
  if (x == kNone || x != left_at_zero || k.insts[x].op != Op::LoadLocal ||
      k.insts[x].index != local)
    return false;
  int stores = 0, loads = 0;
  for_each_inst(k, loop, [&](Val v, std::int32_t) {
    const Inst& i = k.insts[v];
    stores += i.op == Op::StoreLocal && i.index == local;
    loads += v == x;
  });
  return stores == 1 && loads == 1;
}

}  // namespace plait::ir
