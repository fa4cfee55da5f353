// Memory of the application: borrowed, taken over, computed into.
#include <cstdint>
#include <memory>

#include "box.hpp"
#include "core/shape_limits.hpp"

namespace plait::detail {

namespace {

void check_memory(const char* function, const void* data, const Dims& shape, const Dims& strides,
                  DType t) {
  const auto unit = static_cast<std::int64_t>(itemsize(t));
  check_shape(shape, unit);
  if (element_count(shape) == 0) return;
  if (!data)
    throw ValueError(std::string(function) + ": the pointer is null, where " + to_string(shape) +
                     " elements are to be");
  const std::int64_t alignment = t >= DType::Complex64 ? unit / 2 : unit;
  bool aligned =
      reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(alignment) == 0;
  for (const std::int64_t s : strides) aligned = aligned && s % alignment == 0;
  if (!aligned)
    throw ValueError(std::string(function) + ": elements of " + std::string(name(t)) +
                     " have to lie at multiples of " + std::to_string(alignment) +
                     " bytes; copy them to memory that is aligned");
}

using Release = Callback<>;
void call(void* release) {
  const std::unique_ptr<Release> f(static_cast<Release*>(release));
  (*f)();
}

}  // namespace

Handle borrow(void* data, Span shape, Span byte_strides, dtype t, bool writeable,
              Callback<> release) {
  start();
  // Whatever goes wrong from here on, the memory is released: the caller gave it up.
  Ref<tracer::Lender> lender;
  if (release)
    lender = Ref<tracer::Lender>(new tracer::Lender(call, new Release(std::move(release))));
  const Dims d = dims(shape);
  Dims strides = contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t))));
  if (byte_strides.data) {
    if (byte_strides.size != shape.size)
      throw ValueError("adapt: strides and shape differ in length");
    strides = dims(byte_strides);
  }
  check_memory("adapt", data, d, strides, core(t));
  Handle h = wrap(tracer::borrow(data, core(t), d, strides, writeable, lender));
  h.get()->lease = Ref<Lease>(new Lease);
  h.get()->lease->array = unwrap(h);
  return h;
}

Handle take_over(void* data, Span shape, dtype t, Callback<> release) {
  auto owner = std::make_unique<Release>(std::move(release));
  struct Guard {
    std::unique_ptr<Release>& owner;
    ~Guard() {
      if (owner) (*owner)();
    }
  } const guard{owner};
  start();
  const OnHost host;
  const Dims d = dims(shape);
  const Dims strides = contiguous_strides(d, static_cast<std::int64_t>(itemsize(core(t))));
  check_memory("adopt", data, d, strides, core(t));
  const auto bytes = static_cast<std::size_t>(element_count(d)) * itemsize(core(t));
  Ref<Buffer> memory = plait::adopt(data, bytes, true, call, owner.get());
  owner.release();
  memory->watched = false;  // nobody else's from now on
  return host.placed(wrap(tracer::from_buffer(std::move(memory), core(t), d, strides, 0)));
}

void compute_into(Handle a, void* out) {
  const tracer::Array& from = unwrap(a);
  const DType t = from.dtype;
  const Dims strides = contiguous_strides(from.shape, static_cast<std::int64_t>(itemsize(t)));
  check_memory("eval_into", out, from.shape, strides, t);
  if (from.size() == 0) return;
  const tracer::Array target = tracer::borrow(out, t, from.shape, strides, true);
  const auto finish = [&] { tracer::end_borrow(std::span(&target, 1), tracer::Leftover::Pending); };
  try {
    tracer::assign(target, tracer::Operand(from));
    a = Handle();  // a value that nobody else holds is stored in `out` alone
    tracer::evaluate(target);
  } catch (...) {
    tracer::drop_writes(target);  // not to be done later, when the memory may be gone
    finish();
    throw;
  }
  finish();
}

}  // namespace plait::detail
