// Covariances, correlations, order statistics and extrema without NaNs, histograms of several
// dimensions.
#pragma once
#include "plait/any_array.hpp"
#include "plait/scan.hpp"
#include "plait/sorting.hpp"

namespace plait {

namespace detail {
PLAIT_API any_array cov(const any_array& a, const any_array* b, bool rows, double ddof);
PLAIT_API any_array corrcoef(const any_array& a, const any_array* b, bool rows);
PLAIT_API Handle correlate(const Handle& a, const Handle& v, int mode);
PLAIT_API Handle nanmedian(const Handle& a, const Span* axes, bool keepdims);
PLAIT_API Handle nanquantile(const Handle& a, const double* q, int n, double whole,
                             const Span* axes);
PLAIT_API Handle nanarg(const Handle& a, bool least, const Span* axis);
PLAIT_API Handle bin_edges(const Handle& a, std::int64_t bins, const double* range);
PLAIT_API any_array histogramdd(const std::vector<any_array>& columns,
                                const std::vector<any_array>& edges);
template <class T>
using double_of = array<promote_t<T, double>>;
}  // namespace detail

// Each row is a variable and each column an observation of all of them, or the other way around;
// the variables of `b` come behind those of `a`. Sums are divided by the observations less `ddof`.
template <class A, detail::if_array<A> = 0>
auto cov(const A& a, bool rowvar = true, double ddof = 1) {
  return detail::double_of<detail::element_of<A>>(detail::cov(a, nullptr, rowvar, ddof).handle());
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto cov(const A& a, const B& b, bool rowvar = true, double ddof = 1) {
  const any_array other = b;
  return detail::double_of<promote_t<detail::element_of<A>, detail::element_of<B>>>(
      detail::cov(a, &other, rowvar, ddof).handle());
}
template <class A, detail::if_array<A> = 0>
auto corrcoef(const A& a, bool rowvar = true) {
  return detail::double_of<detail::element_of<A>>(detail::corrcoef(a, nullptr, rowvar).handle());
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto corrcoef(const A& a, const B& b, bool rowvar = true) {
  const any_array other = b;
  return detail::double_of<promote_t<detail::element_of<A>, detail::element_of<B>>>(
      detail::corrcoef(a, &other, rowvar).handle());
}
// The sums of a[n + k] * conj(v[n]).
template <class T, class U>
array<promote_t<T, U>> correlate(const array<T>& a, const array<U>& v,
                                 convolve_mode mode = convolve_mode::valid) {
  return array<promote_t<T, U>>(detail::correlate(a.handle(), v.handle(), static_cast<int>(mode)));
}

template <class A, detail::if_array<A> = 0>
auto nanmedian(const A& a) {
  return array<detail::mean_t<detail::element_of<A>>>(
      detail::nanmedian(a.handle(), nullptr, false));
}
template <class A, detail::if_array<A> = 0>
auto nanmedian(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::mean_t<detail::element_of<A>>>(detail::nanmedian(a.handle(), &s, false));
}
template <class A, detail::if_array<A> = 0>
auto nanmedian(const A& a, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::mean_t<detail::element_of<A>>>(detail::nanmedian(a.handle(), &s, true));
}
#define PLAIT_QUANTILE(name, whole)                                                             \
  template <class A, detail::if_array<A> = 0>                                                   \
  auto name(const A& a, double q) {                                                             \
    return array<detail::mean_t<detail::element_of<A>>>(                                        \
        detail::nanquantile(a.handle(), &q, 0, whole, nullptr));                                \
  }                                                                                             \
  template <class A, detail::if_array<A> = 0>                                                   \
  auto name(const A& a, double q, const extents& axes) {                                        \
    const detail::Span s = detail::span_of(axes);                                               \
    return array<detail::mean_t<detail::element_of<A>>>(                                        \
        detail::nanquantile(a.handle(), &q, 0, whole, &s));                                     \
  }                                                                                             \
  template <class A, detail::if_array<A> = 0>                                                   \
  auto name(const A& a, const std::vector<double>& q) {                                         \
    return array<detail::mean_t<detail::element_of<A>>>(                                        \
        detail::nanquantile(a.handle(), q.data(), static_cast<int>(q.size()), whole, nullptr)); \
  }                                                                                             \
  template <class A, detail::if_array<A> = 0>                                                   \
  auto name(const A& a, const std::vector<double>& q, const extents& axes) {                    \
    const detail::Span s = detail::span_of(axes);                                               \
    return array<detail::mean_t<detail::element_of<A>>>(                                        \
        detail::nanquantile(a.handle(), q.data(), static_cast<int>(q.size()), whole, &s));      \
  }
PLAIT_QUANTILE(nanquantile, 1)
PLAIT_QUANTILE(nanpercentile, 100)
#undef PLAIT_QUANTILE
// ValueError where there is nothing but NaNs: evaluates.
#define PLAIT_NANARG(name, least)                                           \
  template <class A, detail::if_array<A> = 0>                               \
  array<std::int64_t> name(const A& a) {                                    \
    return array<std::int64_t>(detail::nanarg(a.handle(), least, nullptr)); \
  }                                                                         \
  template <class A, detail::if_array<A> = 0>                               \
  array<std::int64_t> name(const A& a, std::int64_t axis) {                 \
    const detail::Span s = {&axis, 1};                                      \
    return array<std::int64_t>(detail::nanarg(a.handle(), least, &s));      \
  }
PLAIT_NANARG(nanargmin, true)
PLAIT_NANARG(nanargmax, false)
#undef PLAIT_NANARG

// The edges of histogram(): of equal bins over all elements, or from `low` to `high`.
template <class A, detail::if_array<A> = 0>
array<double> histogram_bin_edges(const A& a, std::int64_t bins = 10) {
  return array<double>(detail::bin_edges(a.handle(), bins, nullptr));
}
template <class A, detail::if_array<A> = 0>
array<double> histogram_bin_edges(const A& a, std::int64_t bins, double low, double high) {
  const double range[] = {low, high};
  return array<double>(detail::bin_edges(a.handle(), bins, range));
}
// auto [counts, x_edges, y_edges] = histogram2d(x, y, 10), of as many bins along both, or of {10,
// 20}, or between edges. The last bins hold their right edges.
struct histogram2d_result {
  array<double> counts, x_edges, y_edges;
};
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
histogram2d_result histogram2d(const A& x, const B& y, const array<double>& x_edges,
                               const array<double>& y_edges) {
  return {array<double>(detail::histogramdd({x, y}, {x_edges, y_edges}).handle()), x_edges,
          y_edges};
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
histogram2d_result histogram2d(const A& x, const B& y, const extents& bins = 10) {
  return histogram2d(x, y, histogram_bin_edges(x, bins.data()[0]),
                     histogram_bin_edges(y, bins.data()[bins.size() - 1]));
}
// auto [counts, edges] = histogramdd(sample, 10), of rows of as many coordinates.
struct histogramdd_result {
  array<double> counts;
  std::vector<array<double>> edges;
};
template <class A, class E, detail::if_array<A> = 0>
histogramdd_result histogramdd(const A& sample, const std::vector<array<E>>& edges) {
  detail::check_ndim("histogramdd", sample.handle(), 2);
  std::vector<any_array> columns;
  for (std::int64_t i = 0; i < sample.shape(1); ++i) columns.push_back(col(sample, i));
  return {
      array<double>(detail::histogramdd(columns, std::vector<any_array>(edges.begin(), edges.end()))
                        .handle()),
      std::vector<array<double>>(edges.begin(), edges.end())};
}
template <class A, detail::if_array<A> = 0>
histogramdd_result histogramdd(const A& sample, const extents& bins = 10) {
  detail::check_ndim("histogramdd", sample.handle(), 2);
  const bool one = bins.size() == 1;
  if (!one && bins.size() != sample.shape(1))
    throw ValueError("The dimension of bins must be equal to the dimension of the sample x.");
  std::vector<array<double>> edges;
  for (std::int64_t i = 0; i < sample.shape(1); ++i)
    edges.push_back(histogram_bin_edges(detail::like<A>(col(sample, i)), bins.data()[one ? 0 : i]));
  return histogramdd(sample, edges);
}

}  // namespace plait
