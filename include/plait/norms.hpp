// xtensor's names of norms: of all elements, or along axes. numpy.linalg.norm is linalg::norm.
#pragma once
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
PLAIT_API void check_matrix(const char* function, const Handle& a);
}  // namespace detail

/// How many elements are not 0.
template <class A, detail::if_array<A> = 0>
auto norm_l0(const A& a) {
  return count_nonzero(a);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_l0(const A& a, const extents& axes) {
  return count_nonzero(a, axes);
}
/// The sum of the absolute values.
template <class A, detail::if_array<A> = 0>
auto norm_l1(const A& a) {
  return sum(abs(a));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_l1(const A& a, const extents& axes) {
  return sum(abs(a), axes);
}
/// The sum of the squares of the absolute values.
template <class A, detail::if_array<A> = 0>
auto norm_sq(const A& a) {
  return sum(square(abs(a)));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_sq(const A& a, const extents& axes) {
  return sum(square(abs(a)), axes);
}
/// The root of the sum of the squares of the absolute values.
template <class A, detail::if_array<A> = 0>
auto norm_l2(const A& a) {
  return sqrt(norm_sq(a));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_l2(const A& a, const extents& axes) {
  return sqrt(norm_sq(a, axes));
}
/// The greatest absolute value. ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto norm_linf(const A& a) {
  return amax(abs(a));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_linf(const A& a, const extents& axes) {
  return amax(abs(a), axes);
}
/// The sum of the p-th powers of the absolute values.
template <class A, detail::if_array<A> = 0>
auto norm_lp_to_p(const A& a, double p) {
  return sum(power(abs(a), p));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_lp_to_p(const A& a, double p, const extents& axes) {
  return sum(power(abs(a), p), axes);
}
/// The p-th root of the sum of the p-th powers of the absolute values.
template <class A, detail::if_array<A> = 0>
auto norm_lp(const A& a, double p) {
  return power(norm_lp_to_p(a, p), 1 / p);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto norm_lp(const A& a, double p, const extents& axes) {
  return power(norm_lp_to_p(a, p, axes), 1 / p);
}
/// The norm of a matrix induced by that of vectors: the greatest norm_l1() of a column.
template <class A, detail::if_array<A> = 0>
auto norm_induced_l1(const A& a) {
  detail::check_matrix("norm_induced_l1", a.handle());
  return amax(norm_l1(a, 0));
}
/// The norm of a matrix induced by that of vectors: the greatest norm_l1() of a row.
template <class A, detail::if_array<A> = 0>
auto norm_induced_linf(const A& a) {
  detail::check_matrix("norm_induced_linf", a.handle());
  return amax(norm_l1(a, 1));
}

}  // namespace plait
