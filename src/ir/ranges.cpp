#include "ranges.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "copier.hpp"
#include "edit.hpp"
#include "forward_variables.hpp"

namespace plait::ir {
namespace {

bool is(const Kernel& k, Val v, OpId fn) {
  return v != kNone && k.insts[v].op == Op::Apply && k.insts[v].fn == fn;
}
bool is_zero(const Kernel& k, Val v) {
  return k.insts[v].op == Op::Const && k.insts[v].type == DType::Int64 &&
         k.insts[v].imm.as<std::int64_t>() == 0;
}

// What Builder::index makes: `outside` says that `i` is not in [-extent, extent).
struct IndexCheck {
  Val i, extent, index;
};
std::optional<IndexCheck> index_check(const Kernel& k, Val outside) {
  if (!is(k, outside, OpId::GreaterEqual)) return std::nullopt;
  const Inst &index = k.insts[k.insts[outside].operands[0]],
             &extent = k.insts[k.insts[outside].operands[1]];
  if (index.op != Op::Cast || extent.op != Op::Cast || index.type != DType::UInt64)
    return std::nullopt;
  const Val where = index.operands[0], n = extent.operands[0];
  if (!is(k, where, OpId::Where)) return std::nullopt;
  const Val negative = k.insts[where].operands[0], from_end = k.insts[where].operands[1],
            i = k.insts[where].operands[2];
  if (!is(k, negative, OpId::Less) || k.insts[negative].operands[0] != i ||
      !is_zero(k, k.insts[negative].operands[1]) || !is(k, from_end, OpId::Add) ||
      k.insts[from_end].operands[0] != i || k.insts[from_end].operands[1] != n)
    return std::nullopt;
  return IndexCheck{i, n, where};
}

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
    if (i.op == Op::For && !versioning_ && is_innermost(i.index)) return version(v, i.index);
    if (const auto known = known_.find(v); known != known_.end())
      return map(v, known->second == kNone ? no() : mapped(known->second));
    Copier::copy(v);
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
    versioning_ = true;
    if (checks.decided().empty()) {
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
        for (Val check : checks.decided()) ask(check);
      }
      out_.open_if(out_.apply(OpId::LogicalNot, DType::Bool, {fails_}));
      for (Val check : checks.decided()) {
        known_[check] = kNone;
        if (const auto c = index_check(k_, check)) known_[c->index] = c->i;
      }
      Copier::copy(v);
      known_.clear();
      out_.otherwise();
      Copier::copy(v);
      out_.close();
    }
    versioning_ = false;
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
    if (!c) return fails_where(value_at_end(check));
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

  bool versioning_ = false;
  Checks* checks_ = nullptr;
  std::map<Val, Val> at_end_;  // of values inside the loop, at the end at hand
  std::map<Val, Val> known_;   // in the copy without checks: the same value; kNone: false
  Val fails_ = kNone;
};

}  // namespace

Kernel without_range_checks(const Kernel& k) { return Versioning(k).run(); }

}  // namespace plait::ir
