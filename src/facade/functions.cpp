// Reductions, products and the functions that numpy_compat composes.
#include "numpy_compat/functions.hpp"

#include <vector>

#include "box.hpp"

namespace plait::detail {

namespace {
tracer::Array reduced(reduction r, const tracer::Array& x, const tracer::ReduceOptions& o,
                      double ddof) {
  switch (r) {
    case reduction::sum:
      return numpy::sum(x, o);
    case reduction::prod:
      return numpy::prod(x, o);
    case reduction::min:
      return numpy::min(x, o);
    case reduction::max:
      return numpy::max(x, o);
    case reduction::argmin:
      return numpy::argmin(x, o);
    case reduction::argmax:
      return numpy::argmax(x, o);
    case reduction::any:
      return numpy::any(x, o);
    case reduction::all:
      return numpy::all(x, o);
    case reduction::mean:
      return numpy::mean(x, o);
    case reduction::var:
      return numpy::var(x, o, ddof);
    case reduction::std:
      return numpy::std(x, o, ddof);
    case reduction::ptp:
      return numpy::ptp(x, o);
    case reduction::count_nonzero:
      return numpy::count_nonzero(x, o);
  }
  throw InternalError("unknown reduction");
}
}  // namespace

Handle reduce(reduction r, const Handle& a, const Span* axes, bool keepdims, double ddof) {
  tracer::ReduceOptions o;
  if (axes) o.axes.emplace(axes->data, axes->data + axes->size);
  o.keepdims = keepdims;
  return wrap_made([&] { return reduced(r, unwrap(a), o, ddof); });
}

Handle norm(const Handle& a, const Span* axes, const double* order, bool keepdims) {
  return wrap(numpy::norm(unwrap(a), order ? numpy::NormOrder(*order) : numpy::NormOrder(),
                          optional_dims(axes), keepdims));
}

Handle matmul(const Handle& a, const Handle& b) {
  return wrap(tracer::matmul(unwrap(a), unwrap(b)));
}
Handle dot(const Handle& a, const Handle& b) { return wrap(numpy::dot(unwrap(a), unwrap(b))); }
Handle outer_product(const Handle& a, const Handle& b) {
  return wrap(numpy::outer(unwrap(a), unwrap(b)));
}

Handle linspace(double first, double last, std::int64_t n, bool endpoint, dtype t) {
  start();
  return wrap(numpy::linspace(first, last, n, endpoint, core(t)));
}
Handle eye(std::int64_t rows, std::int64_t columns, std::int64_t k, dtype t) {
  start();
  return wrap(numpy::eye(rows, columns, k, core(t)));
}
Handle arange(const Value& first, const Value& stop, const Value& step) {
  start();
  return wrap(numpy::arange(to_scalar(first), to_scalar(stop), to_scalar(step), core(first.type)));
}
Handle triangle(const Handle& a, std::int64_t k, bool lower) {
  return wrap(lower ? numpy::tril(unwrap(a), k) : numpy::triu(unwrap(a), k));
}

Handle join(const Handle* arrays, int n, std::int64_t axis, bool new_axis) {
  std::vector<tracer::Array> list;
  for (int i = 0; i < n; ++i) list.push_back(unwrap(arrays[i]));
  return wrap(new_axis ? numpy::stack(list, axis) : numpy::concatenate(list, axis));
}
Handle tile(const Handle& a, Span reps) { return wrap(numpy::tile(unwrap(a), dims(reps))); }
Handle repeat(const Handle& a, std::int64_t n, std::int64_t axis) {
  return wrap(numpy::repeat(unwrap(a), n, axis));
}
Handle roll(const Handle& a, Span shifts, const Span* axes) {
  return wrap(numpy::roll(unwrap(a), dims(shifts), optional_dims(axes)));
}
Handle diff(const Handle& a, std::int64_t n, std::int64_t axis) {
  return wrap(numpy::diff(unwrap(a), n, axis));
}

}  // namespace plait::detail
