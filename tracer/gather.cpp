// Elements at computed places.
#include "core/shape_limits.hpp"
#include "graph.hpp"

namespace plait::tracer {

Array gather(const Array& source, const Array& at, std::int64_t step, const Dims& strides) {
  const Lock held = hold();
  bound_graph();
  check_shape(source.shape, static_cast<std::int64_t>(itemsize(source.dtype)));
  const bool eager = reads_export(source) || reads_export(at);
  Ref<Node> n = take_node(NodeKind::Gather);
  n->dtype = source.dtype;
  n->shape = source.shape;
  n->strides = strides;
  n->offset = source.offset + source.storage->base;
  n->step = step;
  n->view_strides = source.strides;
  n->n_inputs = 2;
  n->inputs[0] = source.storage->version;
  n->inputs[1] = node_of(at);
  const Array made = wrap(record(std::move(n)));
  finish(made, eager);
  return made;
}

}  // namespace plait::tracer
