// Scatters, the calls that combine by index, as regions that compute what they combine.
#pragma once
#include "core/call_table.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// A thread of a device has no order with the others to combine in.
inline bool scattered_in_loops(const tracer::Node& n, const Target& t) {
  return t.lanes && n.kind == tracer::NodeKind::Call && n.call == CallId::Scatter &&
         element_count(n.shape) > 0 && element_count(n.inputs[2]->shape) > 0;
}

}  // namespace plait::fusion
