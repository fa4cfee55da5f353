#include "facts.hpp"

namespace plait::fusion {

bool Facts::at_most(ExprId e, std::int64_t number) {
  if (exprs_.is_constant(e)) return exprs_.value(e) <= number;
  return ask({Relation::AtMost, e, exprs_.constant(number)});
}

ExprId Facts::known(ExprId e) {
  if (exprs_.is_constant(e)) return e;
  const ExprId number = exprs_.constant(now(e));
  ask({Relation::Equal, e, number});
  return number;
}

Number Facts::number(ExprId e) {
  if (exprs_.is_constant(e)) return exprs_.value(e);
  return {graph_, over_graph(e), now(e)};
}

std::int64_t Facts::estimate(ExprId e) {
  graph_.note_estimate(over_graph(e));
  return now(e);
}

bool Facts::ask(const Question& q) {
  asked_.push_back({q, graph_.answers().ask(q.relation, over_graph(q.left), over_graph(q.right),
                                            now(q.left), now(q.right))});
  return asked_.back().yes;
}

std::int64_t Facts::now(ExprId e) {
  exprs_.evaluate_by([&](const Source& s) { return graph_.field(s); }, values_);
  return values_[static_cast<std::size_t>(e)];
}

ExprId Facts::over_graph(ExprId e) {
  const auto at = static_cast<std::size_t>(e);
  if (over_graph_.size() < exprs_.size()) over_graph_.resize(exprs_.size(), -1);
  if (over_graph_[at] < 0)
    over_graph_[at] = exprs_.rebuilt_in(
        graph_.answers().exprs, e, [&](const Source& s) { return graph_.expression(s); },
        [&](ExprId part) { return over_graph(part); });
  return over_graph_[at];
}

}  // namespace plait::fusion
