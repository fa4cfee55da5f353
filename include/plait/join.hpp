// Arrays joined and split. Arrays in a list have one element type; those beside each other as
// arguments of hstack, vstack ... too. Throws ValueError for shapes that do not fit.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {
template <class T, class L>
array<T> joined(joining how, const L& arrays, std::int64_t axis = 0) {
  const auto h = handles(arrays.begin(), arrays.end());
  return array<T>(join(how, h.data(), static_cast<int>(h.size()), axis));
}
template <class T>
std::vector<array<T>> arrays_of(std::vector<Handle>&& handles) {
  std::vector<array<T>> out;
  for (Handle& h : handles) out.emplace_back(std::move(h));
  return out;
}
}  // namespace detail

// Along an existing axis; and along a new one.
#define PLAIT_JOIN(name)                                                         \
  template <class T>                                                             \
  array<T> name(std::initializer_list<array<T>> arrays, std::int64_t axis = 0) { \
    return detail::joined<T>(detail::joining::name, arrays, axis);               \
  }                                                                              \
  template <class T>                                                             \
  array<T> name(const std::vector<array<T>>& arrays, std::int64_t axis = 0) {    \
    return detail::joined<T>(detail::joining::name, arrays, axis);               \
  }
PLAIT_JOIN(concatenate)
PLAIT_JOIN(stack)
#undef PLAIT_JOIN
// Side by side, on top of each other, one behind the other, and vectors as columns.
#define PLAIT_JOIN(name)                                     \
  template <class T>                                         \
  array<T> name(std::initializer_list<array<T>> arrays) {    \
    return detail::joined<T>(detail::joining::name, arrays); \
  }                                                          \
  template <class T>                                         \
  array<T> name(const std::vector<array<T>>& arrays) {       \
    return detail::joined<T>(detail::joining::name, arrays); \
  }
PLAIT_JOIN(hstack)
PLAIT_JOIN(vstack)
PLAIT_JOIN(dstack)
PLAIT_JOIN(column_stack)
#undef PLAIT_JOIN

// So many parts, views: equal ones, or, of array_split, the first of them one longer. Or, at
// indices in braces, the parts before, between and behind them.
#define PLAIT_SPLIT(name, equal)                                                                  \
  template <class T>                                                                              \
  std::vector<array<T>> name(const array<T>& a, std::int64_t parts, std::int64_t axis = 0) {      \
    return detail::arrays_of<T>(detail::split(a.handle(), parts, axis, equal));                   \
  }                                                                                               \
  template <class T>                                                                              \
  std::vector<array<T>> name(const array<T>& a, std::initializer_list<std::int64_t> indices,      \
                             std::int64_t axis = 0) {                                             \
    return detail::arrays_of<T>(                                                                  \
        detail::split_at(a.handle(), {indices.begin(), static_cast<int>(indices.size())}, axis)); \
  }
PLAIT_SPLIT(split, true)
PLAIT_SPLIT(array_split, false)
#undef PLAIT_SPLIT
template <class T>
std::vector<array<T>> hsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("hsplit", a.handle(), 1);
  return split(a, parts, a.ndim() > 1 ? 1 : 0);
}
template <class T>
std::vector<array<T>> vsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("vsplit", a.handle(), 2);
  return split(a, parts, 0);
}
template <class T>
std::vector<array<T>> dsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("dsplit", a.handle(), 3);
  return split(a, parts, 2);
}

}  // namespace plait
