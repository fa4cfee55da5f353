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
}  // namespace detail

// Of all elements in C order, or along an axis. NaN counts as 0 or 1 in the last two.
#define PLAIT_SCAN(name, kind)                                                  \
  template <class A, detail::if_array<A> = 0>                                   \
  auto name(const A& a) {                                                       \
    using R = detail::reduced_t<detail::reduction::sum, detail::element_of<A>>; \
    return array<R>(detail::cumulate(detail::scan::kind, a.handle(), nullptr)); \
  }                                                                             \
  template <class A, detail::if_array<A> = 0>                                   \
  auto name(const A& a, std::int64_t axis) {                                    \
    using R = detail::reduced_t<detail::reduction::sum, detail::element_of<A>>; \
    return array<R>(detail::cumulate(detail::scan::kind, a.handle(), &axis));   \
  }
PLAIT_SCAN(cumsum, sum)
PLAIT_SCAN(cumprod, product)
PLAIT_SCAN(nancumsum, sum_of_numbers)
PLAIT_SCAN(nancumprod, product_of_numbers)
#undef PLAIT_SCAN

// How often each integer from 0 on is there; or the sums of the weights of each.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> bincount(const A& x, std::int64_t min_length = 0) {
  return array<std::int64_t>(detail::bincount(x.handle(), nullptr, min_length));
}
template <class A, class W, detail::if_array<A> = 0, detail::if_array<W> = 0>
array<double> bincount(const A& x, const W& weights, std::int64_t min_length = 0) {
  return array<double>(detail::bincount(x.handle(), &weights.handle(), min_length));
}
// auto [counts, edges] = histogram(a, 10), of equal bins over all elements or from `low` to `high`,
// or between edges that ascend. The last bin holds its right edge.
struct histogram_result {
  array<std::int64_t> counts;
  array<double> edges;
};
template <class A, detail::if_array<A> = 0>
histogram_result histogram(const A& a, std::int64_t bins = 10) {
  detail::Handle edges, counts = detail::histogram(a.handle(), bins, nullptr, edges);
  return {array<std::int64_t>(std::move(counts)), array<double>(std::move(edges))};
}
template <class A, detail::if_array<A> = 0>
histogram_result histogram(const A& a, std::int64_t bins, double low, double high) {
  const double range[] = {low, high};
  detail::Handle edges, counts = detail::histogram(a.handle(), bins, range, edges);
  return {array<std::int64_t>(std::move(counts)), array<double>(std::move(edges))};
}
template <class A, class E, detail::if_array<A> = 0>
histogram_result histogram(const A& a, const array<E>& edges) {
  return {array<std::int64_t>(detail::histogram_between(a.handle(), edges.handle())), edges};
}
// The bin of each element: bins[i - 1] <= x < bins[i], or bins[i - 1] < x <= bins[i] when `right`.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
array<std::int64_t> digitize(const A& x, const B& bins, bool right = false) {
  return array<std::int64_t>(detail::digitize(x.handle(), bins.handle(), right));
}
// The function through points (xp, fp), xp ascending, linear between and constant outside.
template <class A, class X, class F, detail::if_array<A> = 0, detail::if_array<X> = 0>
array<double> interp(const A& x, const X& xp, const F& fp) {
  return array<double>(detail::interp(x.handle(), xp.handle(), fp.handle()));
}
enum class convolve_mode { full, same, valid };
template <class T, class U>
array<promote_t<T, U>> convolve(const array<T>& a, const array<U>& v,
                                convolve_mode mode = convolve_mode::full) {
  return array<promote_t<T, U>>(detail::convolve(a.handle(), v.handle(), static_cast<int>(mode)));
}

}  // namespace plait
