// Sorting, searching, order statistics and sets. NaN comes last, as in NumPy.
#pragma once
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
enum class set_operation : std::uint8_t { unite, intersect, exclude, subtract };
PLAIT_API Handle sort(const Handle& a, std::int64_t axis, bool stable);
PLAIT_API Handle argsort(const Handle& a, std::int64_t axis);
PLAIT_API Handle partition(const Handle& a, std::int64_t kth, std::int64_t axis, bool indices);
PLAIT_API Handle searchsorted(const Handle& a, const Handle& v, bool right);
PLAIT_API Handle median(const Handle& a, const Span* axes, bool keepdims);
PLAIT_API Handle quantile(const Handle& a, const double* q, int n, double whole, const Span* axes,
                          bool keepdims);
PLAIT_API Handle unique(const Handle& a, Handle* counts);
PLAIT_API Handle combined(set_operation o, const Handle& a, const Handle& b);
struct UniqueParts {
  Handle indices, inverse, counts;
};
PLAIT_API Handle unique_all(const Handle& a, UniqueParts& parts);
PLAIT_API Handle lexsort(const Handle* keys, int n);
PLAIT_API Handle isin(const Handle& a, const Handle& b);
// Of all elements where `axes` is null.
template <class A>
mean_of<A> median_of(const A& a, const extents* axes, bool keepdims) {
  const Span s = axes ? span_of(*axes) : Span{nullptr, 0};
  return mean_of<A>(median(a.handle(), axes ? &s : nullptr, keepdims));
}
// n is 0 for a number by itself.
template <class A>
mean_of<A> quantile_of(const A& a, const double* q, std::size_t n, double whole,
                       const extents* axes) {
  const Span s = axes ? span_of(*axes) : Span{nullptr, 0};
  return mean_of<A>(
      quantile(a.handle(), q, static_cast<int>(n), whole, axes ? &s : nullptr, false));
}
constexpr dtype sorted_complex(dtype t) {
  return is_complex(t)                      ? t
         : is_integer(t) && size_of(t) <= 2 ? dtype::complex64
                                            : dtype::complex128;
}
}  // namespace detail

/// A sorted copy along an axis, NaN last (numpy.sort).
template <class A, detail::if_array<A> = 0>
detail::like<A> sort(const A& a, std::int64_t axis = -1) {
  return detail::like<A>(detail::sort(a.handle(), axis, false));
}
/// The same as complex numbers, of 64 bits of integers of up to 16, of 128 of other real numbers
/// (numpy.sort_complex).
template <class A, detail::if_array<A> = 0>
auto sort_complex(const A& a) {
  const detail::Handle sorted = detail::sort(a.handle(), -1, false);
  const detail::Handle h = detail::astype(sorted, detail::sorted_complex(detail::dtype_of(sorted)));
  if constexpr (detail::is_untyped<A>)
    return any_array(h);
  else
    return array<element_t<detail::sorted_complex(dtype_of_v<detail::element_of<A>>)>>(h);
}
/// The indices that sort along an axis (numpy.argsort).
template <class A, detail::if_array<A> = 0>
array<std::int64_t> argsort(const A& a, std::int64_t axis = -1) {
  return array<std::int64_t>(detail::argsort(a.handle(), axis));
}
/// A copy in which the element that sorting would put at index `kth` is there, none before it is
/// greater, and none behind it less (numpy.partition). ValueError for an index out of bounds.
template <class A, detail::if_array<A> = 0>
detail::like<A> partition(const A& a, std::int64_t kth, std::int64_t axis = -1) {
  return detail::like<A>(detail::partition(a.handle(), kth, axis, false));
}
/// The indices of such an order (numpy.argpartition).
template <class A, detail::if_array<A> = 0>
array<std::int64_t> argpartition(const A& a, std::int64_t kth, std::int64_t axis = -1) {
  return array<std::int64_t>(detail::partition(a.handle(), kth, axis, true));
}
/// On which side of equal elements searchsorted() is.
enum class side { left, right };
/// Where elements of `v` belong in `a`, which is sorted; behind equal ones on the right side
/// (numpy.searchsorted).
template <class A, class V, detail::if_array<A> = 0, detail::if_array<V> = 0>
array<std::int64_t> searchsorted(const A& a, const V& v, side where = side::left) {
  return array<std::int64_t>(detail::searchsorted(a.handle(), v.handle(), where == side::right));
}
/// Where a number belongs. Evaluates.
template <class A, class V, detail::if_array<A> = 0,
          class = std::enable_if_t<std::is_arithmetic_v<V>>>
std::int64_t searchsorted(const A& a, V v, side where = side::left) {
  return searchsorted(a, array<V>{v}, where).get(0);
}

/// The element in the middle of all, or the mean of the two there; NaN where one is
/// (numpy.median). float64 of integers.
template <class A, detail::if_array<A> = 0>
auto median(const A& a) {
  return detail::median_of(a, nullptr, false);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto median(const A& a, const extents& axes, keep_dims_flag keep = {}) {
  return detail::median_of(a, &axes, keep);
}

/// What a share `q` of the elements, from 0 to 1, is below, linear between elements; NaN where one
/// is (numpy.quantile). float64 of integers. ValueError for other shares.
template <class A, detail::if_array<A> = 0>
auto quantile(const A& a, double q) {
  return detail::quantile_of(a, &q, 0, 1, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto quantile(const A& a, double q, const extents& axes) {
  return detail::quantile_of(a, &q, 0, 1, &axes);
}
/// The same of several numbers, whose results lie along a new first axis.
template <class A, detail::if_array<A> = 0>
auto quantile(const A& a, const std::vector<double>& q) {
  return detail::quantile_of(a, q.data(), q.size(), 1, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto quantile(const A& a, const std::vector<double>& q, const extents& axes) {
  return detail::quantile_of(a, q.data(), q.size(), 1, &axes);
}
/// quantile() of a share from 0 to 100 (numpy.percentile).
template <class A, detail::if_array<A> = 0>
auto percentile(const A& a, double q) {
  return detail::quantile_of(a, &q, 0, 100, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto percentile(const A& a, double q, const extents& axes) {
  return detail::quantile_of(a, &q, 0, 100, &axes);
}
/// The same of several numbers, whose results lie along a new first axis.
template <class A, detail::if_array<A> = 0>
auto percentile(const A& a, const std::vector<double>& q) {
  return detail::quantile_of(a, q.data(), q.size(), 100, nullptr);
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
auto percentile(const A& a, const std::vector<double>& q, const extents& axes) {
  return detail::quantile_of(a, q.data(), q.size(), 100, &axes);
}
/// The different elements, in order, 1-D (numpy.unique).
template <class A, detail::if_array<A> = 0>
detail::like<A> unique(const A& a) {
  return detail::like<A>(detail::unique(a.handle(), nullptr));
}
/// What unique_counts() gives: auto [values, counts] = unique_counts(a).
template <class T>
struct unique_result {
  array<T> values;
  array<std::int64_t> counts;
};
/// The different elements, in order, and how often each is there (numpy.unique_counts).
template <class T>
unique_result<T> unique_counts(const array<T>& a) {
  detail::Handle counts;
  array<T> values(detail::unique(a.handle(), &counts));
  return {std::move(values), array<std::int64_t>(std::move(counts))};
}
/// What unique_all() gives: auto [values, indices, inverse, counts] = unique_all(a).
template <class T>
struct unique_all_result {
  array<T> values;
  array<std::int64_t> indices, inverse, counts;
};
/// The different elements, where each of them is first, in C order, which of them each element is,
/// an array of the shape of `a`, and how often it is there (numpy.unique_all).
template <class A, detail::if_array<A> = 0>
unique_all_result<detail::element_of<A>> unique_all(const A& a) {
  detail::UniqueParts p;
  detail::like<A> values(detail::unique_all(a.handle(), p));
  return {std::move(values), array<std::int64_t>(std::move(p.indices)),
          array<std::int64_t>(std::move(p.inverse)), array<std::int64_t>(std::move(p.counts))};
}
/// The indices that sort by the last key, equal ones by the key before it ... (numpy.lexsort).
template <class... A, class = std::enable_if_t<(detail::is_array_type<A>::value && ...)>>
array<std::int64_t> lexsort(const A&... keys) {
  const detail::Handle h[] = {keys.handle()...};
  return array<std::int64_t>(detail::lexsort(h, sizeof...(A)));
}
/// The different elements that `a` or `b` have, in order (numpy.union1d).
template <class T>
array<T> union1d(const array<T>& a, const array<T>& b) {
  return array<T>(detail::combined(detail::set_operation::unite, a.handle(), b.handle()));
}
/// The different elements that both have, in order (numpy.intersect1d).
template <class T>
array<T> intersect1d(const array<T>& a, const array<T>& b) {
  return array<T>(detail::combined(detail::set_operation::intersect, a.handle(), b.handle()));
}
/// The different elements that exactly one has, in order (numpy.setxor1d).
template <class T>
array<T> setxor1d(const array<T>& a, const array<T>& b) {
  return array<T>(detail::combined(detail::set_operation::exclude, a.handle(), b.handle()));
}
/// The different elements of `a` that `b` does not have, in order (numpy.setdiff1d).
template <class T>
array<T> setdiff1d(const array<T>& a, const array<T>& b) {
  return array<T>(detail::combined(detail::set_operation::subtract, a.handle(), b.handle()));
}
/// Whether each element of `a` is one of `b` (numpy.isin).
template <class T>
array<bool> isin(const array<T>& a, const array<T>& b) {
  return array<bool>(detail::isin(a.handle(), b.handle()));
}
/// isin() as an array of one axis.
template <class T>
array<bool> in1d(const array<T>& a, const array<T>& b) {
  return isin(a, b).reshape(-1);
}

}  // namespace plait
