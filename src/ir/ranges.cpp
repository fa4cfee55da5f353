#include "ranges.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "checks.hpp"
#include "copier.hpp"
#include "edit.hpp"
#include "forward_variables.hpp"
#include "intervals.hpp"

namespace plait::ir {
namespace {

// How a value goes along a loop.
enum class Course : std::uint8_t { Any, Same, Even };

// Of one loop: which values step evenly, and which checks that decides.
class Checks {
 public:
  Checks(const Kernel& k, std::int32_t loop)
      : k_(k), loop_(loop), inside_(k.insts.size()), course_(k.insts.size()) {
    for_each_inst(k, loop, [&](Val v, std::int32_t) { inside_[v] = true; });
    for_each_inst(k, loop, [&](Val v, std::int32_t) {
      const Inst& i = k.insts[v];
      if (i.op == Op::Break && i.operands[0] != kNone) consider(i.operands[0]);
      if (i.op != Op::For) return;
      const Loop& l = k.loops[static_cast<std::size_t>(i.index)];
      if (l.condition != kNone && leaves(i.index)) consider(l.condition);
    });
  }
  // Bools that are false in every iteration where the ends say so.
  const std::vector<Val>& decided() const { return decided_; }

  Course course(Val v) {
    if (v == k_.loops[static_cast<std::size_t>(loop_)].var) return Course::Even;
    if (!inside_[v]) return Course::Same;
    if (!course_[v]) course_[v] = find_course(v);
    return *course_[v];
  }
  bool inside(Val v) const { return inside_[v]; }

 private:
  // Whether a break stands inside.
  bool leaves(std::int32_t l) const {
    bool found = false;
    for_each_inst(k_, l, [&](Val v, std::int32_t) { found |= k_.insts[v].op == Op::Break; });
    return found;
  }
  void consider(Val v) {
    if (is(k_, v, OpId::LogicalOr) || is(k_, v, OpId::BitwiseOr)) {
      consider(k_.insts[v].operands[0]);
      return consider(k_.insts[v].operands[1]);
    }
    if (std::find(decided_.begin(), decided_.end(), v) == decided_.end() && inside_[v] &&
        decides(v))
      decided_.push_back(v);
  }
  bool decides(Val v) {
    const Inst& i = k_.insts[v];
    if (const auto c = index_check(k_, v))
      return course(c->i) != Course::Any && course(c->extent) == Course::Same;
    if (course(v) == Course::Same) return true;
    if (i.op == Op::Overflows) return step(i) != Course::Any;
    if (i.op != Op::Apply || k_.insts[i.operands[0]].type != DType::Int64) return false;
    const bool ordered = i.fn == OpId::Less || i.fn == OpId::LessEqual || i.fn == OpId::Greater ||
                         i.fn == OpId::GreaterEqual;
    return ordered && course(i.operands[0]) != Course::Any && course(i.operands[1]) != Course::Any;
  }
  // Of an integer sum, difference or product.
  Course step(const Inst& i) {
    const Course a = course(i.operands[0]), b = course(i.operands[1]);
    if (a == Course::Any || b == Course::Any) return Course::Any;
    if (a == Course::Same && b == Course::Same) return Course::Same;
    return i.fn == OpId::Multiply && a == b ? Course::Any : Course::Even;
  }
  Course find_course(Val v) {
    const Inst& i = k_.insts[v];
    if (i.op == Op::Const || i.op == Op::Param || i.op == Op::Arg) return Course::Same;
    if (i.op == Op::LoadLocal)
      return sets(k_, loop_, i.index) || !is_variable(k_.locals[static_cast<std::size_t>(i.index)])
                 ? Course::Any
                 : Course::Same;
    if (i.op != Op::Apply && i.op != Op::Cast && i.op != Op::Overflows) return Course::Any;
    const bool same = std::all_of(std::begin(i.operands), std::end(i.operands),
                                  [&](Val o) { return o == kNone || course(o) == Course::Same; });
    if (same) return Course::Same;
    const bool steps = i.op == Op::Apply && i.type == DType::Int64 &&
                       (i.fn == OpId::Add || i.fn == OpId::Subtract || i.fn == OpId::Multiply);
    return steps ? step(i) : Course::Any;
  }

  const Kernel& k_;
  const std::int32_t loop_;
  std::vector<char> inside_;
  std::vector<std::optional<Course>> course_;
  std::vector<Val> decided_;
};

class Versioning final : public Copier {
 public:
  using Copier::Copier;

 private:
  void copy(Val v) override {
    const Inst& i = k_.insts[v];
    if (i.op == Op::For) {
      const Loop& l = k_.loops[static_cast<std::size_t>(i.index)];
      if (l.kind == LoopKind::Count)
        return is_innermost(i.index) ? version(v, i.index) : version_nest(v, i.index);
      if (l.kind == LoopKind::If && l.otherwise.empty() && is_false(l.condition)) return;
    }
    if (const auto known = known_.find(v); known != known_.end())
      return map(v, known->second == kNone ? no() : mapped(known->second));
    if (const auto near = near_.find(v); near != near_.end()) return remainder(v, near->second);
    Copier::copy(v);
  }
  bool is_false(Val condition) const {
    const auto known = known_.find(condition);
    return known != known_.end() && known->second == kNone;
  }

  bool is_innermost(std::int32_t loop) const {
    bool innermost = k_.loops[static_cast<std::size_t>(loop)].kind == LoopKind::Count;
    for_each_inst(k_, loop, [&](Val v, std::int32_t) {
      if (opens_loop(k_.insts[v]))
        innermost &= k_.insts[v].op == Op::For &&
                     k_.loops[static_cast<std::size_t>(k_.insts[v].index)].kind == LoopKind::If;
    });
    return innermost;
  }

  void version(Val v, std::int32_t loop) {
    Checks checks(k_, loop);
    std::vector<Val> decided = checks.decided();
    std::erase_if(decided, [&](Val check) { return known_.contains(check); });
    if (decided.empty()) {
      Copier::copy(v);
    } else {
      const Loop& l = k_.loops[static_cast<std::size_t>(loop)];
      const Val zero = number(0);
      const Val first = l.begin == kNone ? zero : mapped(l.begin);
      const Val last = out_.apply(OpId::Subtract, DType::Int64, {mapped(l.end), number(1)});
      fails_ = kNone;
      for (const Val end : {first, last}) {
        checks_ = &checks;
        at_end_.clear();
        at_end_[l.var] = end;
        for (Val check : decided) ask(check);
      }
      out_.open_if(out_.apply(OpId::LogicalNot, DType::Bool, {fails_}));
      const std::map<Val, Val> outer = known_;
      for (Val check : decided) {
        known_[check] = kNone;
        if (const auto c = index_check(k_, check); c && checks.course(c->i) == Course::Even)
          known_[c->index] = c->i;
      }
      Copier::copy(v);
      known_ = outer;
      out_.otherwise();
      out_.loop(out_.innermost()).rare = true;
      Copier::copy(v);
      out_.close();
    }
  }

  // The parts of conditions that find errors inside the loop.
  std::vector<Val> errors_in(std::int32_t loop) const {
    std::vector<Val> all;
    const std::function<void(Val)> add = [&](Val v) {
      if (is(k_, v, OpId::LogicalOr)) {
        add(k_.insts[v].operands[0]);
        add(k_.insts[v].operands[1]);
      } else if (!known_.contains(v) && std::find(all.begin(), all.end(), v) == all.end()) {
        all.push_back(v);
      }
    };
    for_each_inst(k_, loop, [&](Val v, std::int32_t) {
      if (k_.insts[v].op != Op::For) return;
      const Loop& l = k_.loops[static_cast<std::size_t>(k_.insts[v].index)];
      if (l.kind == LoopKind::If && l.condition != kNone && leaves_kernel(k_, l.body))
        add(l.condition);
    });
    return all;
  }

  // A loop with others inside: what intervals decide is decided for all of them, and the loops
  // inside are left with the rest, in either copy.
  void version_nest(Val v, std::int32_t loop) {
    Intervals intervals(k_, loop, out_, [this](Val x) { return mapped(x); });
    std::vector<Val> checks = errors_in(loop);
    std::erase_if(checks, [&](Val check) { return !intervals.decides(check); });
    if (checks.empty() || out_.kernel().insts.size() > kGrowth * k_.insts.size())
      return Copier::copy(v);
    fails_ = kNone;
    for (Val check : checks)
      if (const Val may = intervals.may_hold(check); may != kNone) fails_where(may);
    const std::map<Val, Val> outer_near = near_, outer_known = known_;
    for_each_inst(k_, loop, [&](Val r, std::int32_t) { add_near(r, intervals); });
    if (intervals.fails() != kNone) fails_where(intervals.fails());
    out_.open_if(out_.apply(OpId::LogicalNot, DType::Bool, {fails_}));
    for (Val check : checks) {
      known_[check] = kNone;
      if (const auto c = index_check(k_, check); c && !intervals.counts_from_end(c->i))
        known_[c->index] = c->i;
    }
    Copier::copy(v);
    known_ = outer_known;
    near_ = outer_near;
    out_.otherwise();
    out_.loop(out_.innermost()).rare = true;
    Copier::copy(v);
    out_.close();
  }

  // A remainder of what is known to lie less than a divisor beside its range needs no division, as
  // of neighbours in a ring. Whether it does is known in front of the loop.
  void add_near(Val v, Intervals& intervals) {
    const Inst& i = k_.insts[v];
    if (!is(k_, v, OpId::Remainder) || i.type != DType::Int64 || near_.contains(v) ||
        intervals.inside(i.operands[1]) || k_.insts[i.operands[1]].op == Op::Const ||
        !intervals.known(i.operands[0]) || !intervals.known(v))
      return;
    (void)intervals.of(v);  // the divisor is positive
    const Interval a = intervals.of(i.operands[0]);
    const Val n = mapped(i.operands[1]);
    const Val above = out_.apply(OpId::GreaterEqual, DType::Bool,
                                 {out_.apply(OpId::Add, DType::Int64, {a.low, n}), number(0)});
    const Val below = out_.apply(OpId::Less, DType::Bool,
                                 {out_.apply(OpId::Subtract, DType::Int64, {a.high, n}), n});
    near_[v] = out_.apply(OpId::LogicalAnd, DType::Bool, {above, below});
  }
  void remainder(Val v, Val is_near) {
    const Inst& i = k_.insts[v];
    const Val a = mapped(i.operands[0]), n = mapped(i.operands[1]);
    const std::int32_t made = out_.variable(DType::Int64);
    const auto moved = [&](OpId fn) { return out_.apply(fn, DType::Int64, {a, n}); };
    const auto choose = [&](OpId compare, Val with, Val then, Val otherwise) {
      const Val condition = out_.apply(compare, DType::Bool, {a, with});
      return out_.apply(OpId::Where, DType::Int64, {condition, then, otherwise});
    };
    out_.open_if(is_near);
    const Val beyond = choose(OpId::GreaterEqual, n, moved(OpId::Subtract), a);
    out_.store_local(made, {}, choose(OpId::Less, number(0), moved(OpId::Add), beyond));
    out_.otherwise();
    out_.store_local(made, {}, push(i));
    out_.close();
    map(v, out_.load_local(made, {}));
  }

  Val number(std::int64_t n) {
    return out_.number({.op = Op::Const, .imm = Scalar::of(DType::Int64, n)});
  }
  Val no() {
    return out_.number({.op = Op::Const, .type = DType::Bool, .imm = scalar_bool(false)});
  }
  void fails_where(Val condition) {
    fails_ =
        fails_ == kNone ? condition : out_.apply(OpId::LogicalOr, DType::Bool, {fails_, condition});
  }
  // In front of the loop: whether the check may fail, as the end at hand has it.
  void ask(Val check) {
    const auto c = index_check(k_, check);
    if (!c || checks_->course(c->i) == Course::Same) return fails_where(value_at_end(check));
    const Val i = value_at_end(c->i), n = value_at_end(c->extent);
    fails_where(out_.apply(OpId::Less, DType::Bool, {i, number(0)}));
    fails_where(out_.apply(OpId::GreaterEqual, DType::Bool, {i, n}));
  }
  // What an even value is there holds for those in between if nothing of it overflows at the ends.
  Val value_at_end(Val v) {
    if (const auto known = at_end_.find(v); known != at_end_.end()) return known->second;
    if (!checks_->inside(v)) return mapped(v);
    Inst i = k_.insts[v];
    for (Val& o : i.operands)
      if (o != kNone) o = value_at_end(o);
    if (checks_->course(v) == Course::Even) {
      Inst beyond = i;
      beyond.op = Op::Overflows;
      beyond.type = DType::Bool;
      fails_where(out_.push(beyond));
    }
    const Val there =
        i.access < 0 ? out_.push(i) : out_.push(i, k_.accesses[static_cast<std::size_t>(i.access)]);
    return at_end_[v] = there;
  }

  static constexpr std::size_t kGrowth = 5;  // as many instructions at most, roughly
  Checks* checks_ = nullptr;
  std::map<Val, Val> at_end_;  // of values inside the loop, at the end at hand
  std::map<Val, Val> known_;   // in the copy without checks: the same value; kNone: false
  std::map<Val, Val> near_;    // remainders that may need no division -> whether they do not
  Val fails_ = kNone;
};

}  // namespace

Kernel without_range_checks(const Kernel& k) { return Versioning(k).run(); }

}  // namespace plait::ir
