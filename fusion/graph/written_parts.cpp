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

std::optional<MergedAxes> unfolded_axes(const Graph& g, std::int32_t view) {
  const GNode& v = g[view];
  if (v.leaf || v.node->kind != NodeKind::View || v.map || v.uses != 1 || v.wanted || v.held)
    return std::nullopt;
  const GNode& copy = g[v.in[0]];
  const Node &n = *v.node, &c = *copy.node;
  if (copy.leaf || c.kind != NodeKind::Cast || copy.uses != 1 || copy.wanted || copy.held ||
      n.dtype != c.dtype || n.offset != 0 || n.shape.size() < 2 ||
      c.strides != contiguous_strides(c.shape, static_cast<std::int64_t>(itemsize(c.dtype))))
    return std::nullopt;
  return decompose_merged(c.shape, c.strides, n.shape, n.strides);
}

std::optional<MergedAxes> interleaved_axes(const Graph& g, std::int32_t view) {
  const GNode& v = g[view];
  if (v.leaf || v.node->kind != NodeKind::View || v.map || v.windows || !writes_part(g, v.in[0]))
    return std::nullopt;
  const Node &n = *v.node, &base = *g[v.in[0]].node;
  // Blocks of a product begin at multiples of how many arrays there are.
  const std::int64_t arrays = base.shape.size() > 0 ? base.shape.back() : 0;
  if (base.shape.size() != n.shape.size() + 1 || n.dtype != base.dtype || n.offset != 0 ||
      (arrays != 2 && arrays != 4 && arrays != 8) || base.shape.end()[-2] == 1 ||
      base.strides != contiguous_strides(base.shape, static_cast<std::int64_t>(itemsize(n.dtype))))
    return std::nullopt;
  auto m = decompose_merged(base.shape, base.strides, n.shape, n.strides);
  if (!m) return std::nullopt;
  for (int j = 0; j < m->last.size(); ++j)
    if (m->last[j] - m->first[j] != (m->last[j] == base.shape.size() ? 2 : n.shape[j] == 1 ? 0 : 1))
      return std::nullopt;
  return m;
}

int interleaved_axis(const MergedAxes& m) {
  return static_cast<int>(std::max_element(m.last.begin(), m.last.end()) - m.last.begin());
}

}  // namespace plait::fusion
