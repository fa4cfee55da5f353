// Creation. Every array starts here, so this is where the engine is started.
#include "box.hpp"

namespace plait::detail {

namespace {

Dims checked(Span shape) {
  for (int i = 0; i < shape.size; ++i)
    if (shape.data[i] < 0) throw ValueError("negative dimensions are not allowed");
  if (shape.size > kMaxDims)
    throw ValueError("maximum supported dimension for an ndarray is 64, found " +
                     std::to_string(shape.size));
  return dims(shape);
}

}  // namespace

Handle empty(Span shape, dtype t) {
  start();
  return wrap(tracer::empty(checked(shape), core(t)));
}
Handle full(Span shape, const Value& v) {
  start();
  return wrap(tracer::full(checked(shape), to_scalar(v)));
}
Handle from_values(const void* values, Span shape, dtype t) {
  start();
  const Dims d = checked(shape);
  const std::size_t bytes = static_cast<std::size_t>(element_count(d)) * itemsize(core(t));
  Ref<Buffer> buffer = allocate(bytes);
  if (bytes) std::memcpy(buffer->data, values, bytes);
  return wrap(tracer::placed(
      tracer::from_buffer(std::move(buffer), core(t), d,
                          contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t)))), 0)));
}

Handle borrow(void* data, Span shape, Span byte_strides, dtype t, bool writeable) {
  start();
  const Dims d = checked(shape);
  Dims strides = contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t))));
  if (byte_strides.data) {
    if (byte_strides.size != shape.size)
      throw ValueError("adapt: strides and shape differ in length");
    strides = dims(byte_strides);
  }
  Handle h = wrap(tracer::borrow(data, core(t), d, strides, writeable));
  h.get()->lease = Ref<Lease>(new Lease);
  h.get()->lease->array = unwrap(h);
  return h;
}

}  // namespace plait::detail
