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
}  // namespace detail

template <class A, detail::if_array<A> = 0>
detail::like<A> sort(const A& a, std::int64_t axis = -1) {
  return detail::like<A>(detail::sort(a.handle(), axis, false));
}
template <class A, detail::if_array<A> = 0>
array<std::int64_t> argsort(const A& a, std::int64_t axis = -1) {
  return array<std::int64_t>(detail::argsort(a.handle(), axis));
}
// The element that sorting would put at index `kth` is there, none before it is greater, and none
// behind it less. argpartition: the indices of such an order.
template <class A, detail::if_array<A> = 0>
detail::like<A> partition(const A& a, std::int64_t kth, std::int64_t axis = -1) {
  return detail::like<A>(detail::partition(a.handle(), kth, axis, false));
}
template <class A, detail::if_array<A> = 0>
array<std::int64_t> argpartition(const A& a, std::int64_t kth, std::int64_t axis = -1) {
  return array<std::int64_t>(detail::partition(a.handle(), kth, axis, true));
}
// Where elements of `v` belong in `a`, which is sorted; behind equal ones on the right side.
enum class side { left, right };
template <class A, class V, detail::if_array<A> = 0, detail::if_array<V> = 0>
array<std::int64_t> searchsorted(const A& a, const V& v, side where = side::left) {
  return array<std::int64_t>(detail::searchsorted(a.handle(), v.handle(), where == side::right));
}
template <class A, class V, detail::if_array<A> = 0,
          class = std::enable_if_t<std::is_arithmetic_v<V>>>
std::int64_t searchsorted(const A& a, V v, side where = side::left) {
  return searchsorted(a, array<V>{v}, where).get(0);
}

// Of all elements, or along axes. NaN where one is among them.
template <class A, detail::if_array<A> = 0>
auto median(const A& a) {
  return array<detail::mean_t<detail::element_of<A>>>(detail::median(a.handle(), nullptr, false));
}
template <class A, detail::if_array<A> = 0>
auto median(const A& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::mean_t<detail::element_of<A>>>(detail::median(a.handle(), &s, false));
}
template <class A, detail::if_array<A> = 0>
auto median(const A& a, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return array<detail::mean_t<detail::element_of<A>>>(detail::median(a.handle(), &s, true));
}

// quantile: a number from 0 to 1, or several, whose results lie along a new first axis; linear
// between elements. percentile: from 0 to 100.
#define PLAIT_QUANTILE(name, whole)                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(const A& a, double q) {                                                            \
    return array<detail::mean_t<detail::element_of<A>>>(                                       \
        detail::quantile(a.handle(), &q, 0, whole, nullptr, false));                           \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(const A& a, double q, const extents& axes) {                                       \
    const detail::Span s = detail::span_of(axes);                                              \
    return array<detail::mean_t<detail::element_of<A>>>(                                       \
        detail::quantile(a.handle(), &q, 0, whole, &s, false));                                \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(const A& a, const std::vector<double>& q) {                                        \
    return array<detail::mean_t<detail::element_of<A>>>(detail::quantile(                      \
        a.handle(), q.data(), static_cast<int>(q.size()), whole, nullptr, false));             \
  }                                                                                            \
  template <class A, detail::if_array<A> = 0>                                                  \
  auto name(const A& a, const std::vector<double>& q, const extents& axes) {                   \
    const detail::Span s = detail::span_of(axes);                                              \
    return array<detail::mean_t<detail::element_of<A>>>(                                       \
        detail::quantile(a.handle(), q.data(), static_cast<int>(q.size()), whole, &s, false)); \
  }
PLAIT_QUANTILE(quantile, 1)
PLAIT_QUANTILE(percentile, 100)
#undef PLAIT_QUANTILE

// The different elements, in order; and how often each is there: auto [values, counts] = ...
template <class A, detail::if_array<A> = 0>
detail::like<A> unique(const A& a) {
  return detail::like<A>(detail::unique(a.handle(), nullptr));
}
template <class T>
struct unique_result {
  array<T> values;
  array<std::int64_t> counts;
};
template <class T>
unique_result<T> unique_counts(const array<T>& a) {
  detail::Handle counts;
  array<T> values(detail::unique(a.handle(), &counts));
  return {std::move(values), array<std::int64_t>(std::move(counts))};
}
// Where each of them is first, in C order; which of them each element is, an array of the shape of
// `a`; and how often it is there: auto [values, indices, inverse, counts] = unique_all(a).
template <class T>
struct unique_all_result {
  array<T> values;
  array<std::int64_t> indices, inverse, counts;
};
template <class A, detail::if_array<A> = 0>
unique_all_result<detail::element_of<A>> unique_all(const A& a) {
  detail::UniqueParts p;
  detail::like<A> values(detail::unique_all(a.handle(), p));
  return {std::move(values), array<std::int64_t>(std::move(p.indices)),
          array<std::int64_t>(std::move(p.inverse)), array<std::int64_t>(std::move(p.counts))};
}
// numpy.lexsort((a, b)): the indices that sort by the last key, equal ones by the key before it ...
template <class... A, class = std::enable_if_t<(detail::is_array_type<A>::value && ...)>>
array<std::int64_t> lexsort(const A&... keys) {
  const detail::Handle h[] = {keys.handle()...};
  return array<std::int64_t>(detail::lexsort(h, sizeof...(A)));
}
// Of the different elements of two arrays, in order.
#define PLAIT_SET(name, operation)                                                               \
  template <class T>                                                                             \
  array<T> name(const array<T>& a, const array<T>& b) {                                          \
    return array<T>(detail::combined(detail::set_operation::operation, a.handle(), b.handle())); \
  }
PLAIT_SET(union1d, unite)
PLAIT_SET(intersect1d, intersect)
PLAIT_SET(setxor1d, exclude)
PLAIT_SET(setdiff1d, subtract)
#undef PLAIT_SET
// Whether each element of `a` is one of `b`.
template <class T>
array<bool> isin(const array<T>& a, const array<T>& b) {
  return array<bool>(detail::isin(a.handle(), b.handle()));
}
template <class T>
array<bool> in1d(const array<T>& a, const array<T>& b) {
  return isin(a, b).reshape(-1);
}

}  // namespace plait
