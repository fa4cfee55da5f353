// Writes to part of an array whose memory nobody needs: a padded array, a concatenation. What reads
// one in loops that are cut at the edges of the part finds the value that was written inside, and
// what there was before it outside.
#pragma once
#include "plan_graph.hpp"

namespace plait::fusion {

// Finds the Updates that, by their form, may be read so (PlanNode::part): the target is a box of
// its storage, which is in memory, or was filled, or written in the same way, before. Nodes are in
// topological order.
void find_written_parts(std::vector<PlanNode>& nodes);

// How the node merges dimensions of a copy that nobody else reads, as a matrix of patches does, or
// heads that are repeated for groups of queries: of each of the copy's, the view's that has it.
std::optional<Dims> unfolded_axes(const PlanGraph& g, std::int32_t view);

// The same where it shows the last two dimensions of what was written in parts as one, and the
// others as they are: arrays that were stacked along a new last axis, element by element in turn.
std::optional<Dims> interleaved_axes(const PlanGraph& g, std::int32_t view);

}  // namespace plait::fusion
