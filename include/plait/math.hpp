// Elementwise functions under NumPy's names (and xtensor's where they differ), and the operators.
// Operands are arrays and C++ scalars; result types follow NEP 50 at compile time. Differences from
// xtensor: == and < compare element by element, and / of integers gives float64, as in NumPy.
#pragma once
#include "plait/functions.hpp"  // IWYU pragma: export
#include "plait/view.hpp"

namespace plait {

/// a * b + c. Rounded twice, as these operations are everywhere else.
template <class A, class B, class C, detail::if_operands<detail::fn::Add, A, B, C> = 0>
auto fma(A&& a, B&& b, C&& c) {
  return std::forward<A>(a) * std::forward<B>(b) + std::forward<C>(c);
}

/// xtensor's spelling of pow(a, n): pow<2>(a).
template <int N, class A, detail::if_operands<detail::fn::Power, A, int> = 0>
auto pow(A&& a) {
  return pow(std::forward<A>(a), N);
}

/// clip() at one end alone, the other being left out: clip(a, 0, _), clip(a, _, 2).
template <class A, class B, detail::if_operands<detail::fn::Maximum, A, B> = 0>
auto clip(A&& a, B&& low, placeholders::omitted) {
  return maximum(std::forward<A>(a), std::forward<B>(low));
}
template <class A, class C, detail::if_operands<detail::fn::Minimum, A, C> = 0>
auto clip(A&& a, placeholders::omitted, C&& high) {
  return minimum(std::forward<A>(a), std::forward<C>(high));
}

/// xtensor's spelling of `astype<U>()`.
template <class U, class A, detail::if_array<A> = 0>
array<U> cast(A&& a) {
  return std::forward<A>(a).template astype<U>();
}

/// To so many decimals, half to even (numpy.round). Integers stay as they are for decimals >= 0.
template <class A, detail::if_array<A> = 0>
detail::like<A> round(A&& a, std::int64_t decimals = 0) {
  return detail::like<A>(detail::round(std::forward<A>(a).handle(), decimals));
}
/// Another name of round().
template <class A, detail::if_array<A> = 0>
detail::like<A> around(A&& a, std::int64_t decimals = 0) {
  return round(std::forward<A>(a), decimals);
}
/// The argument of complex numbers, in radians or degrees (numpy.angle).
template <class A, detail::if_array<A> = 0>
auto angle(A&& a, bool degrees = false) {
  using R = element_t<detail::float_for(detail::real_of(dtype_of_v<detail::element_of<A>>))>;
  return array<R>(detail::angle(std::forward<A>(a).handle(), degrees));
}
/// `nan` in place of NaN, the greatest finite values in place of infinities (numpy.nan_to_num).
template <class A, detail::if_array<A> = 0>
detail::like<A> nan_to_num(A&& a, double nan = 0) {
  return detail::like<A>(detail::nan_to_num(std::forward<A>(a).handle(), nan, nullptr, nullptr));
}
/// The same with numbers in place of infinities.
template <class A, detail::if_array<A> = 0>
detail::like<A> nan_to_num(A&& a, double nan, double posinf, double neginf) {
  return detail::like<A>(detail::nan_to_num(std::forward<A>(a).handle(), nan, &posinf, &neginf));
}

}  // namespace plait
