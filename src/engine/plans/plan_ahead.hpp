// Plans made in the background for graphs that have come by before, so that the next one like them
// finds its plan.
#pragma once
#include "fusion/graph/graph.hpp"

namespace plait::engine {

// Plans a graph like this one in a thread of low priority, on a copy of what planning reads of it.
// False when that cannot be: too many are waiting, or no thread starts. The recorder's lock is
// held.
bool plan_ahead(const fusion::Graph& g);
void wait_for_plans();  // tests: until nothing waits. The recorder's lock is not held.

}  // namespace plait::engine
