// Bytes that a plan moves through memory, against the fewest it could: what explain() prints and
// predicts times from.
#pragma once
#include "plan.hpp"

namespace plait::fusion {

struct Traffic {
  std::vector<std::int64_t> moved;  // by each step
  std::int64_t all = 0, least = 0;
};
// Of the steps of a plan, at the extents of a graph that it serves.
Traffic traffic_of(const PlanGraph& g, std::span<const Step> steps);
// Sets what the plan says of itself: at the extents it is planned with.
void count_traffic(const PlanGraph& g, Plan& p);

}  // namespace plait::fusion
