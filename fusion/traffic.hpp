// Bytes that a plan moves through memory, against the fewest it could: what explain() prints and
// predicts times from.
#pragma once
#include "plan.hpp"

namespace plait::fusion {

// Sets the bytes of every step, and the plan's moved and least, at the extents it was planned with.
void count_traffic(const Graph& g, Plan& p);

}  // namespace plait::fusion
