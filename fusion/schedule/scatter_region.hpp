// Scatters, the calls that combine by index, as regions that compute what they combine.
#pragma once
#include "core/call_table.hpp"
#include "core/scatter.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// Threads of a device have a piece each, if that is short.
inline bool scattered_in_loops(const Node& n, const Target& t) {
  if (n.kind != tracer::NodeKind::Call || n.call != CallId::Scatter) return false;
  const Number table = n.elements, elements = n.inputs[2]->elements;
  return table > 0 && elements > 0 &&
         (t.lanes || scatters_on_device(elements.estimate(), table.estimate()));
}

}  // namespace plait::fusion
