// Loops of the plan as loops of one kernel: where each of their steps is a row further on in the
// same storage (y[t] = a * x[t] + b * y[t - 1]), they become one step, whose kernel has a loop over
// them. Its grid runs over blocks of the elements, so that a row that the next iteration reads
// stays in the cache.
#pragma once
#include <span>

#include "plan.hpp"

namespace plait::fusion {

// `owners`: whose memory each node has, behind the last step.
void roll_loops(const PlanGraph& g, Plan& p, Facts& facts, std::span<const std::int32_t> owners);

}  // namespace plait::fusion
