// For whoever describes evaluations (plait.explain). Callers hold the lock.
#pragma once
#include "node.hpp"

namespace plait::tracer {

std::uint32_t current_site();  // of this thread; 0: unknown
// Marks pending values that an evaluation computed on its way and did not keep: whoever evaluates
// them again computes them again.
void mark_computed(Node& n);
bool computed_before(const Node& n);

}  // namespace plait::tracer
