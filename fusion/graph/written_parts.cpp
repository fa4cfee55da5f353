#include "written_parts.hpp"

#include <algorithm>

namespace plait::fusion {
using tracer::NodeKind;

namespace {

bool is_part(const std::vector<PlanNode>& nodes, const PlanNode& u) {
  if (u.leaf || u.wanted || u.held || u.node->kind != NodeKind::Update || !u.map) return false;
  for (int d = 0; d < u.map->from.size(); ++d)
    if (u.map->from[d] >= 0 && u.map->step[d] != 1) return false;
  const PlanNode& old = nodes[static_cast<std::size_t>(u.in[0])];
  const Node& o = *old.node;
  if (o.dtype != u.node->dtype || o.extents != u.node->extents) return false;
  if (old.leaf) return o.kind != NodeKind::Scalar;
  return !old.wanted && (o.kind == NodeKind::Fill || old.part);
}

}  // namespace

void find_written_parts(std::vector<PlanNode>& nodes) {
  for (PlanNode& n : nodes) n.part = is_part(nodes, n);
}

std::optional<Dims> unfolded_axes(const PlanGraph& g, std::int32_t view) {
  const PlanNode& v = g[view];
  if (v.leaf || !v.index || v.uses != 1 || v.wanted || v.held || v.node->extents.size() < 2)
    return std::nullopt;
  const PlanNode& copy = g[v.in[0]];
  const Node& c = *copy.node;
  if (c.kind != NodeKind::Cast || copy.uses != 1 || copy.wanted || copy.held) return std::nullopt;
  return v.index->merged_by(c.extents, v.node->extents);
}

std::optional<Dims> interleaved_axes(const PlanGraph& g, std::int32_t view) {
  const PlanNode& v = g[view];
  if (v.leaf || v.map || !v.index || !g[v.in[0]].part) return std::nullopt;
  const Numbers &shape = v.node->extents, &base = g[v.in[0]].node->extents;
  // Blocks of a product begin at multiples of how many arrays there are.
  const int last = base.size() - 1;
  const Number arrays = last >= 1 ? base[last] : 0;
  if ((arrays != 2 && arrays != 4 && arrays != 8) || base[last - 1] == 1) return std::nullopt;
  std::optional<Dims> by = v.index->merged_by(base, shape);
  for (int d = 0; by && d <= last; ++d)
    if (v.index->wider[d] != (d == last ? last - 1 : -1)) return std::nullopt;
  return by && v.index->wider[last] == last - 1 ? by : std::nullopt;
}

}  // namespace plait::fusion
