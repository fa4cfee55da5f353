// Methods of functions of two operands. What no reduction computes is folded as NumPy does: each
// element after the one before.
#include "plait/ufunc.hpp"

#include "box.hpp"
#include "core/scatter.hpp"
#include "numpy_compat/record.hpp"
#include "tracer/calls.hpp"

namespace plait::detail {

namespace {
tracer::Array folded(OpId id, const tracer::Array& a, std::int64_t axis) {
  const OpInfo& info = op_info(id);
  const int along = numpy::normalize_axis(axis, a.ndim());
  if (const std::optional<ReduceKind> kind = kind_combining(id)) {
    tracer::ReduceOptions o;
    o.axes = Dims{along};
    return tracer::reduce(*kind, a, o);
  }
  const tracer::Array running = tracer::accumulate(id, a, along);
  if (const std::int64_t n = a.shape[along]; n > 0)
    return tracer::copy(numpy::take_at(running, along, n - 1));
  if (info.identity == kNoIdentity)
    throw ValueError("zero-size array to reduction operation " + std::string(info.name) +
                     " which has no identity");
  Dims shape = a.shape;
  shape.erase(along);
  return tracer::full(shape, cast(scalar_int(info.identity), running.dtype));
}
}  // namespace

Handle fold(fn f, const Handle& a, std::int64_t axis) {
  return made("reduce", [&] { return folded(op_of(f), unwrap(a), axis); });
}
Handle accumulate(fn f, const Handle& a, std::int64_t axis) {
  return made("accumulate", [&] { return tracer::accumulate(op_of(f), unwrap(a), axis); });
}
Handle reduceat(fn f, const Handle& a, const Handle& indices, std::int64_t axis) {
  return made("reduceat", [&] {
    const tracer::Array& at = unwrap(indices);
    if (!can_cast(at.dtype, DType::Int64, Casting::Safe))
      throw DTypeError("takes indices that int64 holds, not " + std::string(name(at.dtype)));
    return tracer::reduceat(op_of(f), unwrap(a), numpy::as(at, DType::Int64), axis);
  });
}

}  // namespace plait::detail
