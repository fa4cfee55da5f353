// Reductions. `axes` is an axis or a list, `{0, -1}`; without it all elements are reduced. Results
// keep no reduced axis unless plait::keep_dims is passed. Element types are NumPy's: sums of small
// integers are 64 bits wide, means of integers are float64, arg-reductions give int64.
#pragma once
#include "plait/array.hpp"

namespace plait {

/// The type of `keep_dims`.
struct keep_dims_t {};
/// Passed last, it keeps the reduced axes, with extent 1: sum(a, 0, keep_dims).
inline constexpr keep_dims_t keep_dims{};
/// Whether the reduced axes are kept: by `keep_dims`, and not where it is left out.
class keep_dims_flag {
 public:
  constexpr keep_dims_flag() = default;
  constexpr keep_dims_flag(keep_dims_t) : kept_(true) {}
  constexpr operator bool() const { return kept_; }

 private:
  bool kept_ = false;
};

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
template <class A>
using mean_of = array<mean_t<element_of<A>>>;
// Of what is multiplied by a number that is no integer, and of gradients.
template <class T>
using scaled_t = typename result<fn::Multiply, array<T>, double>::type;
PLAIT_API Handle gradient_at(const Handle& a, const Handle& x, std::int64_t axis, int edge_order);
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

/// The sum of all elements (numpy.sum). Sums of bools and small integers are 64 bits wide.
template <class A, detail::if_array<A> = 0>
auto sum(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::sum>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto sum(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::sum>(std::forward<A>(a), &axes, keep);
}

/// The product of all elements (numpy.prod). Of bools and small integers it is 64 bits wide.
template <class A, detail::if_array<A> = 0>
auto prod(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::prod>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto prod(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::prod>(std::forward<A>(a), &axes, keep);
}

/// The least element (numpy.amin); NaN where one is. ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto amin(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::min>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto amin(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::min>(std::forward<A>(a), &axes, keep);
}

/// The greatest element (numpy.amax); NaN where one is. ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto amax(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::max>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto amax(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::max>(std::forward<A>(a), &axes, keep);
}

/// The least element (numpy.min); NaN where one is. ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto min(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::min>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto min(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::min>(std::forward<A>(a), &axes, keep);
}

/// The greatest element (numpy.max); NaN where one is. ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto max(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::max>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto max(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::max>(std::forward<A>(a), &axes, keep);
}

/// Whether any element is true, which is what is not 0 (numpy.any). Gives a bool.
template <class A, detail::if_array<A> = 0>
auto any(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::any>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto any(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::any>(std::forward<A>(a), &axes, keep);
}

/// Whether all elements are true, which is what is not 0 (numpy.all). Gives a bool.
template <class A, detail::if_array<A> = 0>
auto all(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::all>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto all(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::all>(std::forward<A>(a), &axes, keep);
}

/// The arithmetic mean (numpy.mean); float64 of integers, NaN of no elements.
template <class A, detail::if_array<A> = 0>
auto mean(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::mean>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto mean(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::mean>(std::forward<A>(a), &axes, keep);
}

/// The greatest element less the least one (numpy.ptp). ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto ptp(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::ptp>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto ptp(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::ptp>(std::forward<A>(a), &axes, keep);
}

/// How many elements are not 0, as int64 (numpy.count_nonzero).
template <class A, detail::if_array<A> = 0>
auto count_nonzero(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::count_nonzero>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto count_nonzero(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::count_nonzero>(std::forward<A>(a), &axes, keep);
}

/// Where the least element, or NaN, is first: its index, of all elements in C order, as int64
/// (numpy.argmin). ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto argmin(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::argmin>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto argmin(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::argmin>(std::forward<A>(a), &axes, keep);
}

/// Where the greatest element, or NaN, is first: its index, of all elements in C order, as int64
/// (numpy.argmax). ValueError of no elements.
template <class A, detail::if_array<A> = 0>
auto argmax(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::argmax>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto argmax(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::argmax>(std::forward<A>(a), &axes, keep);
}

/// The variance: the mean of the squared distances from the mean (numpy.var). Real; float64 of
/// integers.
template <class A, detail::if_array<A> = 0>
auto var(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto var(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), &axes, keep);
}
/// The same, divided by the number of elements less `ddof`.
template <class A, detail::if_array<A> = 0>
auto var(A&& a, const extents& axes, double ddof) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), &axes, false, ddof);
}

/// Another name of var().
template <class A, detail::if_array<A> = 0>
auto variance(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto variance(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), &axes, keep);
}
/// The same, divided by the number of elements less `ddof`.
template <class A, detail::if_array<A> = 0>
auto variance(A&& a, const extents& axes, double ddof) {
  return detail::reduced_array<detail::reduction::var>(std::forward<A>(a), &axes, false, ddof);
}

/// The standard deviation, the root of the variance (numpy.std). Real; float64 of integers.
template <class A, detail::if_array<A> = 0>
auto stddev(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::std>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto stddev(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::std>(std::forward<A>(a), &axes, keep);
}
/// The same, divided by the number of elements less `ddof`.
template <class A, detail::if_array<A> = 0>
auto stddev(A&& a, const extents& axes, double ddof) {
  return detail::reduced_array<detail::reduction::std>(std::forward<A>(a), &axes, false, ddof);
}

/// The sum of what is not NaN, 0 of nothing (numpy.nansum).
template <class A, detail::if_array<A> = 0>
auto nansum(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nansum>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nansum(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nansum>(std::forward<A>(a), &axes, keep);
}

/// The product of what is not NaN, 1 of nothing (numpy.nanprod).
template <class A, detail::if_array<A> = 0>
auto nanprod(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanprod>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanprod(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanprod>(std::forward<A>(a), &axes, keep);
}

/// The least element that is not NaN; NaN where all are (numpy.nanmin).
template <class A, detail::if_array<A> = 0>
auto nanmin(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmin>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanmin(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmin>(std::forward<A>(a), &axes, keep);
}

/// The greatest element that is not NaN; NaN where all are (numpy.nanmax).
template <class A, detail::if_array<A> = 0>
auto nanmax(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmax>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanmax(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmax>(std::forward<A>(a), &axes, keep);
}

/// The mean of what is not NaN; NaN where all are (numpy.nanmean).
template <class A, detail::if_array<A> = 0>
auto nanmean(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmean>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanmean(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanmean>(std::forward<A>(a), &axes, keep);
}

/// The variance of what is not NaN; NaN where all are (numpy.nanvar).
template <class A, detail::if_array<A> = 0>
auto nanvar(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanvar>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanvar(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanvar>(std::forward<A>(a), &axes, keep);
}
/// The same, divided by the number of elements less `ddof`.
template <class A, detail::if_array<A> = 0>
auto nanvar(A&& a, const extents& axes, double ddof) {
  return detail::reduced_array<detail::reduction::nanvar>(std::forward<A>(a), &axes, false, ddof);
}

/// The standard deviation of what is not NaN; NaN where all are (numpy.nanstd).
template <class A, detail::if_array<A> = 0>
auto nanstd(A&& a, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanstd>(std::forward<A>(a), nullptr, keep);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanstd(A&& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::reduced_array<detail::reduction::nanstd>(std::forward<A>(a), &axes, keep);
}
/// The same, divided by the number of elements less `ddof`.
template <class A, detail::if_array<A> = 0>
auto nanstd(A&& a, const extents& axes, double ddof) {
  return detail::reduced_array<detail::reduction::nanstd>(std::forward<A>(a), &axes, false, ddof);
}
/// The mean of elements that count by their weights, of the array's shape (numpy.average).
/// Evaluates the sum of the weights; FloatingPointError where it is 0.
template <class T, class U>
auto average(const array<T>& a, const array<U>& weights) {
  return array<detail::average_t<T, U>>(
      detail::average(a.handle(), weights.handle(), nullptr, false));
}
/// The same along `axes`, with weights of the array's shape, or of its extents along them.
template <class T, class U>
auto average(const array<T>& a, const array<U>& weights, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::average_t<T, U>>(detail::average(a.handle(), weights.handle(), &s, false));
}
/// The mean of all elements.
template <class A, detail::if_array<A> = 0>
auto average(A&& a) {
  return mean(std::forward<A>(a));
}

/// Differences of neighbours along an axis, n times over (numpy.diff).
template <class A, detail::if_array<A> = 0>
detail::like<A> diff(A&& a, std::int64_t n = 1, std::int64_t axis = -1) {
  return detail::like<A>(detail::diff(std::forward<A>(a).handle(), n, axis));
}
/// The gradient along one axis of points `spacing` apart; at the ends of first or second order
/// (numpy.gradient). float64 of integers.
template <class A, detail::if_array<A> = 0>
auto gradient(A&& a, double spacing = 1, std::int64_t axis = -1, int edge_order = 1) {
  return array<typename detail::gradient_element<detail::element_of<A>>::type>(
      detail::gradient(std::forward<A>(a).handle(), spacing, axis, edge_order));
}
/// The same of points at coordinates x, 1-D, which may lie in any distances. ValueError. Evaluates
/// x.
template <class A, class U, detail::if_array<A> = 0>
auto gradient(const A& a, const array<U>& x, std::int64_t axis = -1, int edge_order = 1) {
  return array<typename detail::gradient_element<detail::element_of<A>>::type>(
      detail::gradient_at(a.handle(), x.handle(), axis, edge_order));
}
/// The gradients along several axes, in their order: gradient(a, 1, {0, 1}).
template <class A, detail::if_array<A> = 0>
auto gradient(const A& a, double spacing, const extents& axes, int edge_order = 1) {
  std::vector<decltype(gradient(a))> out;
  for (int i = 0; i < axes.size(); ++i)
    out.push_back(gradient(a, spacing, axes.data()[i], edge_order));
  return out;
}
/// The same with a spacing for each axis: gradient(a, {dy, dx}, {0, 1}). ValueError for other
/// numbers of them.
template <class A, detail::if_array<A> = 0>
auto gradient(const A& a, std::initializer_list<double> spacings, const extents& axes,
              int edge_order = 1) {
  if (static_cast<int>(spacings.size()) != axes.size())
    throw ValueError("gradient: invalid number of arguments: a spacing for each axis");
  std::vector<decltype(gradient(a))> out;
  const std::int64_t* axis = axes.data();
  for (const double spacing : spacings) out.push_back(gradient(a, spacing, *axis++, edge_order));
  return out;
}
/// The area under points `dx` apart, by the trapezoidal rule (numpy.trapezoid).
template <class A, detail::if_array<A> = 0>
auto trapezoid(A&& y, double dx = 1, std::int64_t axis = -1) {
  return array<detail::scaled_t<detail::element_of<A>>>(
      detail::trapezoid(std::forward<A>(y).handle(), nullptr, dx, axis));
}
/// The area under points at x.
template <class T, class U>
auto trapezoid(const array<T>& y, const array<U>& x, std::int64_t axis = -1) {
  return array<
      detail::scaled_t<typename detail::result<detail::fn::Multiply, array<T>, array<U>>::type>>(
      detail::trapezoid(y.handle(), &x.handle(), 1, axis));
}
/// Another name of trapezoid().
template <class A, detail::if_array<A> = 0>
auto trapz(A&& y, double dx = 1, std::int64_t axis = -1) {
  return trapezoid(std::forward<A>(y), dx, axis);
}
/// Another name of trapezoid().
template <class T, class U>
auto trapz(const array<T>& y, const array<U>& x, std::int64_t axis = -1) {
  return trapezoid(y, x, axis);
}

}  // namespace plait
