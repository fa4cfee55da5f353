#include "written_parts.hpp"

#include <algorithm>

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

bool writes_part(const Graph& g, std::int32_t update) {
  const GNode& u = g[update];
  if (u.leaf || u.wanted || u.held || u.node->kind != NodeKind::Update || !u.map) return false;
  for (int d = 0; d < u.map->from.size(); ++d)
    if (u.map->from[d] >= 0 && u.map->step[d] != 1) return false;
  const GNode& old = g[u.in[0]];
  const Node& o = *old.node;
  if (o.dtype != u.node->dtype || o.shape != u.node->shape) return false;
  if (o.kind == NodeKind::Empty) return true;
  if (old.leaf || old.wanted) return false;
  return o.kind == NodeKind::Fill || writes_part(g, u.in[0]);
}

bool unfolds(const Graph& g, std::int32_t view) {
  const GNode& v = g[view];
  if (v.leaf || v.node->kind != NodeKind::View || v.map || v.uses != 1 || v.wanted || v.held)
    return false;
  const GNode& copy = g[v.in[0]];
  const Node &n = *v.node, &c = *copy.node;
  const auto item = static_cast<std::int64_t>(itemsize(c.dtype));
  return !copy.leaf && c.kind == NodeKind::Cast && copy.uses == 1 && !copy.wanted && !copy.held &&
         n.dtype == c.dtype && n.offset == 0 && n.shape.size() >= 2 &&
         n.strides == contiguous_strides(n.shape, item) &&
         c.strides == contiguous_strides(c.shape, item) &&
         decompose_merged(c.shape, n.shape).has_value();
}

bool interleaves(const Graph& g, std::int32_t view) {
  const GNode& v = g[view];
  if (v.leaf || v.node->kind != NodeKind::View || v.map || v.windows || !writes_part(g, v.in[0]))
    return false;
  const Node &n = *v.node, &base = *g[v.in[0]].node;
  const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
  const int dims = n.shape.size();
  if (dims == 0 || base.shape.size() != dims + 1 || n.dtype != base.dtype || n.offset != 0 ||
      n.strides != contiguous_strides(n.shape, item) ||
      base.strides != contiguous_strides(base.shape, item) ||
      !std::equal(n.shape.begin(), n.shape.end() - 1, base.shape.begin()))
    return false;
  // Blocks of a product begin at multiples of these.
  const std::int64_t in_turn = base.shape.back();
  return in_turn == 2 || in_turn == 4 || in_turn == 8;
}

}  // namespace plait::fusion
