// Polynomials as arrays of their coefficients, the highest power first, as numpy.polyval and its
// kin take them.
#pragma once
#include "plait/any_array.hpp"
#include "plait/linalg.hpp"

namespace plait {

namespace detail {
PLAIT_API any_array polyval(const any_array& p, const any_array& x);
PLAIT_API any_array polyfit(const any_array& x, const any_array& y, std::int64_t degree,
                            const any_array* weights);
PLAIT_API any_array polyadd(const any_array& a, const any_array& b, bool subtract);
PLAIT_API any_array polymul(const any_array& a, const any_array& b);
PLAIT_API std::pair<any_array, any_array> polydiv(const any_array& u, const any_array& v);
PLAIT_API any_array polyder(const any_array& p, std::int64_t m);
PLAIT_API any_array polyint(const any_array& p, std::int64_t m, double k);
PLAIT_API any_array roots(const any_array& p);
PLAIT_API any_array poly(const any_array& zeros);
PLAIT_API any_array vander(const any_array& x, std::int64_t n, bool increasing);

template <class A, class B>
using promoted_of = array<promote_t<element_of<A>, element_of<B>>>;
// Of a * b and a / b.
template <class T, class U>
using product_of = array<typename result<fn::Multiply, array<T>, array<U>>::type>;
template <class T, class U>
using quotient_of = array<typename result<fn::Divide, array<T>, array<U>>::type>;
}  // namespace detail

/// p[0] * x ** (n - 1) + ... + p[n - 1] of the coefficients p, in Horner's order (numpy.polyval).
template <class P, class X, detail::if_array<P> = 0, detail::if_array<X> = 0>
auto polyval(const P& p, const X& x) {
  return detail::promoted_of<P, X>(detail::polyval(p, x).handle());
}
/// The same of a number.
template <class P, class V, detail::if_array<P> = 0,
          class = std::enable_if_t<is_element_v<V> && !detail::is_array_type<V>::value>>
auto polyval(const P& p, const V& x) {
  return polyval(p, full({}, x));
}
/// The polynomial of that degree that is nearest to the points in least squares; `y` of one axis,
/// or columns (numpy.polyfit). Of doubles, whatever the points are of.
template <class X, class Y, detail::if_array<X> = 0, detail::if_array<Y> = 0>
auto polyfit(const X& x, const Y& y, std::int64_t degree) {
  using T = promote_t<promote_t<detail::element_of<X>, detail::element_of<Y>>, double>;
  return array<T>(detail::polyfit(x, y, degree, nullptr).handle());
}
/// The same where each point counts by its weight.
template <class X, class Y, class W, detail::if_array<X> = 0, detail::if_array<Y> = 0>
auto polyfit(const X& x, const Y& y, std::int64_t degree, const array<W>& weights) {
  using T = promote_t<promote_t<detail::element_of<X>, detail::element_of<Y>>, double>;
  const any_array w = weights;
  return array<T>(detail::polyfit(x, y, degree, &w).handle());
}
/// The sum of two polynomials (numpy.polyadd).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto polyadd(const A& a, const B& b) {
  return detail::promoted_of<A, B>(detail::polyadd(a, b, false).handle());
}
/// The difference of two polynomials (numpy.polysub).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto polysub(const A& a, const B& b) {
  return detail::promoted_of<A, B>(detail::polyadd(a, b, true).handle());
}
/// The product of two polynomials (numpy.polymul).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto polymul(const A& a, const B& b) {
  return detail::promoted_of<A, B>(detail::polymul(a, b).handle());
}
/// auto [quotient, remainder] = polydiv(u, v) (numpy.polydiv). Evaluates.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto polydiv(const A& u, const B& v) {
  using R = detail::quotient_of<detail::element_of<A>, detail::element_of<B>>;
  auto parts = detail::polydiv(u, v);
  return std::pair<R, R>(parts.first.handle(), parts.second.handle());
}
/// The m-th derivative (numpy.polyder).
template <class P, detail::if_array<P> = 0>
auto polyder(const P& p, std::int64_t m = 1) {
  using R = detail::product_of<detail::element_of<P>, std::int64_t>;
  return R(detail::polyder(p, m).handle());
}
/// The m-th integral, with the constant k each time (numpy.polyint).
template <class P, detail::if_array<P> = 0>
auto polyint(const P& p, std::int64_t m = 1, double k = 0) {
  using R = detail::quotient_of<detail::element_of<P>, std::int64_t>;
  return R(detail::polyint(p, m, k).handle());
}
/// Where the polynomial is 0, complex whatever the roots are (numpy.roots). Evaluates.
template <class P, detail::if_array<P> = 0>
auto roots(const P& p) {
  return array<linalg::spectrum_t<P>>(detail::roots(p).handle());
}
/// The polynomial that is 0 there (numpy.poly).
template <class Z, detail::if_array<Z> = 0>
auto poly(const Z& zeros) {
  return array<linalg::factored_t<Z>>(detail::poly(zeros).handle());
}
/// The powers of x as columns, n - 1 to 0, or the other way around; -1: as many as elements
/// (numpy.vander).
template <class X, detail::if_array<X> = 0>
auto vander(const X& x, std::int64_t n = -1, bool increasing = false) {
  using R = detail::product_of<detail::element_of<X>, std::int64_t>;
  return R(detail::vander(x, n, increasing).handle());
}

}  // namespace plait
