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
      return k < kind::floating ? dtype::float64 : t;
    case reduction::var:
    case reduction::std:
      return k < kind::floating ? dtype::float64 : real_of(t);
    default:
      return t;
  }
}
template <reduction R, class T>
auto reduce_all(const array<T>& a, bool keepdims, double ddof = 0) {
  return array<element_t<reduced(R, dtype_of_v<T>)>>(
      reduce(R, a.handle(), nullptr, keepdims, ddof));
}
template <reduction R, class T>
auto reduce_axes(const array<T>& a, const extents& axes, bool keepdims, double ddof = 0) {
  const Span s = span_of(axes);
  return array<element_t<reduced(R, dtype_of_v<T>)>>(reduce(R, a.handle(), &s, keepdims, ddof));
}

}  // namespace detail

#define PLAIT_REDUCTION(name, kind)                                      \
  template <class T>                                                     \
  auto name(const array<T>& a) {                                         \
    return detail::reduce_all<detail::reduction::kind>(a, false);        \
  }                                                                      \
  template <class T>                                                     \
  auto name(const array<T>& a, keep_dims_t) {                            \
    return detail::reduce_all<detail::reduction::kind>(a, true);         \
  }                                                                      \
  template <class T>                                                     \
  auto name(const array<T>& a, const extents& axes) {                    \
    return detail::reduce_axes<detail::reduction::kind>(a, axes, false); \
  }                                                                      \
  template <class T>                                                     \
  auto name(const array<T>& a, const extents& axes, keep_dims_t) {       \
    return detail::reduce_axes<detail::reduction::kind>(a, axes, true);  \
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
#undef PLAIT_REDUCTION

// With delta degrees of freedom: the divisor is the count less `ddof`.
template <class T>
auto var(const array<T>& a, const extents& axes, double ddof) {
  return detail::reduce_axes<detail::reduction::var>(a, axes, false, ddof);
}
template <class T>
auto variance(const array<T>& a, const extents& axes, double ddof) {
  return detail::reduce_axes<detail::reduction::var>(a, axes, false, ddof);
}
template <class T>
auto stddev(const array<T>& a, const extents& axes, double ddof) {
  return detail::reduce_axes<detail::reduction::std>(a, axes, false, ddof);
}

// Differences of neighbours along an axis, n times over.
template <class T>
array<T> diff(const array<T>& a, std::int64_t n = 1, std::int64_t axis = -1) {
  return array<T>(detail::diff(a.handle(), n, axis));
}

}  // namespace plait
