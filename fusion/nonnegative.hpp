// Whether a node's value is known to be non-negative or NaN, whatever its inputs: then an
// arg-reduction may look through a square root in front of it.
#pragma once
#include "graph.hpp"

namespace plait::fusion {
bool non_negative(const Graph& g, const std::vector<std::int32_t>& canon, std::int32_t node);
}
