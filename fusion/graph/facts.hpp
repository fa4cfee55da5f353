// The one reader of a graph's numbers: extents, strides and offsets. What code relies on is asked
// here, and the answer is recorded: it becomes a guard of the plan. What only costs depend on is
// estimated, and no record is kept.
#pragma once
#include <utility>
#include <vector>

#include "expr.hpp"

namespace plait::fusion {

// Equalities of run-time numbers that the code of a plan relies on. A graph that breaks one gets
// another plan.
struct Guard {
  ExprId left, right;
};

class Facts {
 public:
  Facts(const Graph& g, Exprs& e) : graph_(g), exprs_(e) {}

  // Whether they are equal. Yes is relied on; code that is told no serves equal ones, too.
  bool equal(ExprId a, ExprId b);
  // The number itself, as a constant.
  ExprId known(ExprId e);
  // Relied on by nobody.
  std::int64_t estimate(ExprId e) const {
    exprs_.evaluate(graph_, values_);
    return values_[e];
  }

  // Forgets what was recorded since there were so many: what asked gives up.
  std::size_t recorded() const { return guards_.size(); }
  void forget(std::size_t since) { guards_.resize(since); }
  std::vector<Guard> take() { return std::exchange(guards_, {}); }

 private:
  const Graph& graph_;
  Exprs& exprs_;
  std::vector<Guard> guards_;
  mutable std::vector<std::int64_t> values_;  // of the expressions so far
};

}  // namespace plait::fusion
