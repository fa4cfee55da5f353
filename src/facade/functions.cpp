// Reductions, products and the functions that numpy_compat composes.
#include "numpy_compat/functions.hpp"

#include <vector>

#include "plait/reduce.hpp"
#include "small.hpp"

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
    case reduction::nansum:
      return numpy::nansum(x, o);
    case reduction::nanprod:
      return numpy::nanprod(x, o);
    case reduction::nanmin:
      return numpy::nanmin(x, o);
    case reduction::nanmax:
      return numpy::nanmax(x, o);
    case reduction::nanmean:
      return numpy::nanmean(x, o);
    case reduction::nanvar:
      return numpy::nanvar(x, o, ddof);
    case reduction::nanstd:
      return numpy::nanstd(x, o, ddof);
  }
  throw InternalError("unknown reduction");
}
}  // namespace

Handle reduce(reduction r, const Handle& a, const Span* axes, bool keepdims, double ddof) {
  if (a) unwrap(a);  // reads selections: not under the lock
  if (r == reduction::sum && !axes && !keepdims) {
    const std::lock_guard held(tracer::lock());
    if (Handle h = small_sum(a)) return h;
  }
  tracer::ReduceOptions o;
  if (axes) o.axes.emplace(axes->data, axes->data + axes->size);
  o.keepdims = keepdims;
  constexpr const char* names[] = {"sum",    "prod",   "amin",          "amax",   "argmin",
                                   "argmax", "any",    "all",           "mean",   "var",
                                   "stddev", "ptp",    "count_nonzero", "nansum", "nanprod",
                                   "nanmin", "nanmax", "nanmean",       "nanvar", "nanstd"};
  return named(names[static_cast<int>(r)],
               [&] { return wrap_made([&] { return reduced(r, unwrap(a), o, ddof); }); });
}

Handle norm(const Handle& a, const Span* axes, const double* order, bool keepdims) {
  return made("linalg::norm", [&] {
    return numpy::norm(unwrap(a), order ? numpy::NormOrder(*order) : numpy::NormOrder(),
                       optional_dims(axes), keepdims);
  });
}

Handle multiply(product p, const Handle& a, const Handle& b) {
  constexpr numpy::Array (*functions[])(const numpy::Array&, const numpy::Array&) = {
      [](const numpy::Array& x, const numpy::Array& y) { return tracer::matmul(x, y); },
      numpy::dot,
      numpy::vdot,
      numpy::inner,
      numpy::outer,
      numpy::kron};
  constexpr const char* names[] = {"matmul", "dot", "vdot", "inner", "outer", "kron"};
  return made(names[static_cast<int>(p)],
              [&] { return functions[static_cast<int>(p)](unwrap(a), unwrap(b)); });
}
Handle tensordot(const Handle& a, const Handle& b, Span axes_a, Span axes_b) {
  return made("tensordot",
              [&] { return numpy::tensordot(unwrap(a), unwrap(b), dims(axes_a), dims(axes_b)); });
}
Handle vecdot(const Handle& a, const Handle& b, std::int64_t axis) {
  return made("vecdot", [&] { return numpy::vecdot(unwrap(a), unwrap(b), axis); });
}
Handle cross(const Handle& a, const Handle& b, std::int64_t axis) {
  return made("cross", [&] { return numpy::cross(unwrap(a), unwrap(b), axis, axis, axis); });
}
Handle trace(const Handle& a, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  return made("trace", [&] { return numpy::trace(unwrap(a), offset, axis1, axis2); });
}

Handle average(const Handle& a, const Handle& weights, const Span* axes, bool keepdims) {
  tracer::ReduceOptions o;
  o.axes = optional_dims(axes);
  o.keepdims = keepdims;
  return made("average", [&] { return numpy::average(unwrap(a), unwrap(weights), o); });
}
Handle trapezoid(const Handle& y, const Handle* x, double dx, std::int64_t axis) {
  return made("trapezoid", [&] {
    return x ? numpy::trapezoid(unwrap(y), unwrap(*x), axis)
             : numpy::trapezoid(unwrap(y), tracer::Operand(scalar_float(dx), Weak::Float), axis);
  });
}
Handle gradient(const Handle& a, double spacing, std::int64_t axis, int edge_order) {
  return made("gradient", [&] { return numpy::gradient(unwrap(a), spacing, axis, edge_order); });
}
Handle gradient_at(const Handle& a, const Handle& x, std::int64_t axis, int edge_order) {
  return made("gradient", [&] { return numpy::gradient(unwrap(a), unwrap(x), axis, edge_order); });
}

namespace {
numpy::Tolerance core(const Tolerance& t) { return {t.relative, t.absolute, t.equal_nan}; }
std::optional<double> optional(const double* v) {
  return v ? std::optional<double>(*v) : std::nullopt;
}
}  // namespace
Handle isclose(const Handle& a, const Handle& b, const Tolerance& t) {
  return made("isclose", [&] { return numpy::isclose(unwrap(a), unwrap(b), core(t)); });
}
bool allclose(const Handle& a, const Handle& b, const Tolerance& t) {
  return named("allclose", [&] { return numpy::allclose(unwrap(a), unwrap(b), core(t)); });
}
bool array_equal(const Handle& a, const Handle& b, bool equal_nan) {
  return numpy::array_equal(unwrap(a), unwrap(b), equal_nan);
}
Handle round(const Handle& a, std::int64_t decimals) {
  return made("round", [&] { return numpy::round(unwrap(a), decimals); });
}
Handle angle(const Handle& a, bool degrees) {
  return made("angle", [&] { return numpy::angle(unwrap(a), degrees); });
}
Handle nan_to_num(const Handle& a, double nan, const double* posinf, const double* neginf) {
  return made("nan_to_num", [&] {
    return numpy::nan_to_num(unwrap(a), nan, optional(posinf), optional(neginf));
  });
}

}  // namespace plait::detail
