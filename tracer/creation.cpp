#include <cstring>

#include "core/array_memory.hpp"
#include "core/shape_limits.hpp"
#include "elementwise.hpp"
#include "graph.hpp"

namespace plait::tracer {

namespace {

// NumPy's arange fills with the difference of its first two elements, rounding included.
Scalar range_step(const Scalar& start, const Scalar& step) {
  auto difference = [&]<class T>(T first, T by) {
    const T second = first + by;
    return Scalar::of(start.dtype, static_cast<T>(second - first));
  };
  if (start.dtype == DType::Float32) return difference(start.as<float>(), step.as<float>());
  if (start.dtype == DType::Float64) return difference(start.as<double>(), step.as<double>());
  return step;
}

}  // namespace

namespace {
// The rounds of a loop that write into an array each take its memory one after the other, when they
// are evaluated. What may be too large for memory fails at the call, unless the call is watched:
// what it writes into is no constant.
bool takes_memory_later(const Dims& shape, DType t) {
  constexpr std::int64_t kLittle = 16 << 10, kFits = 64 << 20;
  const std::int64_t bytes = element_count(shape) * item_bytes(t);
  if (!context().evaluator || current_device() != kHost || devices_in_use()) return false;
  return (bytes > kLittle && bytes <= kFits) || (capture() && bytes > 0);
}
}  // namespace

Array empty(const Dims& shape, DType t, char order) {
  const Lock held = hold();
  Array a = fresh_array(t, shape, dense_strides(shape, item_bytes(t), order));
  const bool later = takes_memory_later(shape, t);
  if (!later && current_device() == kHost) {
    give_memory(a);
    return a;
  }
  if (later) bound_graph();
  Ref<Node> n = take_node(later ? NodeKind::Empty : NodeKind::Data);
  n->dtype = t;
  n->shape = a.shape;
  n->strides = a.strides;
  if (!later) n->data = allocate_array(shape, t, current_device());
  make_storage(a, record(std::move(n)));
  return a;
}

Array full(const Dims& shape, const Scalar& value, char order) {
  const Lock held = hold();
  check_shape(shape, item_bytes(value.dtype));
  bound_graph();
  return wrap(fill_node(shape, dense_strides(shape, item_bytes(value.dtype), order), value,
                        current_device()));
}

Array arange(std::int64_t count, const Scalar& start, const Scalar& step) {
  const Lock held = hold();
  count = std::max<std::int64_t>(count, 0);
  check_shape(Dims{count}, item_bytes(start.dtype));
  bound_graph();
  Ref<Node> n = take_node(NodeKind::Iota);
  n->dtype = start.dtype;
  n->device = current_device();
  n->shape = Dims{count};
  n->strides = Dims{item_bytes(start.dtype)};
  n->n_inputs = 2;
  n->inputs[0] = scalar_node(start);
  n->inputs[1] = scalar_node(range_step(start, cast(step, start.dtype)));
  return wrap(record(std::move(n)));
}

Array from_buffer(Ref<Buffer> b, DType t, const Dims& shape, const Dims& strides,
                  std::int64_t offset) {
  const Lock held = hold();
  Ref<Node> n = take_node(NodeKind::Data);
  n->dtype = t;
  n->shape = shape;
  n->strides = strides;
  n->data = std::move(b);
  n->data_offset = offset;
  const bool writeable = n->data->writeable;
  Array a = wrap(record(std::move(n)));
  a.writeable = writeable;
  return a;
}

Array from_scalar(const Scalar& s) {
  // On the host: 0-D values mix with arrays of any device.
  Ref<Buffer> memory = allocate_array(Dims(), s.dtype, kHost);
  std::memcpy(memory->data, s.bytes, itemsize(s.dtype));
  return from_buffer(std::move(memory), s.dtype, Dims(), Dims(), 0);
}

}  // namespace plait::tracer
