// What is kept of a value's contents beside it, as how labels group. Callers hold the lock.
#pragma once
#include "node.hpp"

namespace plait::tracer {

// Marks a node of whose contents something is kept.
void mark_derived(Node& n);
// Whether it is marked yet: the mark goes when its memory may be written to, and with the node.
bool derived_holds(const Node& n);

}  // namespace plait::tracer
