#include "facts.hpp"

namespace plait::fusion {

bool Facts::equal(ExprId a, ExprId b) {
  if (a == b) return true;
  if (!ask(Relation::Equal, a, b)) return false;
  guards_.push_back({Relation::Equal, a, b});
  return true;
}

bool Facts::ordered(ExprId a, ExprId b) {
  if (a == b) return true;
  if (!ask(Relation::AtMost, a, b)) return false;
  guards_.push_back({Relation::AtMost, a, b});
  return true;
}

bool Facts::at_most(ExprId e, std::int64_t number) {
  if (exprs_.is_constant(e)) return exprs_.value(e) <= number;
  const ExprId limit = exprs_.constant(number);
  const bool yes = ask(Relation::AtMost, e, limit);
  const Relation relation = yes ? Relation::AtMost : Relation::Above;
  for (Guard& g : guards_)
    if (g.relation == relation && g.left == e && exprs_.is_constant(g.right)) {
      const bool tighter = yes ? number < exprs_.value(g.right) : number > exprs_.value(g.right);
      if (tighter) g.right = limit;
      return yes;
    }
  guards_.push_back({relation, e, limit});
  return yes;
}

ExprId Facts::known(ExprId e) {
  if (exprs_.is_constant(e)) return e;
  const ExprId now = exprs_.constant(estimate(e));
  ask(Relation::Equal, e, now);
  guards_.push_back({Relation::Equal, e, now});
  return now;
}

}  // namespace plait::fusion
