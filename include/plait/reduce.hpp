// Reductions. `axes` is an axis or a list, `{0, -1}`; without it all elements are reduced. Results
// keep no reduced axis unless plait::keep_dims is passed. Element types are NumPy's: sums of small
// integers are 64 bits wide, means of integers are float64, arg-reductions give int64.
#pragma once
#include "plait/array.hpp"

namespace plait {

struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

namespace detail {

constexpr dtype reduced(reduction r, dtype t) {
  const kind k = kind_of(t);
  switch (r) {
    case reduction::sum:
    case reduction::prod:
    case reduction::nansum:
    case reduction::nanprod:
      if (is_narrow(t)) return t;
      if (k == kind::boolean || k == kind::signed_int)
        return wider(t, dtype::int64) == t ? t : dtype::int64;
      return k == kind::unsigned_int ? dtype::uint64 : t;
    case reduction::count_nonzero:
    case reduction::argmin:
    case reduction::argmax:
      return dtype::int64;
    case reduction::any:
    case reduction::all:
      return dtype::bool_;
    case reduction::mean:
    case reduction::nanmean:
      return k < kind::floating ? dtype::float64 : t;
    case reduction::var:
    case reduction::std:
    case reduction::nanvar:
    case reduction::nanstd:
      return k < kind::floating ? dtype::float64 : real_of(t);
    default:  // no loop of small integers selects one of them
      return is_narrow(t) && is_integer(t) ? numpys_dtype(t, t) : t;
  }
}
template <reduction R, class T>
struct reduced_element {
  using type = element_t<reduced(R, dtype_of_v<T>)>;
};
template <reduction R>
struct reduced_element<R, void> {
  using type = void;
};
template <reduction R, class T>
using reduced_t = typename reduced_element<R, T>::type;
// The element type of means, float64 for integers, and of means with weights.
template <class T>
using mean_t = reduced_t<reduction::mean, T>;
// Of what is multiplied by a number that is no integer, and of gradients.
template <class T>
using scaled_t = typename result<fn::Multiply, array<T>, double>::type;
template <class T, bool = std::is_void_v<T>>
struct gradient_element {
  using type = std::conditional_t<is_narrow(dtype_of_v<T>), double, mean_t<T>>;
};
template <class T>
struct gradient_element<T, true> {
  using type = void;
};
template <class T, class U>
using average_t = promote_t<promote_t<T, U>, mean_t<T>>;

// Of all elements where `axes` is null.
template <reduction R, class A>
auto reduced_array(A&& a, const extents* axes, bool keepdims, double ddof = 0) {
  const Span s = axes ? span_of(*axes) : Span{nullptr, 0};
  return array<reduced_t<R, element_of<A>>>(
      reduce(R, std::forward<A>(a).handle(), axes ? &s : nullptr, keepdims, ddof));
}

}  // namespace detail

#define PLAIT_REDUCTION(name, kind)                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(A&& a) {                                                                           \
    return detail::reduced_array<detail::reduction::kind>(std::forward<A>(a), nullptr, false); \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(A&& a, keep_dims_t) {                                                              \
    return detail::reduced_array<detail::reduction::kind>(std::forward<A>(a), nullptr, true);  \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(A&& a, const extents& axes) {                                                      \
    return detail::reduced_array<detail::reduction::kind>(std::forward<A>(a), &axes, false);   \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(A&& a, const extents& axes, keep_dims_t) {                                         \
    return detail::reduced_array<detail::reduction::kind>(std::forward<A>(a), &axes, true);    \
  }
PLAIT_REDUCTION(sum, sum)
PLAIT_REDUCTION(prod, prod)
PLAIT_REDUCTION(amin, min)
PLAIT_REDUCTION(amax, max)
PLAIT_REDUCTION(min, min)
PLAIT_REDUCTION(max, max)
PLAIT_REDUCTION(any, any)
PLAIT_REDUCTION(all, all)
PLAIT_REDUCTION(mean, mean)
PLAIT_REDUCTION(ptp, ptp)
PLAIT_REDUCTION(count_nonzero, count_nonzero)
PLAIT_REDUCTION(argmin, argmin)
PLAIT_REDUCTION(argmax, argmax)
PLAIT_REDUCTION(var, var)
PLAIT_REDUCTION(variance, var)
PLAIT_REDUCTION(stddev, std)
// As if the NaNs were not there; of nothing but NaNs, sums are 0, products 1 and the others NaN.
PLAIT_REDUCTION(nansum, nansum)
PLAIT_REDUCTION(nanprod, nanprod)
PLAIT_REDUCTION(nanmin, nanmin)
PLAIT_REDUCTION(nanmax, nanmax)
PLAIT_REDUCTION(nanmean, nanmean)
PLAIT_REDUCTION(nanvar, nanvar)
PLAIT_REDUCTION(nanstd, nanstd)
#undef PLAIT_REDUCTION

// With delta degrees of freedom: the divisor is the count less `ddof`.
#define PLAIT_SPREAD(name, kind)                                                                   \
  template <class A, detail::if_array<A> = 0>                                                      \
  auto name(A&& a, const extents& axes, double ddof) {                                             \
    return detail::reduced_array<detail::reduction::kind>(std::forward<A>(a), &axes, false, ddof); \
  }
PLAIT_SPREAD(var, var)
PLAIT_SPREAD(variance, var)
PLAIT_SPREAD(stddev, std)
PLAIT_SPREAD(nanvar, nanvar)
PLAIT_SPREAD(nanstd, nanstd)
#undef PLAIT_SPREAD

// The mean of elements that count by their weights: of the array's shape, or of its extents along
// `axes`. Evaluates the sum of the weights; throws FloatingPointError where it is 0.
template <class T, class U>
auto average(const array<T>& a, const array<U>& weights) {
  return array<detail::average_t<T, U>>(
      detail::average(a.handle(), weights.handle(), nullptr, false));
}
template <class T, class U>
auto average(const array<T>& a, const array<U>& weights, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::average_t<T, U>>(detail::average(a.handle(), weights.handle(), &s, false));
}
template <class A, detail::if_array<A> = 0>
auto average(A&& a) {
  return mean(std::forward<A>(a));
}

// Differences of neighbours along an axis, n times over.
template <class A, detail::if_array<A> = 0>
detail::like<A> diff(A&& a, std::int64_t n = 1, std::int64_t axis = -1) {
  return detail::like<A>(detail::diff(std::forward<A>(a).handle(), n, axis));
}
// numpy.gradient along one axis of points `spacing` apart; at the ends of first or second order.
template <class A, detail::if_array<A> = 0>
auto gradient(A&& a, double spacing = 1, std::int64_t axis = -1, int edge_order = 1) {
  return array<typename detail::gradient_element<detail::element_of<A>>::type>(
      detail::gradient(std::forward<A>(a).handle(), spacing, axis, edge_order));
}
// The area under points `dx` apart, or at x, by the trapezoidal rule.
template <class A, detail::if_array<A> = 0>
auto trapezoid(A&& y, double dx = 1, std::int64_t axis = -1) {
  return array<detail::scaled_t<detail::element_of<A>>>(
      detail::trapezoid(std::forward<A>(y).handle(), nullptr, dx, axis));
}
template <class T, class U>
auto trapezoid(const array<T>& y, const array<U>& x, std::int64_t axis = -1) {
  return array<
      detail::scaled_t<typename detail::result<detail::fn::Multiply, array<T>, array<U>>::type>>(
      detail::trapezoid(y.handle(), &x.handle(), 1, axis));
}
template <class A, detail::if_array<A> = 0>
auto trapz(A&& y, double dx = 1, std::int64_t axis = -1) {
  return trapezoid(std::forward<A>(y), dx, axis);
}
template <class T, class U>
auto trapz(const array<T>& y, const array<U>& x, std::int64_t axis = -1) {
  return trapezoid(y, x, axis);
}

}  // namespace plait
