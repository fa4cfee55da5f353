#include "facts.hpp"

namespace plait::fusion {

bool Facts::equal(ExprId a, ExprId b) {
  if (a == b) return true;
  if (estimate(a) != estimate(b)) return false;
  guards_.push_back({a, b});
  return true;
}

ExprId Facts::known(ExprId e) {
  if (exprs_.is_constant(e)) return e;
  const ExprId now = exprs_.constant(estimate(e));
  guards_.push_back({e, now});
  return now;
}

}  // namespace plait::fusion
