// NumPy's elementwise functions and the operators. Operands are arrays and C++ scalars, which
// broadcast; what they refuse does not compile, or is a DTypeError where dtypes are known at run
// time only. Written by scripts/cpp_functions.py from src/core/ops.def and descriptions.def.
#pragma once
#include "plait/array.hpp"

namespace plait {

/// The sum a + b; of bools, logical or.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.add: https://numpy.org/doc/stable/reference/generated/numpy.add.html
template <class A, class B, detail::if_operands<detail::fn::Add, A, B> = 0>
auto add(A&& a, B&& b) {
  return detail::apply<detail::fn::Add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Add, A, B>>
void add(A&& a, B&& b) = delete;

/// The difference a - b.
/// Takes numbers, but no bools, and gives the dtype that they promote to.
/// numpy.subtract: https://numpy.org/doc/stable/reference/generated/numpy.subtract.html
template <class A, class B, detail::if_operands<detail::fn::Subtract, A, B> = 0>
auto subtract(A&& a, B&& b) {
  return detail::apply<detail::fn::Subtract>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Subtract, A, B>>
void subtract(A&& a, B&& b) = delete;

/// The product a * b; of bools, logical and.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.multiply: https://numpy.org/doc/stable/reference/generated/numpy.multiply.html
template <class A, class B, detail::if_operands<detail::fn::Multiply, A, B> = 0>
auto multiply(A&& a, B&& b) {
  return detail::apply<detail::fn::Multiply>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Multiply, A, B>>
void multiply(A&& a, B&& b) = delete;

/// The quotient a / b, which is a floating-point number for integers, too.
/// Takes numbers, and gives the dtype that they promote to, float64 for integers.
/// numpy.divide: https://numpy.org/doc/stable/reference/generated/numpy.divide.html
template <class A, class B, detail::if_operands<detail::fn::Divide, A, B> = 0>
auto divide(A&& a, B&& b) {
  return detail::apply<detail::fn::Divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Divide, A, B>>
void divide(A&& a, B&& b) = delete;

/// The greatest integer that is not above a / b.
/// Takes real numbers, with bools as int8, and gives the dtype that they promote to.
/// numpy.floor_divide: https://numpy.org/doc/stable/reference/generated/numpy.floor_divide.html
template <class A, class B, detail::if_operands<detail::fn::FloorDivide, A, B> = 0>
auto floor_divide(A&& a, B&& b) {
  return detail::apply<detail::fn::FloorDivide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::FloorDivide, A, B>>
void floor_divide(A&& a, B&& b) = delete;

/// What remains of a after floor_divide(a, b), with the sign of b.
/// Takes real numbers, with bools as int8, and gives the dtype that they promote to.
/// numpy.remainder: https://numpy.org/doc/stable/reference/generated/numpy.remainder.html
template <class A, class B, detail::if_operands<detail::fn::Remainder, A, B> = 0>
auto remainder(A&& a, B&& b) {
  return detail::apply<detail::fn::Remainder>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Remainder, A, B>>
void remainder(A&& a, B&& b) = delete;

/// What remains of a after division by b, with the sign of a, as C's fmod.
/// Takes real numbers, with bools as int8, and gives the dtype that they promote to.
/// numpy.fmod: https://numpy.org/doc/stable/reference/generated/numpy.fmod.html
template <class A, class B, detail::if_operands<detail::fn::Fmod, A, B> = 0>
auto fmod(A&& a, B&& b) {
  return detail::apply<detail::fn::Fmod>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Fmod, A, B>>
void fmod(A&& a, B&& b) = delete;

/// a to the power of b; of integers, an integer.
/// Takes numbers, with bools as int8, and gives the dtype that they promote to.
/// numpy.power: https://numpy.org/doc/stable/reference/generated/numpy.power.html
template <class A, class B, detail::if_operands<detail::fn::Power, A, B> = 0>
auto power(A&& a, B&& b) {
  return detail::apply<detail::fn::Power>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Power, A, B>>
void power(A&& a, B&& b) = delete;

/// a to the power of b, in double precision at least.
/// Takes real and complex numbers, as float64 or complex128, and gives the dtype that they promote
/// to.
/// numpy.float_power: https://numpy.org/doc/stable/reference/generated/numpy.float_power.html
template <class A, class B, detail::if_operands<detail::fn::FloatPower, A, B> = 0>
auto float_power(A&& a, B&& b) {
  return detail::apply<detail::fn::FloatPower>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::FloatPower, A, B>>
void float_power(A&& a, B&& b) = delete;

/// -a.
/// Takes numbers, but no bools, and gives that dtype.
/// numpy.negative: https://numpy.org/doc/stable/reference/generated/numpy.negative.html
template <class A, detail::if_operands<detail::fn::Negative, A> = 0>
auto negative(A&& a) {
  return detail::apply<detail::fn::Negative>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Negative, A>>
void negative(A&& a) = delete;

/// +a: the same numbers.
/// Takes numbers, but no bools, and gives that dtype.
/// numpy.positive: https://numpy.org/doc/stable/reference/generated/numpy.positive.html
template <class A, detail::if_operands<detail::fn::Positive, A> = 0>
auto positive(A&& a) {
  return detail::apply<detail::fn::Positive>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Positive, A>>
void positive(A&& a) = delete;

/// The absolute value; of complex numbers, the modulus.
/// Takes every dtype, and gives that dtype, or the real one of complex numbers.
/// numpy.absolute: https://numpy.org/doc/stable/reference/generated/numpy.absolute.html
template <class A, detail::if_operands<detail::fn::Absolute, A> = 0>
auto absolute(A&& a) {
  return detail::apply<detail::fn::Absolute>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Absolute, A>>
void absolute(A&& a) = delete;

/// The absolute value as a floating-point number.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.fabs: https://numpy.org/doc/stable/reference/generated/numpy.fabs.html
template <class A, detail::if_operands<detail::fn::Fabs, A> = 0>
auto fabs(A&& a) {
  return detail::apply<detail::fn::Fabs>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Fabs, A>>
void fabs(A&& a) = delete;

/// -1, 0 or 1 by the sign; of complex numbers, a / abs(a).
/// Takes numbers, but no bools, and gives that dtype.
/// numpy.sign: https://numpy.org/doc/stable/reference/generated/numpy.sign.html
template <class A, detail::if_operands<detail::fn::Sign, A> = 0>
auto sign(A&& a) {
  return detail::apply<detail::fn::Sign>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Sign, A>>
void sign(A&& a) = delete;

/// The square root that is not negative; NaN of negative real numbers.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.sqrt: https://numpy.org/doc/stable/reference/generated/numpy.sqrt.html
template <class A, detail::if_operands<detail::fn::Sqrt, A> = 0>
auto sqrt(A&& a) {
  return detail::apply<detail::fn::Sqrt>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Sqrt, A>>
void sqrt(A&& a) = delete;

/// The cube root.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.cbrt: https://numpy.org/doc/stable/reference/generated/numpy.cbrt.html
template <class A, detail::if_operands<detail::fn::Cbrt, A> = 0>
auto cbrt(A&& a) {
  return detail::apply<detail::fn::Cbrt>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Cbrt, A>>
void cbrt(A&& a) = delete;

/// a * a.
/// Takes numbers, with bools as int8, and gives that dtype.
/// numpy.square: https://numpy.org/doc/stable/reference/generated/numpy.square.html
template <class A, detail::if_operands<detail::fn::Square, A> = 0>
auto square(A&& a) {
  return detail::apply<detail::fn::Square>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Square, A>>
void square(A&& a) = delete;

/// 1 / a; of integers, an integer.
/// Takes numbers, with bools as int8, and gives that dtype.
/// numpy.reciprocal: https://numpy.org/doc/stable/reference/generated/numpy.reciprocal.html
template <class A, detail::if_operands<detail::fn::Reciprocal, A> = 0>
auto reciprocal(A&& a) {
  return detail::apply<detail::fn::Reciprocal>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Reciprocal, A>>
void reciprocal(A&& a) = delete;

/// The complex conjugate.
/// Takes numbers, with bools as int8, and gives that dtype.
/// numpy.conjugate: https://numpy.org/doc/stable/reference/generated/numpy.conjugate.html
template <class A, detail::if_operands<detail::fn::Conjugate, A> = 0>
auto conjugate(A&& a) {
  return detail::apply<detail::fn::Conjugate>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Conjugate, A>>
void conjugate(A&& a) = delete;

/// e to the power of a.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.exp: https://numpy.org/doc/stable/reference/generated/numpy.exp.html
template <class A, detail::if_operands<detail::fn::Exp, A> = 0>
auto exp(A&& a) {
  return detail::apply<detail::fn::Exp>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Exp, A>>
void exp(A&& a) = delete;

/// 2 to the power of a.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.exp2: https://numpy.org/doc/stable/reference/generated/numpy.exp2.html
template <class A, detail::if_operands<detail::fn::Exp2, A> = 0>
auto exp2(A&& a) {
  return detail::apply<detail::fn::Exp2>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Exp2, A>>
void exp2(A&& a) = delete;

/// exp(a) - 1, precise for small a, too.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.expm1: https://numpy.org/doc/stable/reference/generated/numpy.expm1.html
template <class A, detail::if_operands<detail::fn::Expm1, A> = 0>
auto expm1(A&& a) {
  return detail::apply<detail::fn::Expm1>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Expm1, A>>
void expm1(A&& a) = delete;

/// The natural logarithm; NaN of negative real numbers.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.log: https://numpy.org/doc/stable/reference/generated/numpy.log.html
template <class A, detail::if_operands<detail::fn::Log, A> = 0>
auto log(A&& a) {
  return detail::apply<detail::fn::Log>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Log, A>>
void log(A&& a) = delete;

/// The logarithm to base 2.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.log2: https://numpy.org/doc/stable/reference/generated/numpy.log2.html
template <class A, detail::if_operands<detail::fn::Log2, A> = 0>
auto log2(A&& a) {
  return detail::apply<detail::fn::Log2>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Log2, A>>
void log2(A&& a) = delete;

/// The logarithm to base 10.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.log10: https://numpy.org/doc/stable/reference/generated/numpy.log10.html
template <class A, detail::if_operands<detail::fn::Log10, A> = 0>
auto log10(A&& a) {
  return detail::apply<detail::fn::Log10>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Log10, A>>
void log10(A&& a) = delete;

/// log(1 + a), precise for small a, too.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.log1p: https://numpy.org/doc/stable/reference/generated/numpy.log1p.html
template <class A, detail::if_operands<detail::fn::Log1p, A> = 0>
auto log1p(A&& a) {
  return detail::apply<detail::fn::Log1p>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Log1p, A>>
void log1p(A&& a) = delete;

/// log(exp(a) + exp(b)), where the exponentials may overflow.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.logaddexp: https://numpy.org/doc/stable/reference/generated/numpy.logaddexp.html
template <class A, class B, detail::if_operands<detail::fn::Logaddexp, A, B> = 0>
auto logaddexp(A&& a, B&& b) {
  return detail::apply<detail::fn::Logaddexp>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Logaddexp, A, B>>
void logaddexp(A&& a, B&& b) = delete;

/// log2(2 ** a + 2 ** b), where the powers may overflow.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.logaddexp2: https://numpy.org/doc/stable/reference/generated/numpy.logaddexp2.html
template <class A, class B, detail::if_operands<detail::fn::Logaddexp2, A, B> = 0>
auto logaddexp2(A&& a, B&& b) {
  return detail::apply<detail::fn::Logaddexp2>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Logaddexp2, A, B>>
void logaddexp2(A&& a, B&& b) = delete;

/// The sine of an angle in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.sin: https://numpy.org/doc/stable/reference/generated/numpy.sin.html
template <class A, detail::if_operands<detail::fn::Sin, A> = 0>
auto sin(A&& a) {
  return detail::apply<detail::fn::Sin>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Sin, A>>
void sin(A&& a) = delete;

/// The cosine of an angle in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.cos: https://numpy.org/doc/stable/reference/generated/numpy.cos.html
template <class A, detail::if_operands<detail::fn::Cos, A> = 0>
auto cos(A&& a) {
  return detail::apply<detail::fn::Cos>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Cos, A>>
void cos(A&& a) = delete;

/// The tangent of an angle in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.tan: https://numpy.org/doc/stable/reference/generated/numpy.tan.html
template <class A, detail::if_operands<detail::fn::Tan, A> = 0>
auto tan(A&& a) {
  return detail::apply<detail::fn::Tan>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Tan, A>>
void tan(A&& a) = delete;

/// The inverse sine, in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arcsin: https://numpy.org/doc/stable/reference/generated/numpy.arcsin.html
template <class A, detail::if_operands<detail::fn::Arcsin, A> = 0>
auto arcsin(A&& a) {
  return detail::apply<detail::fn::Arcsin>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arcsin, A>>
void arcsin(A&& a) = delete;

/// The inverse cosine, in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arccos: https://numpy.org/doc/stable/reference/generated/numpy.arccos.html
template <class A, detail::if_operands<detail::fn::Arccos, A> = 0>
auto arccos(A&& a) {
  return detail::apply<detail::fn::Arccos>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arccos, A>>
void arccos(A&& a) = delete;

/// The inverse tangent, in radians.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arctan: https://numpy.org/doc/stable/reference/generated/numpy.arctan.html
template <class A, detail::if_operands<detail::fn::Arctan, A> = 0>
auto arctan(A&& a) {
  return detail::apply<detail::fn::Arctan>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arctan, A>>
void arctan(A&& a) = delete;

/// The angle of the point (x, y), in radians from -pi to pi.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.arctan2: https://numpy.org/doc/stable/reference/generated/numpy.arctan2.html
template <class A, class B, detail::if_operands<detail::fn::Arctan2, A, B> = 0>
auto arctan2(A&& y, B&& x) {
  return detail::apply<detail::fn::Arctan2>(std::forward<A>(y), std::forward<B>(x));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Arctan2, A, B>>
void arctan2(A&& y, B&& x) = delete;

/// sqrt(a * a + b * b), where the squares may overflow.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.hypot: https://numpy.org/doc/stable/reference/generated/numpy.hypot.html
template <class A, class B, detail::if_operands<detail::fn::Hypot, A, B> = 0>
auto hypot(A&& a, B&& b) {
  return detail::apply<detail::fn::Hypot>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Hypot, A, B>>
void hypot(A&& a, B&& b) = delete;

/// The hyperbolic sine.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.sinh: https://numpy.org/doc/stable/reference/generated/numpy.sinh.html
template <class A, detail::if_operands<detail::fn::Sinh, A> = 0>
auto sinh(A&& a) {
  return detail::apply<detail::fn::Sinh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Sinh, A>>
void sinh(A&& a) = delete;

/// The hyperbolic cosine.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.cosh: https://numpy.org/doc/stable/reference/generated/numpy.cosh.html
template <class A, detail::if_operands<detail::fn::Cosh, A> = 0>
auto cosh(A&& a) {
  return detail::apply<detail::fn::Cosh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Cosh, A>>
void cosh(A&& a) = delete;

/// The hyperbolic tangent.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.tanh: https://numpy.org/doc/stable/reference/generated/numpy.tanh.html
template <class A, detail::if_operands<detail::fn::Tanh, A> = 0>
auto tanh(A&& a) {
  return detail::apply<detail::fn::Tanh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Tanh, A>>
void tanh(A&& a) = delete;

/// The inverse hyperbolic sine.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arcsinh: https://numpy.org/doc/stable/reference/generated/numpy.arcsinh.html
template <class A, detail::if_operands<detail::fn::Arcsinh, A> = 0>
auto arcsinh(A&& a) {
  return detail::apply<detail::fn::Arcsinh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arcsinh, A>>
void arcsinh(A&& a) = delete;

/// The inverse hyperbolic cosine.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arccosh: https://numpy.org/doc/stable/reference/generated/numpy.arccosh.html
template <class A, detail::if_operands<detail::fn::Arccosh, A> = 0>
auto arccosh(A&& a) {
  return detail::apply<detail::fn::Arccosh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arccosh, A>>
void arccosh(A&& a) = delete;

/// The inverse hyperbolic tangent.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.arctanh: https://numpy.org/doc/stable/reference/generated/numpy.arctanh.html
template <class A, detail::if_operands<detail::fn::Arctanh, A> = 0>
auto arctanh(A&& a) {
  return detail::apply<detail::fn::Arctanh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arctanh, A>>
void arctanh(A&& a) = delete;

/// Radians as degrees.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.degrees: https://numpy.org/doc/stable/reference/generated/numpy.degrees.html
template <class A, detail::if_operands<detail::fn::Degrees, A> = 0>
auto degrees(A&& a) {
  return detail::apply<detail::fn::Degrees>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Degrees, A>>
void degrees(A&& a) = delete;

/// Degrees as radians.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.radians: https://numpy.org/doc/stable/reference/generated/numpy.radians.html
template <class A, detail::if_operands<detail::fn::Radians, A> = 0>
auto radians(A&& a) {
  return detail::apply<detail::fn::Radians>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Radians, A>>
void radians(A&& a) = delete;

/// Radians as degrees.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.rad2deg: https://numpy.org/doc/stable/reference/generated/numpy.rad2deg.html
template <class A, detail::if_operands<detail::fn::Rad2deg, A> = 0>
auto rad2deg(A&& a) {
  return detail::apply<detail::fn::Rad2deg>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Rad2deg, A>>
void rad2deg(A&& a) = delete;

/// Degrees as radians.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.deg2rad: https://numpy.org/doc/stable/reference/generated/numpy.deg2rad.html
template <class A, detail::if_operands<detail::fn::Deg2rad, A> = 0>
auto deg2rad(A&& a) {
  return detail::apply<detail::fn::Deg2rad>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Deg2rad, A>>
void deg2rad(A&& a) = delete;

/// The greatest integer that is not above a, in the dtype of a.
/// Takes bools and real numbers, and gives that dtype.
/// numpy.floor: https://numpy.org/doc/stable/reference/generated/numpy.floor.html
template <class A, detail::if_operands<detail::fn::Floor, A> = 0>
auto floor(A&& a) {
  return detail::apply<detail::fn::Floor>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Floor, A>>
void floor(A&& a) = delete;

/// The least integer that is not below a, in the dtype of a.
/// Takes bools and real numbers, and gives that dtype.
/// numpy.ceil: https://numpy.org/doc/stable/reference/generated/numpy.ceil.html
template <class A, detail::if_operands<detail::fn::Ceil, A> = 0>
auto ceil(A&& a) {
  return detail::apply<detail::fn::Ceil>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Ceil, A>>
void ceil(A&& a) = delete;

/// a without its fraction, in the dtype of a.
/// Takes bools and real numbers, and gives that dtype.
/// numpy.trunc: https://numpy.org/doc/stable/reference/generated/numpy.trunc.html
template <class A, detail::if_operands<detail::fn::Trunc, A> = 0>
auto trunc(A&& a) {
  return detail::apply<detail::fn::Trunc>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Trunc, A>>
void trunc(A&& a) = delete;

/// The nearest integer, half to even.
/// Takes real and complex numbers, with integers as floats, and gives that dtype.
/// numpy.rint: https://numpy.org/doc/stable/reference/generated/numpy.rint.html
template <class A, detail::if_operands<detail::fn::Rint, A> = 0>
auto rint(A&& a) {
  return detail::apply<detail::fn::Rint>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Rint, A>>
void rint(A&& a) = delete;

/// Whether a == b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.equal: https://numpy.org/doc/stable/reference/generated/numpy.equal.html
template <class A, class B, detail::if_operands<detail::fn::Equal, A, B> = 0>
auto equal(A&& a, B&& b) {
  return detail::apply<detail::fn::Equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Equal, A, B>>
void equal(A&& a, B&& b) = delete;

/// Whether a != b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.not_equal: https://numpy.org/doc/stable/reference/generated/numpy.not_equal.html
template <class A, class B, detail::if_operands<detail::fn::NotEqual, A, B> = 0>
auto not_equal(A&& a, B&& b) {
  return detail::apply<detail::fn::NotEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::NotEqual, A, B>>
void not_equal(A&& a, B&& b) = delete;

/// Whether a < b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.less: https://numpy.org/doc/stable/reference/generated/numpy.less.html
template <class A, class B, detail::if_operands<detail::fn::Less, A, B> = 0>
auto less(A&& a, B&& b) {
  return detail::apply<detail::fn::Less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Less, A, B>>
void less(A&& a, B&& b) = delete;

/// Whether a <= b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.less_equal: https://numpy.org/doc/stable/reference/generated/numpy.less_equal.html
template <class A, class B, detail::if_operands<detail::fn::LessEqual, A, B> = 0>
auto less_equal(A&& a, B&& b) {
  return detail::apply<detail::fn::LessEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LessEqual, A, B>>
void less_equal(A&& a, B&& b) = delete;

/// Whether a > b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.greater: https://numpy.org/doc/stable/reference/generated/numpy.greater.html
template <class A, class B, detail::if_operands<detail::fn::Greater, A, B> = 0>
auto greater(A&& a, B&& b) {
  return detail::apply<detail::fn::Greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Greater, A, B>>
void greater(A&& a, B&& b) = delete;

/// Whether a >= b, element by element.
/// Takes every dtype, and gives bools.
/// numpy.greater_equal: https://numpy.org/doc/stable/reference/generated/numpy.greater_equal.html
template <class A, class B, detail::if_operands<detail::fn::GreaterEqual, A, B> = 0>
auto greater_equal(A&& a, B&& b) {
  return detail::apply<detail::fn::GreaterEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::GreaterEqual, A, B>>
void greater_equal(A&& a, B&& b) = delete;

/// Whether both are true, which is what is not 0.
/// Takes every dtype, and gives bools.
/// numpy.logical_and: https://numpy.org/doc/stable/reference/generated/numpy.logical_and.html
template <class A, class B, detail::if_operands<detail::fn::LogicalAnd, A, B> = 0>
auto logical_and(A&& a, B&& b) {
  return detail::apply<detail::fn::LogicalAnd>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LogicalAnd, A, B>>
void logical_and(A&& a, B&& b) = delete;

/// Whether one at least is true, which is what is not 0.
/// Takes every dtype, and gives bools.
/// numpy.logical_or: https://numpy.org/doc/stable/reference/generated/numpy.logical_or.html
template <class A, class B, detail::if_operands<detail::fn::LogicalOr, A, B> = 0>
auto logical_or(A&& a, B&& b) {
  return detail::apply<detail::fn::LogicalOr>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LogicalOr, A, B>>
void logical_or(A&& a, B&& b) = delete;

/// Whether exactly one is true, which is what is not 0.
/// Takes every dtype, and gives bools.
/// numpy.logical_xor: https://numpy.org/doc/stable/reference/generated/numpy.logical_xor.html
template <class A, class B, detail::if_operands<detail::fn::LogicalXor, A, B> = 0>
auto logical_xor(A&& a, B&& b) {
  return detail::apply<detail::fn::LogicalXor>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LogicalXor, A, B>>
void logical_xor(A&& a, B&& b) = delete;

/// Whether a is 0.
/// Takes every dtype, and gives bools.
/// numpy.logical_not: https://numpy.org/doc/stable/reference/generated/numpy.logical_not.html
template <class A, detail::if_operands<detail::fn::LogicalNot, A> = 0>
auto logical_not(A&& a) {
  return detail::apply<detail::fn::LogicalNot>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::LogicalNot, A>>
void logical_not(A&& a) = delete;

/// Whether a is neither infinite nor NaN.
/// Takes every dtype, and gives bools.
/// numpy.isfinite: https://numpy.org/doc/stable/reference/generated/numpy.isfinite.html
template <class A, detail::if_operands<detail::fn::Isfinite, A> = 0>
auto isfinite(A&& a) {
  return detail::apply<detail::fn::Isfinite>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Isfinite, A>>
void isfinite(A&& a) = delete;

/// Whether a is infinite, of either sign.
/// Takes every dtype, and gives bools.
/// numpy.isinf: https://numpy.org/doc/stable/reference/generated/numpy.isinf.html
template <class A, detail::if_operands<detail::fn::Isinf, A> = 0>
auto isinf(A&& a) {
  return detail::apply<detail::fn::Isinf>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Isinf, A>>
void isinf(A&& a) = delete;

/// Whether a is NaN.
/// Takes every dtype, and gives bools.
/// numpy.isnan: https://numpy.org/doc/stable/reference/generated/numpy.isnan.html
template <class A, detail::if_operands<detail::fn::Isnan, A> = 0>
auto isnan(A&& a) {
  return detail::apply<detail::fn::Isnan>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Isnan, A>>
void isnan(A&& a) = delete;

/// Whether the sign bit is set, which it is of -0.0, too.
/// Takes real numbers, with integers as floats, and gives bools.
/// numpy.signbit: https://numpy.org/doc/stable/reference/generated/numpy.signbit.html
template <class A, detail::if_operands<detail::fn::Signbit, A> = 0>
auto signbit(A&& a) {
  return detail::apply<detail::fn::Signbit>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Signbit, A>>
void signbit(A&& a) = delete;

/// The bits that both have; of bools, logical and.
/// Takes bools and integers, and gives the dtype that they promote to.
/// numpy.bitwise_and: https://numpy.org/doc/stable/reference/generated/numpy.bitwise_and.html
template <class A, class B, detail::if_operands<detail::fn::BitwiseAnd, A, B> = 0>
auto bitwise_and(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseAnd>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseAnd, A, B>>
void bitwise_and(A&& a, B&& b) = delete;

/// The bits that one at least has; of bools, logical or.
/// Takes bools and integers, and gives the dtype that they promote to.
/// numpy.bitwise_or: https://numpy.org/doc/stable/reference/generated/numpy.bitwise_or.html
template <class A, class B, detail::if_operands<detail::fn::BitwiseOr, A, B> = 0>
auto bitwise_or(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseOr>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseOr, A, B>>
void bitwise_or(A&& a, B&& b) = delete;

/// The bits that exactly one has; of bools, logical exclusive or.
/// Takes bools and integers, and gives the dtype that they promote to.
/// numpy.bitwise_xor: https://numpy.org/doc/stable/reference/generated/numpy.bitwise_xor.html
template <class A, class B, detail::if_operands<detail::fn::BitwiseXor, A, B> = 0>
auto bitwise_xor(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseXor>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseXor, A, B>>
void bitwise_xor(A&& a, B&& b) = delete;

/// All bits the other way around; of bools, logical not.
/// Takes bools and integers, and gives that dtype.
/// numpy.invert: https://numpy.org/doc/stable/reference/generated/numpy.invert.html
template <class A, detail::if_operands<detail::fn::Invert, A> = 0>
auto invert(A&& a) {
  return detail::apply<detail::fn::Invert>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Invert, A>>
void invert(A&& a) = delete;

/// The bits of a moved b places up.
/// Takes integers, with bools as int8, and gives the dtype that they promote to.
/// numpy.left_shift: https://numpy.org/doc/stable/reference/generated/numpy.left_shift.html
template <class A, class B, detail::if_operands<detail::fn::LeftShift, A, B> = 0>
auto left_shift(A&& a, B&& b) {
  return detail::apply<detail::fn::LeftShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LeftShift, A, B>>
void left_shift(A&& a, B&& b) = delete;

/// The bits of a moved b places down; the sign stays.
/// Takes integers, with bools as int8, and gives the dtype that they promote to.
/// numpy.right_shift: https://numpy.org/doc/stable/reference/generated/numpy.right_shift.html
template <class A, class B, detail::if_operands<detail::fn::RightShift, A, B> = 0>
auto right_shift(A&& a, B&& b) {
  return detail::apply<detail::fn::RightShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::RightShift, A, B>>
void right_shift(A&& a, B&& b) = delete;

/// The greatest common divisor.
/// Takes integers, with bools as int8, and gives the dtype that they promote to.
/// numpy.gcd: https://numpy.org/doc/stable/reference/generated/numpy.gcd.html
template <class A, class B, detail::if_operands<detail::fn::Gcd, A, B> = 0>
auto gcd(A&& a, B&& b) {
  return detail::apply<detail::fn::Gcd>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Gcd, A, B>>
void gcd(A&& a, B&& b) = delete;

/// The least common multiple.
/// Takes integers, with bools as int8, and gives the dtype that they promote to.
/// numpy.lcm: https://numpy.org/doc/stable/reference/generated/numpy.lcm.html
template <class A, class B, detail::if_operands<detail::fn::Lcm, A, B> = 0>
auto lcm(A&& a, B&& b) {
  return detail::apply<detail::fn::Lcm>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Lcm, A, B>>
void lcm(A&& a, B&& b) = delete;

/// How many bits of abs(a) are set.
/// Takes integers, with bools as int8, and gives uint8.
/// numpy.bitwise_count: https://numpy.org/doc/stable/reference/generated/numpy.bitwise_count.html
template <class A, detail::if_operands<detail::fn::BitwiseCount, A> = 0>
auto bitwise_count(A&& a) {
  return detail::apply<detail::fn::BitwiseCount>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::BitwiseCount, A>>
void bitwise_count(A&& a) = delete;

/// The greater of both; NaN where one is.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.maximum: https://numpy.org/doc/stable/reference/generated/numpy.maximum.html
template <class A, class B, detail::if_operands<detail::fn::Maximum, A, B> = 0>
auto maximum(A&& a, B&& b) {
  return detail::apply<detail::fn::Maximum>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Maximum, A, B>>
void maximum(A&& a, B&& b) = delete;

/// The smaller of both; NaN where one is.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.minimum: https://numpy.org/doc/stable/reference/generated/numpy.minimum.html
template <class A, class B, detail::if_operands<detail::fn::Minimum, A, B> = 0>
auto minimum(A&& a, B&& b) {
  return detail::apply<detail::fn::Minimum>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Minimum, A, B>>
void minimum(A&& a, B&& b) = delete;

/// The greater of both; the other one where one is NaN.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.fmax: https://numpy.org/doc/stable/reference/generated/numpy.fmax.html
template <class A, class B, detail::if_operands<detail::fn::Fmax, A, B> = 0>
auto fmax(A&& a, B&& b) {
  return detail::apply<detail::fn::Fmax>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Fmax, A, B>>
void fmax(A&& a, B&& b) = delete;

/// The smaller of both; the other one where one is NaN.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.fmin: https://numpy.org/doc/stable/reference/generated/numpy.fmin.html
template <class A, class B, detail::if_operands<detail::fn::Fmin, A, B> = 0>
auto fmin(A&& a, B&& b) {
  return detail::apply<detail::fn::Fmin>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Fmin, A, B>>
void fmin(A&& a, B&& b) = delete;

/// a with the sign of b.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.copysign: https://numpy.org/doc/stable/reference/generated/numpy.copysign.html
template <class A, class B, detail::if_operands<detail::fn::Copysign, A, B> = 0>
auto copysign(A&& a, B&& b) {
  return detail::apply<detail::fn::Copysign>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Copysign, A, B>>
void copysign(A&& a, B&& b) = delete;

/// The next floating-point number after a towards b.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.nextafter: https://numpy.org/doc/stable/reference/generated/numpy.nextafter.html
template <class A, class B, detail::if_operands<detail::fn::Nextafter, A, B> = 0>
auto nextafter(A&& a, B&& b) {
  return detail::apply<detail::fn::Nextafter>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Nextafter, A, B>>
void nextafter(A&& a, B&& b) = delete;

/// The distance from a to the next floating-point number away from 0.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// numpy.spacing: https://numpy.org/doc/stable/reference/generated/numpy.spacing.html
template <class A, detail::if_operands<detail::fn::Spacing, A> = 0>
auto spacing(A&& a) {
  return detail::apply<detail::fn::Spacing>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Spacing, A>>
void spacing(A&& a) = delete;

/// 0 where a is negative, 1 where it is positive, b where it is 0.
/// Takes real numbers, with integers as floats, and gives the dtype that they promote to.
/// numpy.heaviside: https://numpy.org/doc/stable/reference/generated/numpy.heaviside.html
template <class A, class B, detail::if_operands<detail::fn::Heaviside, A, B> = 0>
auto heaviside(A&& a, B&& b) {
  return detail::apply<detail::fn::Heaviside>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Heaviside, A, B>>
void heaviside(A&& a, B&& b) = delete;

/// a where the condition is true, else b.
/// Takes bools as condition and every dtype, and gives the dtype that a and b promote to.
/// numpy.where: https://numpy.org/doc/stable/reference/generated/numpy.where.html
template <class A, class B, class C, detail::if_operands<detail::fn::Where, A, B, C> = 0>
auto where(A&& condition, B&& a, C&& b) {
  return detail::apply<detail::fn::Where>(std::forward<A>(condition), std::forward<B>(a),
                                          std::forward<C>(b));
}
template <class A, class B, class C, class Why = detail::if_refused<detail::fn::Where, A, B, C>>
void where(A&& condition, B&& a, C&& b) = delete;

/// a, but not below `low` nor above `high`; NaN stays.
/// Takes every dtype, and gives the dtype that they promote to.
/// numpy.clip: https://numpy.org/doc/stable/reference/generated/numpy.clip.html
template <class A, class B, class C, detail::if_operands<detail::fn::Clip, A, B, C> = 0>
auto clip(A&& a, B&& low, C&& high) {
  return detail::apply<detail::fn::Clip>(std::forward<A>(a), std::forward<B>(low),
                                         std::forward<C>(high));
}
template <class A, class B, class C, class Why = detail::if_refused<detail::fn::Clip, A, B, C>>
void clip(A&& a, B&& low, C&& high) = delete;

/// The error function.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// C++'s std::erf.
template <class A, detail::if_operands<detail::fn::Erf, A> = 0>
auto erf(A&& a) {
  return detail::apply<detail::fn::Erf>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Erf, A>>
void erf(A&& a) = delete;

/// 1 - erf(a), precise for great a, too.
/// Takes real numbers, with integers as floats, and gives that dtype.
/// C++'s std::erfc.
template <class A, detail::if_operands<detail::fn::Erfc, A> = 0>
auto erfc(A&& a) {
  return detail::apply<detail::fn::Erfc>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Erfc, A>>
void erfc(A&& a) = delete;

/// The absolute value; of complex numbers, the modulus.
/// Another name of absolute().
template <class A, detail::if_operands<detail::fn::Absolute, A> = 0>
auto abs(A&& a) {
  return detail::apply<detail::fn::Absolute>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Absolute, A>>
void abs(A&& a) = delete;

/// The complex conjugate.
/// Another name of conjugate().
template <class A, detail::if_operands<detail::fn::Conjugate, A> = 0>
auto conj(A&& a) {
  return detail::apply<detail::fn::Conjugate>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Conjugate, A>>
void conj(A&& a) = delete;

/// The inverse sine, in radians.
/// Another name of arcsin().
template <class A, detail::if_operands<detail::fn::Arcsin, A> = 0>
auto asin(A&& a) {
  return detail::apply<detail::fn::Arcsin>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arcsin, A>>
void asin(A&& a) = delete;

/// The inverse cosine, in radians.
/// Another name of arccos().
template <class A, detail::if_operands<detail::fn::Arccos, A> = 0>
auto acos(A&& a) {
  return detail::apply<detail::fn::Arccos>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arccos, A>>
void acos(A&& a) = delete;

/// The inverse tangent, in radians.
/// Another name of arctan().
template <class A, detail::if_operands<detail::fn::Arctan, A> = 0>
auto atan(A&& a) {
  return detail::apply<detail::fn::Arctan>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arctan, A>>
void atan(A&& a) = delete;

/// The inverse hyperbolic sine.
/// Another name of arcsinh().
template <class A, detail::if_operands<detail::fn::Arcsinh, A> = 0>
auto asinh(A&& a) {
  return detail::apply<detail::fn::Arcsinh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arcsinh, A>>
void asinh(A&& a) = delete;

/// The inverse hyperbolic cosine.
/// Another name of arccosh().
template <class A, detail::if_operands<detail::fn::Arccosh, A> = 0>
auto acosh(A&& a) {
  return detail::apply<detail::fn::Arccosh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arccosh, A>>
void acosh(A&& a) = delete;

/// The inverse hyperbolic tangent.
/// Another name of arctanh().
template <class A, detail::if_operands<detail::fn::Arctanh, A> = 0>
auto atanh(A&& a) {
  return detail::apply<detail::fn::Arctanh>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Arctanh, A>>
void atanh(A&& a) = delete;

/// All bits the other way around; of bools, logical not.
/// Another name of invert().
template <class A, detail::if_operands<detail::fn::Invert, A> = 0>
auto bitwise_not(A&& a) {
  return detail::apply<detail::fn::Invert>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Invert, A>>
void bitwise_not(A&& a) = delete;

/// The nearest integer, half to even.
/// Another name of rint().
template <class A, detail::if_operands<detail::fn::Rint, A> = 0>
auto nearbyint(A&& a) {
  return detail::apply<detail::fn::Rint>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Rint, A>>
void nearbyint(A&& a) = delete;

/// The angle of the point (x, y), in radians from -pi to pi.
/// Another name of arctan2().
template <class A, class B, detail::if_operands<detail::fn::Arctan2, A, B> = 0>
auto atan2(A&& y, B&& x) {
  return detail::apply<detail::fn::Arctan2>(std::forward<A>(y), std::forward<B>(x));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Arctan2, A, B>>
void atan2(A&& y, B&& x) = delete;

/// a to the power of b; of integers, an integer.
/// Another name of power().
template <class A, class B, detail::if_operands<detail::fn::Power, A, B> = 0>
auto pow(A&& a, B&& b) {
  return detail::apply<detail::fn::Power>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Power, A, B>>
void pow(A&& a, B&& b) = delete;

/// What remains of a after floor_divide(a, b), with the sign of b.
/// Another name of remainder().
template <class A, class B, detail::if_operands<detail::fn::Remainder, A, B> = 0>
auto mod(A&& a, B&& b) {
  return detail::apply<detail::fn::Remainder>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Remainder, A, B>>
void mod(A&& a, B&& b) = delete;

/// The quotient a / b, which is a floating-point number for integers, too.
/// Another name of divide().
template <class A, class B, detail::if_operands<detail::fn::Divide, A, B> = 0>
auto true_divide(A&& a, B&& b) {
  return detail::apply<detail::fn::Divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Divide, A, B>>
void true_divide(A&& a, B&& b) = delete;

/// The bits of a moved b places up.
/// Another name of left_shift().
template <class A, class B, detail::if_operands<detail::fn::LeftShift, A, B> = 0>
auto bitwise_left_shift(A&& a, B&& b) {
  return detail::apply<detail::fn::LeftShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LeftShift, A, B>>
void bitwise_left_shift(A&& a, B&& b) = delete;

/// The bits of a moved b places down; the sign stays.
/// Another name of right_shift().
template <class A, class B, detail::if_operands<detail::fn::RightShift, A, B> = 0>
auto bitwise_right_shift(A&& a, B&& b) {
  return detail::apply<detail::fn::RightShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::RightShift, A, B>>
void bitwise_right_shift(A&& a, B&& b) = delete;

/// The sum a + b; of bools, logical or.
/// The operator of add().
template <class A, class B, detail::if_operands<detail::fn::Add, A, B> = 0>
auto operator+(A&& a, B&& b) {
  return detail::apply<detail::fn::Add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Add, A, B>>
void operator+(A&& a, B&& b) = delete;

/// The difference a - b.
/// The operator of subtract().
template <class A, class B, detail::if_operands<detail::fn::Subtract, A, B> = 0>
auto operator-(A&& a, B&& b) {
  return detail::apply<detail::fn::Subtract>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Subtract, A, B>>
void operator-(A&& a, B&& b) = delete;

/// The product a * b; of bools, logical and.
/// The operator of multiply().
template <class A, class B, detail::if_operands<detail::fn::Multiply, A, B> = 0>
auto operator*(A&& a, B&& b) {
  return detail::apply<detail::fn::Multiply>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Multiply, A, B>>
void operator*(A&& a, B&& b) = delete;

/// The quotient a / b, which is a floating-point number for integers, too.
/// The operator of divide().
template <class A, class B, detail::if_operands<detail::fn::Divide, A, B> = 0>
auto operator/(A&& a, B&& b) {
  return detail::apply<detail::fn::Divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Divide, A, B>>
void operator/(A&& a, B&& b) = delete;

/// What remains of a after floor_divide(a, b), with the sign of b.
/// The operator of remainder().
template <class A, class B, detail::if_operands<detail::fn::Remainder, A, B> = 0>
auto operator%(A&& a, B&& b) {
  return detail::apply<detail::fn::Remainder>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Remainder, A, B>>
void operator%(A&& a, B&& b) = delete;

/// The bits that both have; of bools, logical and.
/// The operator of bitwise_and().
template <class A, class B, detail::if_operands<detail::fn::BitwiseAnd, A, B> = 0>
auto operator&(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseAnd>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseAnd, A, B>>
void operator&(A&& a, B&& b) = delete;

/// The bits that one at least has; of bools, logical or.
/// The operator of bitwise_or().
template <class A, class B, detail::if_operands<detail::fn::BitwiseOr, A, B> = 0>
auto operator|(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseOr>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseOr, A, B>>
void operator|(A&& a, B&& b) = delete;

/// The bits that exactly one has; of bools, logical exclusive or.
/// The operator of bitwise_xor().
template <class A, class B, detail::if_operands<detail::fn::BitwiseXor, A, B> = 0>
auto operator^(A&& a, B&& b) {
  return detail::apply<detail::fn::BitwiseXor>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::BitwiseXor, A, B>>
void operator^(A&& a, B&& b) = delete;

/// The bits of a moved b places up.
/// The operator of left_shift().
template <class A, class B, detail::if_operands<detail::fn::LeftShift, A, B> = 0>
auto operator<<(A&& a, B&& b) {
  return detail::apply<detail::fn::LeftShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LeftShift, A, B>>
void operator<<(A&& a, B&& b) = delete;

/// The bits of a moved b places down; the sign stays.
/// The operator of right_shift().
template <class A, class B, detail::if_operands<detail::fn::RightShift, A, B> = 0>
auto operator>>(A&& a, B&& b) {
  return detail::apply<detail::fn::RightShift>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::RightShift, A, B>>
void operator>>(A&& a, B&& b) = delete;

/// Whether a == b, element by element.
/// The operator of equal().
template <class A, class B, detail::if_operands<detail::fn::Equal, A, B> = 0>
auto operator==(A&& a, B&& b) {
  return detail::apply<detail::fn::Equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Equal, A, B>>
void operator==(A&& a, B&& b) = delete;

/// Whether a != b, element by element.
/// The operator of not_equal().
template <class A, class B, detail::if_operands<detail::fn::NotEqual, A, B> = 0>
auto operator!=(A&& a, B&& b) {
  return detail::apply<detail::fn::NotEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::NotEqual, A, B>>
void operator!=(A&& a, B&& b) = delete;

/// Whether a < b, element by element.
/// The operator of less().
template <class A, class B, detail::if_operands<detail::fn::Less, A, B> = 0>
auto operator<(A&& a, B&& b) {
  return detail::apply<detail::fn::Less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Less, A, B>>
void operator<(A&& a, B&& b) = delete;

/// Whether a <= b, element by element.
/// The operator of less_equal().
template <class A, class B, detail::if_operands<detail::fn::LessEqual, A, B> = 0>
auto operator<=(A&& a, B&& b) {
  return detail::apply<detail::fn::LessEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LessEqual, A, B>>
void operator<=(A&& a, B&& b) = delete;

/// Whether a > b, element by element.
/// The operator of greater().
template <class A, class B, detail::if_operands<detail::fn::Greater, A, B> = 0>
auto operator>(A&& a, B&& b) {
  return detail::apply<detail::fn::Greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::Greater, A, B>>
void operator>(A&& a, B&& b) = delete;

/// Whether a >= b, element by element.
/// The operator of greater_equal().
template <class A, class B, detail::if_operands<detail::fn::GreaterEqual, A, B> = 0>
auto operator>=(A&& a, B&& b) {
  return detail::apply<detail::fn::GreaterEqual>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::GreaterEqual, A, B>>
void operator>=(A&& a, B&& b) = delete;

/// Whether both are true, which is what is not 0.
/// The operator of logical_and().
template <class A, class B, detail::if_operands<detail::fn::LogicalAnd, A, B> = 0>
auto operator&&(A&& a, B&& b) {
  return detail::apply<detail::fn::LogicalAnd>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LogicalAnd, A, B>>
void operator&&(A&& a, B&& b) = delete;

/// Whether one at least is true, which is what is not 0.
/// The operator of logical_or().
template <class A, class B, detail::if_operands<detail::fn::LogicalOr, A, B> = 0>
auto operator||(A&& a, B&& b) {
  return detail::apply<detail::fn::LogicalOr>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B, class Why = detail::if_refused<detail::fn::LogicalOr, A, B>>
void operator||(A&& a, B&& b) = delete;

/// -a.
/// The operator of negative().
template <class A, detail::if_operands<detail::fn::Negative, A> = 0>
auto operator-(A&& a) {
  return detail::apply<detail::fn::Negative>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Negative, A>>
void operator-(A&& a) = delete;

/// +a: the same numbers.
/// The operator of positive().
template <class A, detail::if_operands<detail::fn::Positive, A> = 0>
auto operator+(A&& a) {
  return detail::apply<detail::fn::Positive>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Positive, A>>
void operator+(A&& a) = delete;

/// All bits the other way around; of bools, logical not.
/// The operator of invert().
template <class A, detail::if_operands<detail::fn::Invert, A> = 0>
auto operator~(A&& a) {
  return detail::apply<detail::fn::Invert>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::Invert, A>>
void operator~(A&& a) = delete;

/// Whether a is 0.
/// The operator of logical_not().
template <class A, detail::if_operands<detail::fn::LogicalNot, A> = 0>
auto operator!(A&& a) {
  return detail::apply<detail::fn::LogicalNot>(std::forward<A>(a));
}
template <class A, class Why = detail::if_refused<detail::fn::LogicalNot, A>>
void operator!(A&& a) = delete;

}  // namespace plait
