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
// Of all elements where `axes` is null.
template <class A>
mean_of<A> nanmedian_of(const A& a, const extents* axes, bool keepdims) {
  const Span s = axes ? span_of(*axes) : Span{nullptr, 0};
  return mean_of<A>(nanmedian(a.handle(), axes ? &s : nullptr, keepdims));
}
// n is 0 for a number by itself.
template <class A>
mean_of<A> nanquantile_of(const A& a, const double* q, std::size_t n, double whole,
                          const extents* axes) {
  const Span s = axes ? span_of(*axes) : Span{nullptr, 0};
  return mean_of<A>(nanquantile(a.handle(), q, static_cast<int>(n), whole, axes ? &s : nullptr));
}
}  // namespace detail

/// The covariances of variables (numpy.cov). Each row is a variable and each column an observation
/// of all of them, or the other way around; sums are divided by the observations less `ddof`.
template <class A, detail::if_array<A> = 0>
auto cov(const A& a, bool rowvar = true, double ddof = 1) {
  return detail::double_of<detail::element_of<A>>(detail::cov(a, nullptr, rowvar, ddof).handle());
}
/// The same with the variables of `b` behind those of `a`.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto cov(const A& a, const B& b, bool rowvar = true, double ddof = 1) {
  const any_array other = b;
  return detail::double_of<promote_t<detail::element_of<A>, detail::element_of<B>>>(
      detail::cov(a, &other, rowvar, ddof).handle());
}
/// The correlation coefficients of variables, rows or columns (numpy.corrcoef).
template <class A, detail::if_array<A> = 0>
auto corrcoef(const A& a, bool rowvar = true) {
  return detail::double_of<detail::element_of<A>>(detail::corrcoef(a, nullptr, rowvar).handle());
}
/// The same with the variables of `b` behind those of `a`.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto corrcoef(const A& a, const B& b, bool rowvar = true) {
  const any_array other = b;
  return detail::double_of<promote_t<detail::element_of<A>, detail::element_of<B>>>(
      detail::corrcoef(a, &other, rowvar).handle());
}
/// The sums of a[n + k] * conj(v[n]), of arrays of one axis (numpy.correlate).
template <class T, class U>
array<promote_t<T, U>> correlate(const array<T>& a, const array<U>& v,
                                 convolve_mode mode = convolve_mode::valid) {
  return array<promote_t<T, U>>(detail::correlate(a.handle(), v.handle(), static_cast<int>(mode)));
}

/// median() of what is not NaN; NaN where all are (numpy.nanmedian).
template <class A, detail::if_array<A> = 0>
auto nanmedian(const A& a) {
  return detail::nanmedian_of(a, nullptr, false);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanmedian(const A& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::nanmedian_of(a, &axes, keep);
}
/// quantile() of what is not NaN; NaN where all are (numpy.nanquantile).
template <class A, detail::if_array<A> = 0>
auto nanquantile(const A& a, double q) {
  return detail::nanquantile_of(a, &q, 0, 1, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanquantile(const A& a, double q, const extents& axes) {
  return detail::nanquantile_of(a, &q, 0, 1, &axes);
}
/// The same of several numbers, whose results lie along a new first axis.
template <class A, detail::if_array<A> = 0>
auto nanquantile(const A& a, const std::vector<double>& q) {
  return detail::nanquantile_of(a, q.data(), q.size(), 1, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanquantile(const A& a, const std::vector<double>& q, const extents& axes) {
  return detail::nanquantile_of(a, q.data(), q.size(), 1, &axes);
}
/// percentile() of what is not NaN; NaN where all are (numpy.nanpercentile).
template <class A, detail::if_array<A> = 0>
auto nanpercentile(const A& a, double q) {
  return detail::nanquantile_of(a, &q, 0, 100, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanpercentile(const A& a, double q, const extents& axes) {
  return detail::nanquantile_of(a, &q, 0, 100, &axes);
}
/// The same of several numbers, whose results lie along a new first axis.
template <class A, detail::if_array<A> = 0>
auto nanpercentile(const A& a, const std::vector<double>& q) {
  return detail::nanquantile_of(a, q.data(), q.size(), 100, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto nanpercentile(const A& a, const std::vector<double>& q, const extents& axes) {
  return detail::nanquantile_of(a, q.data(), q.size(), 100, &axes);
}
/// Where the least element that is not NaN is first, of all in C order (numpy.nanargmin).
/// Evaluates; ValueError where all are NaN.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> nanargmin(const A& a) {
  return array<std::int64_t>(detail::nanarg(a.handle(), true, nullptr));
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> nanargmin(const A& a, std::int64_t axis) {
  const detail::Span s = {&axis, 1};
  return array<std::int64_t>(detail::nanarg(a.handle(), true, &s));
}
/// Where the greatest element that is not NaN is first, of all in C order (numpy.nanargmax).
/// Evaluates; ValueError where all are NaN.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> nanargmax(const A& a) {
  return array<std::int64_t>(detail::nanarg(a.handle(), false, nullptr));
}
/// The same along an axis.
template <class A, detail::if_array<A> = 0>
array<std::int64_t> nanargmax(const A& a, std::int64_t axis) {
  const detail::Span s = {&axis, 1};
  return array<std::int64_t>(detail::nanarg(a.handle(), false, &s));
}
/// The edges of histogram(): of equal bins from the least element to the greatest
/// (numpy.histogram_bin_edges).
template <class A, detail::if_array<A> = 0>
array<double> histogram_bin_edges(const A& a, std::int64_t bins = 10) {
  return array<double>(detail::bin_edges(a.handle(), bins, nullptr));
}
/// The same from `low` to `high`.
template <class A, detail::if_array<A> = 0>
array<double> histogram_bin_edges(const A& a, std::int64_t bins, double low, double high) {
  const double range[] = {low, high};
  return array<double>(detail::bin_edges(a.handle(), bins, range));
}
/// What histogram2d() gives: auto [counts, x_edges, y_edges] = histogram2d(x, y, 10).
struct histogram2d_result {
  array<double> counts, x_edges, y_edges;
};
/// How many points (x, y) are in each bin between edges (numpy.histogram2d). The last bins hold
/// their right edges.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
histogram2d_result histogram2d(const A& x, const B& y, const array<double>& x_edges,
                               const array<double>& y_edges) {
  return {array<double>(detail::histogramdd({x, y}, {x_edges, y_edges}).handle()), x_edges,
          y_edges};
}
/// The same of equal bins: as many along both, or of {10, 20}.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
histogram2d_result histogram2d(const A& x, const B& y, const extents& bins = 10) {
  return histogram2d(x, y, histogram_bin_edges(x, bins.data()[0]),
                     histogram_bin_edges(y, bins.data()[bins.size() - 1]));
}
/// What histogramdd() gives: auto [counts, edges] = histogramdd(sample, 10).
struct histogramdd_result {
  array<double> counts;
  std::vector<array<double>> edges;
};
/// How many rows of a matrix, each the coordinates of a point, are in each bin between edges
/// (numpy.histogramdd).
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
/// The same of equal bins: as many along all axes, or a number for each.
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
