// Whether a node's value is known to be NaN or non-negative, and no negative zero, whatever its
// inputs: then an arg-reduction may look through a square root in front of it, and a sum need not
// start from zero.
#pragma once
#include "graph.hpp"

namespace plait::fusion {
bool non_negative(const Graph& g, const std::vector<std::int32_t>& canon, std::int32_t node);
}
