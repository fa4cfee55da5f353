#include "rewrites.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

bool alone(const GNode& g) { return !g.leaf && !g.wanted && !g.held && g.uses == 1; }

Shown shown(const Ref<Node>& n) {
  return n->kind == NodeKind::View ? Shown{n->inputs[0].get(), n->offset, &n->strides}
                                   : Shown{n.get(), 0, &n->strides};
}

Ref<Node> view_of(const Ref<Node>& n, const Dims& shape, const Dims& strides) {
  const Shown s = shown(n);
  bool whole = s.offset == 0 && s.base->dtype == n->dtype && s.base->shape == shape;
  for (int d = 0; whole && d < shape.size(); ++d)
    whole = shape[d] == 1 || s.base->strides[d] == strides[d];
  if (whole) return Ref<Node>(s.base);
  Ref<Node> v = tracer::new_node(NodeKind::View);
  v->dtype = n->dtype;
  v->shape = shape;
  v->strides = strides;
  v->offset = s.offset;
  v->n_inputs = 1;
  v->inputs[0] = Ref<Node>(s.base);
  return v;
}

}  // namespace plait::fusion
