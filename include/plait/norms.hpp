// xtensor's names of norms: of all elements, or along axes. numpy.linalg.norm is linalg::norm.
#pragma once
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
template <class A>
auto squared_modulus(const A& a) {
  return square(abs(a));
}
PLAIT_API void check_matrix(const char* function, const Handle& a);
}  // namespace detail

// norm_l0: how many elements are not 0; norm_l1: the sum of the absolute values; norm_sq: of their
// squares; norm_l2: the root of that; norm_linf: the greatest absolute value.
#define PLAIT_NORM(name, root, reduction, part) \
  template <class A, detail::if_array<A> = 0>   \
  auto name(const A& a) {                       \
    return root(reduction(part(a)));            \
  }                                             \
  template <class A, detail::if_array<A> = 0>   \
  auto name(const A& a, const extents& axes) {  \
    return root(reduction(part(a), axes));      \
  }
PLAIT_NORM(norm_l0, , count_nonzero, )
PLAIT_NORM(norm_l1, , sum, abs)
PLAIT_NORM(norm_sq, , sum, detail::squared_modulus)
PLAIT_NORM(norm_l2, sqrt, sum, detail::squared_modulus)
PLAIT_NORM(norm_linf, , amax, abs)
#undef PLAIT_NORM
// The sum of the p-th powers of the absolute values; and its p-th root.
template <class A, detail::if_array<A> = 0>
auto norm_lp_to_p(const A& a, double p) {
  return sum(power(abs(a), p));
}
template <class A, detail::if_array<A> = 0>
auto norm_lp_to_p(const A& a, double p, const extents& axes) {
  return sum(power(abs(a), p), axes);
}
template <class A, detail::if_array<A> = 0>
auto norm_lp(const A& a, double p) {
  return power(norm_lp_to_p(a, p), 1 / p);
}
template <class A, detail::if_array<A> = 0>
auto norm_lp(const A& a, double p, const extents& axes) {
  return power(norm_lp_to_p(a, p, axes), 1 / p);
}
// Of matrices, induced by norms of vectors: the greatest norm_l1 of a column, and of a row.
template <class A, detail::if_array<A> = 0>
auto norm_induced_l1(const A& a) {
  detail::check_matrix("norm_induced_l1", a.handle());
  return amax(norm_l1(a, 0));
}
template <class A, detail::if_array<A> = 0>
auto norm_induced_linf(const A& a) {
  detail::check_matrix("norm_induced_linf", a.handle());
  return amax(norm_l1(a, 1));
}

}  // namespace plait
