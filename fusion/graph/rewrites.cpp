#include "rewrites.hpp"

#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

bool alone(const GNode& g) { return !g.leaf && !g.wanted && !g.held && g.uses == 1; }

Shown shown(const Ref<Node>& n) {
  return n->kind == NodeKind::View ? Shown{n->inputs[0].get(), n->offset, &n->strides}
                                   : Shown{n.get(), 0, &n->strides};
}

Ref<Node> view_of(const Ref<Node>& n, const Dims& shape, const Dims& strides,
                  std::int64_t further) {
  const Shown s = shown(n);
  bool whole = s.offset + further == 0 && s.base->dtype == n->dtype && s.base->shape == shape;
  for (int d = 0; whole && d < shape.size(); ++d)
    whole = shape[d] == 1 || s.base->strides[d] == strides[d];
  if (whole) return Ref<Node>(s.base);
  Ref<Node> v = tracer::new_node(NodeKind::View);
  v->dtype = n->dtype;
  v->shape = shape;
  v->strides = strides;
  v->offset = s.offset + further;
  v->n_inputs = 1;
  v->inputs[0] = Ref<Node>(s.base);
  return v;
}

namespace {

bool copies(const GNode& g) {
  return !g.leaf && g.node->kind == NodeKind::Cast && g.node->inputs[0]->dtype == g.node->dtype;
}

// What a copy shows that nobody else reads, itself or by a view that steps through its axes, as a
// view of what was copied; null: there is none.
Ref<Node> copied(const Graph& g, std::int32_t operand) {
  const GNode& v = g[operand];
  const bool view = alone(v) && v.node->kind == NodeKind::View && v.map;
  const GNode& copy = g[view ? v.in[0] : operand];
  if (!copies(copy) || !alone(copy)) return {};
  const Ref<Node>& from = copy.node->inputs[0];
  if (!view) return from;
  const Dims& step = *shown(from).strides;
  Dims strides(v.node->shape.size());
  std::int64_t further = 0;
  for (int d = 0; d < step.size(); ++d) {
    further += v.map->start[d] * step[d];
    if (const auto j = static_cast<int>(v.map->from[d]); j >= 0)
      strides[j] = v.map->step[d] * step[d];
  }
  return view_of(from, v.node->shape, strides, further);
}

}  // namespace

std::vector<Graph::Instead> read_through_copies(const Graph& g) {
  std::vector<Graph::Instead> found;
  for (const GNode& n : g.nodes) {
    const bool multiplies = !n.leaf && n.node->kind == NodeKind::MatMul && !n.node->axes.empty();
    if (!multiplies && !copies(n)) continue;
    Ref<Node> in[2];
    for (const int k : {0, 1})
      if (n.in[k] >= 0) in[k] = copied(g, n.in[k]);
    if (!in[0] && !in[1]) continue;
    for (const int k : {0, 1})
      if (!in[k]) in[k] = n.node->inputs[k];
    if (!multiplies) {
      found.push_back({n.recorded, tracer::copy_instead(*n.node, in[0])});
      continue;
    }
    Ref<Node> p = tracer::product_instead(*n.node, in[0], in[1], n.node->axes);
    p->named = n.node->named;
    found.push_back({n.recorded, std::move(p)});
  }
  return found;
}

}  // namespace plait::fusion
