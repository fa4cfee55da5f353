// What the int64 values inside a loop lie between, as values in front of it: sums, products and the
// like of counters of the loops inside, of what does not change, and of small integers. Interval
// arithmetic is computed where the loop is entered, once for all of its iterations.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "builder.hpp"

namespace plait::ir {

struct Interval {
  Val low, high;  // both included; high < low of what is never computed
};

class Intervals {
 public:
  // Of a loop that counts, in a sequential kernel. `mapped` gives the copy, in `out`, of a value
  // that is visible in front of the loop.
  Intervals(const Kernel& k, std::int32_t loop, Builder& out, std::function<Val(Val)> mapped);

  bool inside(Val v) const { return inside_[v]; }
  // Whether an int64 value has an interval. Nothing is emitted.
  bool known(Val v);
  // Whether a condition may be decided in front of the loop: false in every iteration.
  bool decides(Val check);
  // Of an index: whether it may be negative where its check is decided. Of others that is decided
  // as well.
  bool counts_from_end(Val i) { return same(i) || begins_negative(i); }

  // Emits; of what is known.
  Interval of(Val v);
  // A Bool, of a condition that decides(): whether it may be true in some iteration. kNone: never.
  Val may_hold(Val check);
  // Whether interval arithmetic itself overflowed, or met a divisor that is not positive; kNone:
  // never.
  Val fails() const { return fails_; }

 private:
  // Of an int64 value that begins below zero whatever the call, as the neighbour of the first.
  bool begins_negative(Val v) const;
  bool same(Val v);
  bool find(Val v);
  bool divides(const Inst& i);
  Val emit_same(Val v);
  Interval make(Val v);
  Interval of_local(std::int32_t local);
  Val number(std::int64_t n);
  Val apply(OpId fn, DType t, Val a, Val b) { return out_.apply(fn, t, {a, b}); }
  Val least(Val a, Val b) { return apply(OpId::Minimum, DType::Int64, a, b); }
  Val most(Val a, Val b) { return apply(OpId::Maximum, DType::Int64, a, b); }
  Val below(Val a, Val b) { return apply(OpId::Less, DType::Bool, a, b); }
  Val either(Val a, Val b);
  Val overflows(OpId fn, Val a, Val b);
  Val exact(OpId fn, Val a, Val b);  // what overflows fails

  const Kernel& k_;
  const std::int32_t loop_;
  Builder& out_;
  std::function<Val(Val)> mapped_;
  std::vector<char> inside_;
  std::map<Val, bool> known_, same_;
  std::map<std::int32_t, std::vector<Val>> stores_;  // of locals, inside the loop
  std::map<Val, Interval> made_;
  std::map<Val, Val> emitted_;
  Val fails_ = kNone;
};

}  // namespace plait::ir
