// Comparison within tolerances, rounding, and values in place of others: the sequences of
// numpy/_core/numeric.py, fromnumeric.py and lib/_type_check_impl.py.
#include <cmath>
#include <limits>

#include "record.hpp"

namespace plait::numpy {
namespace {

// The greatest finite value of the real type of `t`.
double greatest(DType t) {
  if (t == DType::Float16) return 65504;
  if (t == DType::Float32 || t == DType::Complex64) return std::numeric_limits<float>::max();
  return std::numeric_limits<double>::max();
}

Array nan_to_num_real(const Array& a, double nan, std::optional<double> posinf,
                      std::optional<double> neginf) {
  const Operand infinity = weak(std::numeric_limits<double>::infinity());
  const Operand minus_infinity = weak(-std::numeric_limits<double>::infinity());
  Array x = call(OpId::Where, call(OpId::Isnan, a), weak(nan), a);
  x = call(OpId::Where, call(OpId::Equal, a, infinity), weak(posinf.value_or(greatest(a.dtype))),
           x);
  return call(OpId::Where, call(OpId::Equal, a, minus_infinity),
              weak(neginf.value_or(-greatest(a.dtype))), x);
}

// f of the real and of the imaginary part.
template <class F>
Array by_parts(const Array& a, F f) {
  const Array result = tracer::empty(a.shape, a.dtype);
  tracer::assign(tracer::real(result), f(tracer::real(a)));
  tracer::assign(tracer::imag(result), f(tracer::imag(a)));
  return result;
}

}  // namespace

Array isclose(const Array& a, const Array& b, const Tolerance& t) {
  const Array y = as(b, is_exact(b.dtype) ? DType::Float64 : b.dtype);  // result_type(b, 1.0)
  const Array bound = call(OpId::Add, weak(t.absolute),
                           call(OpId::Multiply, weak(t.relative), call(OpId::Absolute, y)));
  const Array near = call(OpId::LessEqual, call(OpId::Absolute, call(OpId::Subtract, a, y)), bound);
  Array close = call(OpId::BitwiseOr, call(OpId::BitwiseAnd, near, call(OpId::Isfinite, y)),
                     call(OpId::Equal, a, y));
  if (t.equal_nan)
    close = call(OpId::BitwiseOr, close,
                 call(OpId::BitwiseAnd, call(OpId::Isnan, a), call(OpId::Isnan, y)));
  return close;
}

bool allclose(const Array& a, const Array& b, const Tolerance& t) {
  return tracer::item(all(isclose(a, b, t)), {}).as<bool>();
}

bool array_equal(const Array& a, const Array& b, bool equal_nan) {
  if (a.shape != b.shape) return false;
  Array same = call(OpId::Equal, a, b);
  if (equal_nan && !is_exact(a.dtype) && !is_exact(b.dtype))
    same = call(OpId::BitwiseOr, same,
                call(OpId::BitwiseAnd, call(OpId::Isnan, a), call(OpId::Isnan, b)));
  return tracer::item(all(same), {}).as<bool>();
}

Array round(const Array& a, std::int64_t decimals) {
  if (is_complex(a.dtype))
    return by_parts(a, [decimals](const Array& part) { return round(part, decimals); });
  if (is_exact(a.dtype) && decimals >= 0) return tracer::copy(a);
  if (decimals == 0) return call(OpId::Rint, a);
  const OpId scale = decimals > 0 ? OpId::Multiply : OpId::Divide;
  const OpId back = decimals > 0 ? OpId::Divide : OpId::Multiply;
  const Operand unit = weak(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  return as(call(back, call(OpId::Rint, call(scale, a, unit)), unit), a.dtype);
}

Array angle(const Array& a, bool degrees) {
  const Array radians = call(OpId::Arctan2, tracer::imag(a), tracer::real(a));
  return degrees ? call(OpId::Multiply, radians, weak(180 / M_PI)) : radians;
}

Array nan_to_num(const Array& a, double nan, std::optional<double> posinf,
                 std::optional<double> neginf) {
  if (is_exact(a.dtype)) return tracer::copy(a);
  const auto real_part = [&](const Array& x) { return nan_to_num_real(x, nan, posinf, neginf); };
  return is_complex(a.dtype) ? by_parts(a, real_part) : real_part(a);
}

}  // namespace plait::numpy
