// The one reader of a graph's numbers: extents, strides and offsets. What code relies on is asked
// here, and the answer is recorded: it becomes a guard of the plan. What only costs depend on is
// estimated, and no record is kept.
#pragma once
#include <compare>
#include <utility>
#include <vector>

#include "expr.hpp"

namespace plait::fusion {

// What the code of a plan relies on of run-time numbers. A graph that breaks a guard gets another
// plan.
enum class Relation : std::uint8_t { Equal, AtMost, Above };
struct Guard {
  Relation relation;
  ExprId left, right;
  auto operator<=>(const Guard&) const = default;
  bool holds(const std::vector<std::int64_t>& values) const {
    const std::int64_t l = values[left], r = values[right];
    return relation == Relation::Equal ? l == r : relation == Relation::AtMost ? l <= r : l > r;
  }
};

class Facts {
 public:
  Facts(const Graph& g, Exprs& e) : graph_(g), exprs_(e) {}

  // Whether they are equal. Yes is relied on; code that is told no serves equal ones, too.
  bool equal(ExprId a, ExprId b);
  // Whether one is at most the other. Yes is relied on.
  bool ordered(ExprId a, ExprId b);
  // Whether it is at most that number. Yes and no are relied on; of several answers of a kind, the
  // tightest is kept.
  bool at_most(ExprId e, std::int64_t number);
  // The number itself, as a constant.
  ExprId known(ExprId e);
  // An estimate: no guard is recorded for it.
  std::int64_t estimate(ExprId e) const {
    exprs_.evaluate(graph_, values_);
    return values_[e];
  }

  // From here on nothing was asked.
  void start() {
    guards_.clear();
    asked_.clear();
  }
  // Forgets what was recorded since there were so many: what asked gives up.
  std::size_t recorded() const { return guards_.size(); }
  void forget(std::size_t since) { guards_.resize(since); }
  std::vector<Guard> take() { return std::exchange(guards_, {}); }
  const std::vector<Guard>& guards() const { return guards_; }

  // All that was asked since the start, forgotten or not: with the same answers the same is made of
  // other numbers.
  struct Asked {
    Guard question;
    bool yes;
    auto operator<=>(const Asked&) const = default;
  };
  const std::vector<Asked>& asked() const { return asked_; }
  bool holds(const Guard& g) const {
    exprs_.evaluate(graph_, values_);
    return g.holds(values_);
  }
  void rely_on(const Guard& g) { guards_.push_back(g); }

 private:
  const Graph& graph_;
  Exprs& exprs_;
  // The answer, which is recorded.
  bool ask(Relation r, ExprId a, ExprId b) {
    asked_.push_back({{r, a, b}, holds({r, a, b})});
    return asked_.back().yes;
  }
  std::vector<Guard> guards_;
  std::vector<Asked> asked_;
  mutable std::vector<std::int64_t> values_;  // of the expressions so far
};

}  // namespace plait::fusion
