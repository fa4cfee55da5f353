// Which values are known to be NaN or non-negative, and no negative zero, whatever the graph's
// inputs: then an arg-reduction may look through a square root in front of one, and a sum need not
// start from zero.
#pragma once
#include "plan_graph.hpp"

namespace plait::fusion {
// One entry a node of the graph.
std::vector<bool> non_negative(const PlanGraph& g, const std::vector<std::int32_t>& canon);
}  // namespace plait::fusion
