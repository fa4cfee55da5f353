// Running sums and products, histograms, table look-up, convolution in one dimension.
#pragma once
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
enum class scan : std::uint8_t { sum, product, sum_of_numbers, product_of_numbers };
PLAIT_API Handle cumulate(scan s, const Handle& a, const std::int64_t* axis);
PLAIT_API Handle bincount(const Handle& x, const Handle* weights, std::int64_t least);
PLAIT_API Handle histogram(const Handle& a, std::int64_t bins, const double* range, Handle& edges);
PLAIT_API Handle histogram_between(const Handle& a, const Handle& edges);
PLAIT_API Handle digitize(const Handle& x, const Handle& bins, bool right);
PLAIT_API Handle interp(const Handle& x, const Handle& xp, const Handle& fp);
PLAIT_API Handle convolve(const Handle& a, const Handle& v, int mode);
template <scan S, class A>
auto scanned(const A& a, const std::int64_t* axis) {
  return array<reduced_t<reduction::sum, element_of<A>>>(cumulate(S, a.handle(), axis));
}
}  // namespace detail

/// The sums of the elements up to each one, in C order, 1-D (numpy.cumsum).
template <class A, detail::if_array<A> = 0>
auto cumsum(const A& a) {
  return detail::scanned<detail::scan::sum>(a, nullptr);
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
auto cumsum(const A& a, std::int64_t axis) {
  return detail::scanned<detail::scan::sum>(a, &axis);
}
/// The products of the elements up to each one, in C order, 1-D (numpy.cumprod).
template <class A, detail::if_array<A> = 0>
auto cumprod(const A& a) {
  return detail::scanned<detail::scan::product>(a, nullptr);
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
auto cumprod(const A& a, std::int64_t axis) {
  return detail::scanned<detail::scan::product>(a, &axis);
}
/// cumsum() with NaN as 0 (numpy.nancumsum).
template <class A, detail::if_array<A> = 0>
auto nancumsum(const A& a) {
  return detail::scanned<detail::scan::sum_of_numbers>(a, nullptr);
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
auto nancumsum(const A& a, std::int64_t axis) {
  return detail::scanned<detail::scan::sum_of_numbers>(a, &axis);
}
/// cumprod() with NaN as 1 (numpy.nancumprod).
template <class A, detail::if_array<A> = 0>
auto nancumprod(const A& a) {
  return detail::scanned<detail::scan::product_of_numbers>(a, nullptr);
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
auto nancumprod(const A& a, std::int64_t axis) {
  return detail::scanned<detail::scan::product_of_numbers>(a, &axis);
}
/// How often each integer from 0 on is there, of an array of one axis (numpy.bincount). ValueError
/// for negative ones.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> bincount(const A& x, std::int64_t min_length = 0) {
  return array<std::int64_t>(detail::bincount(x.handle(), nullptr, min_length));
}
/// The sums of the weights of each.
template <class A, class W, detail::if_array<A> = 0, detail::if_array<W> = 0>
array<double> bincount(const A& x, const W& weights, std::int64_t min_length = 0) {
  return array<double>(detail::bincount(x.handle(), &weights.handle(), min_length));
}
/// What histogram() gives: auto [counts, edges] = histogram(a, 10).
struct histogram_result {
  array<std::int64_t> counts;
  array<double> edges;
};
/// How many elements are in each of so many equal bins from the least to the greatest
/// (numpy.histogram). The last bin holds its right edge.
template <class A, detail::if_array<A> = 0>
histogram_result histogram(const A& a, std::int64_t bins = 10) {
  detail::Handle edges, counts = detail::histogram(a.handle(), bins, nullptr, edges);
  return {array<std::int64_t>(std::move(counts)), array<double>(std::move(edges))};
}
/// The same of bins from `low` to `high`.
template <class A, detail::if_array<A> = 0>
histogram_result histogram(const A& a, std::int64_t bins, double low, double high) {
  const double range[] = {low, high};
  detail::Handle edges, counts = detail::histogram(a.handle(), bins, range, edges);
  return {array<std::int64_t>(std::move(counts)), array<double>(std::move(edges))};
}
/// The same of bins between edges that ascend. ValueError where they do not.
template <class A, class E, detail::if_array<A> = 0>
histogram_result histogram(const A& a, const array<E>& edges) {
  return {array<std::int64_t>(detail::histogram_between(a.handle(), edges.handle())), edges};
}
/// The bin of each element: bins[i - 1] <= x < bins[i], or bins[i - 1] < x <= bins[i] when `right`
/// (numpy.digitize).
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
array<std::int64_t> digitize(const A& x, const B& bins, bool right = false) {
  return array<std::int64_t>(detail::digitize(x.handle(), bins.handle(), right));
}
/// The function through points (xp, fp), xp ascending, linear between and constant outside
/// (numpy.interp).
template <class A, class X, class F, detail::if_array<A> = 0, detail::if_array<X> = 0>
array<double> interp(const A& x, const X& xp, const F& fp) {
  return array<double>(detail::interp(x.handle(), xp.handle(), fp.handle()));
}
/// The same of a number.
template <class X, class F, detail::if_array<X> = 0, detail::if_array<F> = 0>
double interp(double x, const X& xp, const F& fp) {
  return interp(array<double>{x}, xp, fp).get(0);
}
/// How much of a convolution there is: where the two overlap at all, as long as the longer one, or
/// where they overlap whole.
enum class convolve_mode { full, same, valid };
/// The convolution of two arrays of one axis (numpy.convolve).
template <class T, class U>
array<promote_t<T, U>> convolve(const array<T>& a, const array<U>& v,
                                convolve_mode mode = convolve_mode::full) {
  return array<promote_t<T, U>>(detail::convolve(a.handle(), v.handle(), static_cast<int>(mode)));
}

}  // namespace plait
