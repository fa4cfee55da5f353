#include "written_parts.hpp"

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

}  // namespace plait::fusion
