#include "intervals.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "checks.hpp"
#include "edit.hpp"

namespace plait::ir {
namespace {

// What integers of fewer than 64 bits lie between.
std::optional<std::pair<std::int64_t, std::int64_t>> limits_of(DType t) {
  switch (t) {
    case DType::Bool:
      return std::pair{0, 1};
    case DType::Int8:
      return std::pair{-128, 127};
    case DType::UInt8:
      return std::pair{0, 255};
    case DType::Int16:
      return std::pair{-32768, 32767};
    case DType::UInt16:
      return std::pair{0, 65535};
    case DType::Int32:
      return std::pair<std::int64_t, std::int64_t>{std::numeric_limits<std::int32_t>::min(),
                                                   std::numeric_limits<std::int32_t>::max()};
    case DType::UInt32:
      return std::pair<std::int64_t, std::int64_t>{0, std::numeric_limits<std::uint32_t>::max()};
    default:
      return std::nullopt;
  }
}

bool has_parts(OpId fn) {
  return fn == OpId::Add || fn == OpId::Subtract || fn == OpId::Multiply || fn == OpId::Minimum ||
         fn == OpId::Maximum;
}
bool compares(OpId fn) {
  return fn == OpId::Less || fn == OpId::LessEqual || fn == OpId::Greater ||
         fn == OpId::GreaterEqual || fn == OpId::Equal;
}

// Not work memory.
bool is_variable(const Kernel& k, const Inst& load) {
  return ir::is_variable(k.locals[static_cast<std::size_t>(load.index)]);
}

std::optional<std::int64_t> constant_of(const Kernel& k, Val v) {
  const Inst& i = k.insts[v];
  if (i.op != Op::Const || i.type != DType::Int64) return std::nullopt;
  return i.imm.as<std::int64_t>();
}

// Of a counter from `begin` up to `end`, or down to it, which it does not reach: begin + number * 1
// or -1, as Python's ranges are written.
struct Counter {
  Val begin, end;
  bool down;
};
std::optional<Counter> counter_of(const Kernel& k, Val v) {
  if (!is(k, v, OpId::Add)) return std::nullopt;
  const auto [begin, steps, none] = k.insts[v].operands;
  if (!is(k, steps, OpId::Multiply) || k.insts[k.insts[steps].operands[0]].op != Op::Var)
    return std::nullopt;
  const auto step = constant_of(k, k.insts[steps].operands[1]);
  if (!step || (*step != 1 && *step != -1)) return std::nullopt;
  const Inst& number = k.insts[k.insts[steps].operands[0]];
  const Loop& l = k.loops[static_cast<std::size_t>(number.index)];
  if (l.begin != kNone && constant_of(k, l.begin) != 0) return std::nullopt;
  if (!is(k, l.end, OpId::Maximum) || constant_of(k, k.insts[l.end].operands[1]) != 0)
    return std::nullopt;
  const Val width = k.insts[l.end].operands[0];
  if (!is(k, width, OpId::Subtract)) return std::nullopt;
  const bool down = *step < 0;
  const Val from = k.insts[width].operands[down ? 0 : 1], to = k.insts[width].operands[down];
  return from == begin ? std::optional(Counter{begin, to, down}) : std::nullopt;
}

}  // namespace

Intervals::Intervals(const Kernel& k, std::int32_t loop, Builder& out,
                     std::function<Val(Val)> mapped)
    : k_(k), loop_(loop), out_(out), mapped_(std::move(mapped)), inside_(k.insts.size()) {
  inside_[k.loops[static_cast<std::size_t>(loop)].var] = true;
  for_each_inst(k, loop, [&](Val v, std::int32_t) {
    const Inst& i = k.insts[v];
    inside_[v] = true;
    if (opens_loop(i)) inside_[k.loops[static_cast<std::size_t>(i.index)].var] = true;
    if (i.op == Op::StoreLocal) stores_[i.index].push_back(i.operands[0]);
  });
}

// The same in every iteration, and computed of nothing but such.
bool Intervals::same(Val v) {
  if (!inside_[v]) return true;
  const auto at = same_.find(v);
  if (at != same_.end()) return at->second;
  const Inst& i = k_.insts[v];
  bool is_same = i.op == Op::Const;
  if (i.op == Op::LoadLocal) is_same = is_variable(k_, i) && !stores_.contains(i.index);
  if (i.op == Op::Apply || i.op == Op::Cast || i.op == Op::Overflows)
    is_same = std::all_of(std::begin(i.operands), std::end(i.operands),
                          [&](Val o) { return o == kNone || same(o); });
  return same_[v] = is_same;
}

bool Intervals::known(Val v) {
  if (k_.insts[v].type != DType::Int64) return false;
  const auto [at, fresh] = known_.try_emplace(v, false);  // false of what comes back to itself
  if (!fresh) return at->second;
  const bool found = find(v);
  return known_[v] = found;
}

bool Intervals::find(Val v) {
  if (same(v)) return true;
  const Inst& i = k_.insts[v];
  const auto& o = i.operands;
  switch (i.op) {
    case Op::Var: {
      const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
      return (l.begin == kNone || known(l.begin)) && known(l.end);
    }
    case Op::Cast:
      return limits_of(k_.insts[o[0]].type).has_value();
    case Op::LoadLocal: {
      if (!is_variable(k_, i)) return false;
      const auto& all = stores_.at(i.index);
      return std::all_of(all.begin(), all.end(), [&](Val s) { return known(s); });
    }
    case Op::Apply:
      if (has_parts(i.fn)) return known(o[0]) && known(o[1]);
      if (i.fn == OpId::Where) return known(o[1]) && known(o[2]);
      if (i.fn == OpId::Remainder) return known(o[1]);
      if (i.fn == OpId::BitwiseAnd) {
        const auto mask = constant_of(k_, o[1]);
        return mask && *mask >= 0;
      }
      if (i.fn == OpId::RightShift) {
        const auto by = constant_of(k_, o[1]);
        return by && *by >= 0 && *by < 64 && known(o[0]);
      }
      return false;
    default:
      return false;
  }
}

bool Intervals::decides(Val v) {
  if (!inside_[v] || same(v)) return inside_[v];
  if (const auto c = index_check(k_, v)) return known(c->i) && known(c->extent);
  const Inst& i = k_.insts[v];
  if (i.op == Op::Overflows) return known(i.operands[0]) && known(i.operands[1]);
  if (is(k_, v, OpId::LogicalAnd)) return decides(i.operands[0]) || decides(i.operands[1]);
  return i.op == Op::Apply && compares(i.fn) && known(i.operands[0]) && known(i.operands[1]);
}

bool Intervals::begins_negative(Val v) const {
  const Inst& i = k_.insts[v];
  const auto constant_part = [&](Val o) { return constant_of(k_, o); };
  std::int64_t moved = 0;
  Val at = v;
  if (i.op == Op::Apply && (i.fn == OpId::Add || i.fn == OpId::Subtract)) {
    if (const auto by = constant_part(i.operands[1])) {
      if (*by == std::numeric_limits<std::int64_t>::min()) return false;
      moved = i.fn == OpId::Add ? *by : -*by;
      at = i.operands[0];
    } else if (i.fn == OpId::Subtract && k_.insts[i.operands[1]].op == Op::Cast) {
      moved = -1;
      at = i.operands[0];
    }
  }
  // A counter that is written as begin + number * step.
  while (true) {
    const Inst& a = k_.insts[at];
    if (a.op == Op::Var) {
      const Val begin = k_.loops[static_cast<std::size_t>(a.index)].begin;
      const auto first = begin == kNone ? std::optional<std::int64_t>{0} : constant_part(begin);
      return first && *first < 64 && *first + moved < 0;
    }
    if (a.op != Op::Apply) return false;
    const auto by = constant_part(a.operands[1]), from = constant_part(a.operands[0]);
    if (a.fn == OpId::Multiply && by && *by == 1)
      at = a.operands[0];
    else if (a.fn == OpId::Add && from && *from >= 0 && *from < 64)
      moved += *from, at = a.operands[1];
    else
      return false;
  }
}

Val Intervals::number(std::int64_t n) {
  return out_.number({.op = Op::Const, .imm = Scalar::of(DType::Int64, n)});
}
Val Intervals::either(Val a, Val b) {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return apply(OpId::LogicalOr, DType::Bool, a, b);
}
Val Intervals::overflows(OpId fn, Val a, Val b) {
  return out_.push({.op = Op::Overflows, .type = DType::Bool, .fn = fn, .operands = {a, b, kNone}});
}
Val Intervals::exact(OpId fn, Val a, Val b) {
  fails_ = either(fails_, overflows(fn, a, b));
  return apply(fn, DType::Int64, a, b);
}

Val Intervals::emit_same(Val v) {
  if (!inside_[v]) return mapped_(v);
  const auto at = emitted_.find(v);
  if (at != emitted_.end()) return at->second;
  Inst i = k_.insts[v];
  for (Val& o : i.operands)
    if (o != kNone) o = emit_same(o);
  const Val made =
      i.access < 0 ? out_.push(i) : out_.push(i, k_.accesses[static_cast<std::size_t>(i.access)]);
  return emitted_[v] = made;
}

Interval Intervals::of(Val v) {
  const auto at = made_.find(v);
  if (at != made_.end()) return at->second;
  const Interval made = make(v);
  return made_[v] = made;
}

Interval Intervals::make(Val v) {
  if (same(v)) {
    const Val only = emit_same(v);
    return {only, only};
  }
  const Inst& i = k_.insts[v];
  const auto& o = i.operands;
  if (i.op == Op::Var) {
    const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
    const Val begin = l.begin == kNone ? number(0) : of(l.begin).low;
    return {begin, exact(OpId::Subtract, of(l.end).high, number(1))};
  }
  if (i.op == Op::Cast) {
    const auto limits = limits_of(k_.insts[o[0]].type);
    return {number(limits->first), number(limits->second)};
  }
  if (i.op == Op::LoadLocal) return of_local(i.index);
  if (i.fn == OpId::Where) {
    const Interval a = of(o[1]), b = of(o[2]);
    return {least(a.low, b.low), most(a.high, b.high)};
  }
  if (i.fn == OpId::BitwiseAnd) return {number(0), number(*constant_of(k_, o[1]))};
  if (i.fn == OpId::Remainder) {
    const Interval b = of(o[1]);
    fails_ = either(fails_, below(b.low, number(1)));
    return {number(0), exact(OpId::Subtract, b.high, number(1))};
  }
  const Interval a = of(o[0]);
  if (i.fn == OpId::RightShift) {
    const Val by = number(*constant_of(k_, o[1]));
    return {apply(i.fn, DType::Int64, a.low, by), apply(i.fn, DType::Int64, a.high, by)};
  }
  const Interval b = of(o[1]);
  // Where both ends vary, as in a triangle, the sum of begin and number says less. That nothing of
  // that overflows is asked all the same.
  if (const auto c = counter_of(k_, v); c && known(c->end)) {
    const Interval end = of(c->end);
    if (c->down) return {exact(OpId::Add, end.low, number(1)), a.high};
    return {a.low, exact(OpId::Subtract, end.high, number(1))};
  }
  if (i.fn == OpId::Subtract) return {exact(i.fn, a.low, b.high), exact(i.fn, a.high, b.low)};
  if (i.fn != OpId::Multiply) {
    const bool sum = i.fn == OpId::Add;
    const auto both = [&](Val x, Val y) {
      return sum ? exact(i.fn, x, y) : apply(i.fn, DType::Int64, x, y);
    };
    return {both(a.low, b.low), both(a.high, b.high)};
  }
  const Val p = exact(i.fn, a.low, b.low), q = exact(i.fn, a.high, b.high);
  if (a.low == a.high && b.low == b.high) return {p, p};
  if (a.low == a.high || b.low == b.high) return {least(p, q), most(p, q)};
  const Val r = exact(i.fn, a.low, b.high), s = exact(i.fn, a.high, b.low);
  return {least(least(p, q), least(r, s)), most(most(p, q), most(r, s))};
}

// What it is at first, and all that is stored to it.
Interval Intervals::of_local(std::int32_t local) {
  Val first = kNone;
  for (Val v = 0; v < k_.insts.size() && first == kNone; ++v)
    if (k_.insts[v].op == Op::LoadLocal && k_.insts[v].index == local)
      first = out_.load_local(local, k_.accesses[static_cast<std::size_t>(k_.insts[v].access)]);
  Interval all{first, first};
  for (Val s : stores_.at(local)) {
    const Interval one = of(s);
    all = {least(all.low, one.low), most(all.high, one.high)};
  }
  return all;
}

Val Intervals::may_hold(Val v) {
  if (same(v)) return emit_same(v);
  const Inst& i = k_.insts[v];
  if (const auto c = index_check(k_, v)) {
    const Interval at = of(c->i), n = of(c->extent);
    const Val least_index =
        counts_from_end(c->i) ? exact(OpId::Subtract, number(0), n.low) : number(0);
    return either(below(at.low, least_index),
                  apply(OpId::GreaterEqual, DType::Bool, at.high, n.low));
  }
  if (is(k_, v, OpId::LogicalAnd)) {
    const bool first = decides(i.operands[0]), second = decides(i.operands[1]);
    if (first && second)
      return apply(OpId::LogicalAnd, DType::Bool, may_hold(i.operands[0]), may_hold(i.operands[1]));
    return may_hold(i.operands[first ? 0 : 1]);
  }
  const Interval a = of(i.operands[0]), b = of(i.operands[1]);
  if (i.op == Op::Overflows) {
    if (i.fn == OpId::Add)
      return either(overflows(i.fn, a.low, b.low), overflows(i.fn, a.high, b.high));
    if (i.fn == OpId::Subtract)
      return either(overflows(i.fn, a.low, b.high), overflows(i.fn, a.high, b.low));
    const Val ends = either(overflows(i.fn, a.low, b.low), overflows(i.fn, a.high, b.high));
    return either(ends, either(overflows(i.fn, a.low, b.high), overflows(i.fn, a.high, b.low)));
  }
  if (i.fn == OpId::Less || i.fn == OpId::LessEqual) return apply(i.fn, DType::Bool, a.low, b.high);
  if (i.fn == OpId::Greater || i.fn == OpId::GreaterEqual)
    return apply(i.fn, DType::Bool, a.high, b.low);
  return apply(OpId::LogicalAnd, DType::Bool,  // they may be equal
               apply(OpId::LessEqual, DType::Bool, a.low, b.high),
               apply(OpId::LessEqual, DType::Bool, b.low, a.high));
}

}  // namespace plait::ir
