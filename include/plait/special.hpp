// Elementwise functions that are several operations of the table, or the C library's.
#pragma once
#include "plait/any_array.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
enum class library_function : std::uint8_t { tgamma, lgamma };
PLAIT_API any_array called(library_function f, const any_array& a);
PLAIT_API std::pair<any_array, any_array> frexp(const any_array& a);
PLAIT_API any_array ldexp(const any_array& a, const any_array& exponents);
PLAIT_API std::pair<any_array, any_array> modf(const any_array& a);
PLAIT_API any_array sinc(const any_array& a);
PLAIT_API any_array i0(const any_array& a);
PLAIT_API any_array unwrap(const any_array& p, double discontinuity, std::int64_t axis,
                           double period);
PLAIT_API any_array has_imaginary_part(const any_array& a);
PLAIT_API any_array infinite(const any_array& a, bool negative);

// What loops for floats give of A: float16 of int8.
template <class A>
using float_of = array<typename result<fn::Fabs, like<A>>::type>;
template <class A>
using floats_of = std::pair<float_of<A>, float_of<A>>;
}  // namespace detail

/// auto [quotient, remainder] = divmod(a, b), rounded down (numpy.divmod).
template <class A, class B, detail::if_operands<detail::fn::FloorDivide, A, B> = 0>
auto divmod(const A& a, const B& b) {
  return std::pair(floor_divide(a, b), remainder(a, b));
}
/// auto [fraction, whole] = modf(a), both of the sign of a (numpy.modf).
template <class A, detail::if_array<A> = 0>
detail::floats_of<A> modf(const A& a) {
  auto parts = detail::modf(a);
  return {detail::float_of<A>(parts.first.handle()), detail::float_of<A>(parts.second.handle())};
}
/// auto [mantissa, exponent] = frexp(a): a == mantissa * 2 ** exponent (numpy.frexp). Called for
/// each element.
template <class A, detail::if_array<A> = 0>
std::pair<detail::float_of<A>, array<std::int32_t>> frexp(const A& a) {
  auto parts = detail::frexp(a);
  return {detail::float_of<A>(parts.first.handle()), array<std::int32_t>(parts.second.handle())};
}
/// a * 2 ** exponents (numpy.ldexp). Called for each element.
template <class A, class I, detail::if_array<A> = 0>
detail::float_of<A> ldexp(const A& a, const array<I>& exponents) {
  static_assert(detail::is_integer(dtype_of_v<I>), "plait: the exponents of ldexp are integers");
  return detail::float_of<A>(detail::ldexp(a, exponents).handle());
}
/// a * 2 ** exponent.
template <class A, detail::if_array<A> = 0>
detail::float_of<A> ldexp(const A& a, std::int64_t exponent) {
  return ldexp(a, array<std::int64_t>(exponent));
}
/// The gamma function of the C library, which is called for each element. float64 of integers.
template <class A, detail::if_array<A> = 0>
detail::mean_of<A> tgamma(const A& a) {
  return detail::mean_of<A>(detail::called(detail::library_function::tgamma, a).handle());
}
/// The logarithm of the absolute value of the gamma function, of the C library, which is called for
/// each element. float64 of integers.
template <class A, detail::if_array<A> = 0>
detail::mean_of<A> lgamma(const A& a) {
  return detail::mean_of<A>(detail::called(detail::library_function::lgamma, a).handle());
}
/// a - b where that is positive, else 0: C's fdim.
template <class A, class B, detail::if_operands<detail::fn::Subtract, A, B> = 0>
auto fdim(const A& a, const B& b) {
  return where(a <= b, 0, a - b);
}
/// sin(pi * x) / (pi * x) (numpy.sinc). float64 of integers.
template <class A, detail::if_array<A> = 0>
detail::mean_of<A> sinc(const A& a) {
  return detail::mean_of<A>(detail::sinc(a).handle());
}
/// The modified Bessel function of the first kind and of order 0 (numpy.i0). float64 of integers.
template <class A, detail::if_array<A> = 0>
detail::mean_of<A> i0(const A& a) {
  return detail::mean_of<A>(detail::i0(a).handle());
}
/// Angles without jumps: neighbours that differ by more than `discontinuity` along an axis, half a
/// period by default, are brought together by whole periods (numpy.unwrap).
template <class A, detail::if_array<A> = 0>
auto unwrap(const A& p, double discontinuity = -1, std::int64_t axis = -1,
            double period = 6.283185307179586) {
  return array<detail::scaled_t<detail::element_of<A>>>(
      detail::unwrap(p, discontinuity, axis, period).handle());
}

/// Whether elements have an imaginary part that is not 0 (numpy.iscomplex).
template <class A, detail::if_array<A> = 0>
array<bool> iscomplex(const A& a) {
  return array<bool>(detail::has_imaginary_part(a).handle());
}
/// Whether elements have no imaginary part, or one that is 0 (numpy.isreal).
template <class A, detail::if_array<A> = 0>
array<bool> isreal(const A& a) {
  return !iscomplex(a);
}
/// Whether elements are of a complex type (numpy.iscomplexobj).
template <class A, detail::if_array<A> = 0>
bool iscomplexobj(const A& a) {
  return detail::kind_of(a.dtype()) == detail::kind::complex;
}
/// Whether elements are of no complex type (numpy.isrealobj).
template <class A, detail::if_array<A> = 0>
bool isrealobj(const A& a) {
  return !iscomplexobj(a);
}
/// Whether elements are positive infinity (numpy.isposinf).
template <class A, detail::if_array<A> = 0>
array<bool> isposinf(const A& a) {
  return array<bool>(detail::infinite(a, false).handle());
}
/// Whether elements are negative infinity (numpy.isneginf).
template <class A, detail::if_array<A> = 0>
array<bool> isneginf(const A& a) {
  return array<bool>(detail::infinite(a, true).handle());
}

/// auto [smallest, largest] = minmax(a), of all elements.
template <class A, detail::if_array<A> = 0>
auto minmax(const A& a) {
  return std::pair(amin(a), amax(a));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto minmax(const A& a, const extents& axes) {
  return std::pair(amin(a, axes), amax(a, axes));
}

}  // namespace plait
