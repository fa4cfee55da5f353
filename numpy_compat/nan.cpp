// Reductions that leave NaNs out: the sequences of numpy/lib/_nanfunctions_impl.py.
#include "record.hpp"

namespace plait::numpy {
namespace {

// A number that is written into an array: where() would make bfloat16 and a number float64.
Operand like(const Array& a, double value) { return strong(cast(scalar_float(value), a.dtype)); }

// NumPy's _replace_nan: the array with a value in place of its NaNs, and where they were.
struct Replaced {
  Array values, nan;
};
Replaced replace_nan(const Array& a, double value) {
  Replaced r{a, call(OpId::Isnan, a)};
  r.values = call(OpId::Where, r.nan, like(a, value), a);
  return r;
}

Array count(const Replaced& r, const ReduceOptions& o) {
  ReduceOptions c;
  c.axes = o.axes;
  c.keepdims = o.keepdims;
  c.dtype = DType::Int64;
  return sum(call(OpId::LogicalNot, r.nan), c);
}
// Rounded to the dtype of the dividend, as NumPy's division in place does.
Array divide_by_count(const Array& a, const Array& n) {
  return as(call(OpId::Divide, a, n), a.dtype);
}

Array extremum(ReduceKind kind, const Array& a, const ReduceOptions& o) {
  return tracer::reduce(kind, a, o);
}

}  // namespace

Array nansum(const Array& a, const ReduceOptions& o) {
  return sum(is_exact(a.dtype) ? a : replace_nan(a, 0).values, o);
}
Array nanprod(const Array& a, const ReduceOptions& o) {
  return prod(is_exact(a.dtype) ? a : replace_nan(a, 1).values, o);
}
Array nanmin(const Array& a, const ReduceOptions& o) { return extremum(ReduceKind::FMin, a, o); }
Array nanmax(const Array& a, const ReduceOptions& o) { return extremum(ReduceKind::FMax, a, o); }

Array nanmean(const Array& a, const ReduceOptions& o) {
  if (is_exact(a.dtype)) return mean(a, o);
  const Replaced r = replace_nan(a, 0);
  return divide_by_count(sum(r.values, o), count(r, o));
}

Array nanvar(const Array& a, const ReduceOptions& o, double ddof) {
  if (is_exact(a.dtype)) return var(a, o, ddof);
  const Replaced r = replace_nan(a, 0);
  ReduceOptions kept = o;
  kept.keepdims = true;
  const Array centre = divide_by_count(sum(r.values, kept), count(r, kept));
  const Array apart = call(OpId::Subtract, r.values, centre);
  const Array x = call(OpId::Where, r.nan, like(apart, 0), apart);
  const Array squares = is_complex(x.dtype)
                            ? call(OpId::Real, call(OpId::Multiply, x, call(OpId::Conjugate, x)))
                            : call(OpId::Multiply, x, x);
  const Array freedom = call(OpId::Subtract, count(r, o), weak(ddof));
  const Array variance = divide_by_count(sum(squares, o), freedom);
  return call(OpId::Where, call(OpId::LessEqual, freedom, weak(0)),
              like(variance, std::numeric_limits<double>::quiet_NaN()), variance);
}
Array nanstd(const Array& a, const ReduceOptions& o, double ddof) {
  return call(OpId::Sqrt, nanvar(a, o, ddof));
}

}  // namespace plait::numpy
