// A walk over what nodes are made of.
#pragma once
#include <vector>

#include "plan_graph.hpp"

namespace plait::fusion {

// Visits these nodes, their inputs, the inputs of those and so on: each once, and the first of
// equal ones in place of the others. Nodes that are not `within` are left out, with what only they
// are made of. Ends where a visit returns true, and returns whether one did.
template <class Within, class Visit>
bool walk_inputs(const PlanGraph& g, const std::vector<std::int32_t>& canon,
                 std::vector<std::int32_t> from, Within&& within, Visit&& visit) {
  std::vector<bool> seen(g.nodes.size());
  while (!from.empty()) {
    const std::int32_t i = canon[from.back()];
    from.pop_back();
    if (seen[i] || !within(i)) continue;
    seen[i] = true;
    if (visit(i)) return true;
    for (const std::int32_t in : g[i].in)
      if (in >= 0) from.push_back(in);
  }
  return false;
}

}  // namespace plait::fusion
