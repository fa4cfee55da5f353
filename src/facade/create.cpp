// Creation. Every array starts here, so this is where the engine is started.
#include "box.hpp"
#include "core/array_memory.hpp"
#include "small.hpp"

namespace plait::detail {

Handle empty(Span shape, dtype t) {
  start();
  return wrap(tracer::empty(dims(shape), core(t)));
}
Handle full(Span shape, const Value& v) {
  start();
  const Scalar s = to_scalar(v);
  if (Handle h = small_filled(dims(shape), s.dtype, s.bytes, false)) return h;
  return wrap(tracer::full(dims(shape), s));
}
Handle from_values(const void* values, Span shape, dtype t) {
  start();
  const Dims d = dims(shape);
  if (Handle h = small_filled(d, core(t), values, true)) return h;
  const Dims strides = contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t))));
  Ref<Buffer> buffer = allocate_array(d, core(t));
  if (buffer->bytes) std::memcpy(buffer->data, values, buffer->bytes);
  return wrap(tracer::placed(tracer::from_buffer(std::move(buffer), core(t), d, strides, 0)));
}

}  // namespace plait::detail
