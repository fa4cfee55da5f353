// Creation. Every array starts here, so this is where the engine is started.
#include "box.hpp"
#include "core/array_memory.hpp"

namespace plait::detail {

Handle empty(Span shape, dtype t) {
  start();
  return wrap(tracer::empty(dims(shape), core(t)));
}
Handle full(Span shape, const Value& v) {
  start();
  return wrap(tracer::full(dims(shape), to_scalar(v)));
}
Handle from_values(const void* values, Span shape, dtype t) {
  start();
  const Dims d = dims(shape);
  const Dims strides = contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t))));
  Ref<Buffer> buffer = allocate_array(d, core(t));
  if (buffer->bytes) std::memcpy(buffer->data, values, buffer->bytes);
  return wrap(tracer::placed(tracer::from_buffer(std::move(buffer), core(t), d, strides, 0)));
}

}  // namespace plait::detail
