// The door to a plan's expressions: what code relies on of them is asked here, and the answer is
// recorded with those about the graph's own numbers (number.hpp), which they are made of.
#pragma once
#include <vector>

#include "plan_graph.hpp"

namespace plait::fusion {

class Facts {
 public:
  Facts(const PlanGraph& g, Exprs& e) : graph_(g), exprs_(e) {}

  bool equal(ExprId a, ExprId b) { return a == b || ask({Relation::Equal, a, b}); }
  bool ordered(ExprId a, ExprId b) { return a == b || ask({Relation::AtMost, a, b}); }
  bool at_most(ExprId e, std::int64_t number);
  // The number itself, as a constant.
  ExprId known(ExprId e);
  // For costs.
  std::int64_t estimate(ExprId e);
  Number number(ExprId e);
  // As it is, unasked: to look for what is asked about then.
  std::int64_t now(ExprId e);

  // All that was asked since the start: with the same answers the same is made of other numbers.
  void start() { asked_.clear(); }
  const std::vector<Answer>& asked() const { return asked_; }
  // The answer, which is recorded.
  bool ask(const Question& q);
  // The same number as an expression over the graph's numbers.
  ExprId over_graph(ExprId e);

 private:
  const PlanGraph& graph_;
  Exprs& exprs_;
  std::vector<Answer> asked_;
  std::vector<std::int64_t> values_;  // of the expressions so far
  std::vector<ExprId> over_graph_;    // of each, -1: not yet
};

}  // namespace plait::fusion
