// The loops of a plan. A caller's loop is recorded step by step; where its steps became regions of
// the same classes (equal_regions.hpp) in the same order, it is found again.
#pragma once
#include <span>
#include <vector>

#include "plan.hpp"

namespace plait::fusion {

// `nodes`: of the graph.
std::vector<StepLoop> find_loops(std::span<const Step> steps, int nodes);

}  // namespace plait::fusion
