// Arrays joined and split. The result of arrays of one element type has that; of others, in a list,
// it is an any_array, and in a std::tuple an array of the type that they promote to. Throws
// ValueError for shapes that do not fit.
#pragma once
#include <tuple>

#include "plait/any_array.hpp"

namespace plait {

namespace detail {
template <class T, class L>
array<T> joined(joining how, const L& arrays, std::int64_t axis = 0) {
  const auto h = handles(arrays.begin(), arrays.end());
  return array<T>(join(how, h.data(), static_cast<int>(h.size()), axis));
}
inline any_array joined(joining how, std::initializer_list<any_array> arrays,
                        std::int64_t axis = 0) {
  return joined<void>(how, arrays, axis);
}
template <class... A>
auto joined(joining how, const std::tuple<A...>& arrays, std::int64_t axis = 0) {
  using T = element_t<plait::result_type(dtype_of_v<element_of<A>>...)>;
  return std::apply(
      [&](const auto&... a) {
        const Handle all[] = {a.handle()...};
        return array<T>(join(how, all, sizeof...(A), axis));
      },
      arrays);
}
template <class T>
std::vector<array<T>> arrays_of(std::vector<Handle>&& handles) {
  std::vector<array<T>> out;
  for (Handle& h : handles) out.emplace_back(std::move(h));
  return out;
}
}  // namespace detail

/// Arrays one after the other along an axis that they have (numpy.concatenate).
template <class T>
array<T> concatenate(std::initializer_list<array<T>> arrays, std::int64_t axis = 0) {
  return detail::joined<T>(detail::joining::concatenate, arrays, axis);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> concatenate(const std::vector<A>& arrays, std::int64_t axis = 0) {
  return detail::joined<detail::element_of<A>>(detail::joining::concatenate, arrays, axis);
}
/// The same of arrays of several element types, in braces.
inline any_array concatenate(std::initializer_list<any_array> arrays, std::int64_t axis = 0) {
  return detail::joined(detail::joining::concatenate, arrays, axis);
}
/// The same with the element type that they promote to: concatenate(std::tuple(a, b)).
template <class... A>
auto concatenate(const std::tuple<A...>& arrays, std::int64_t axis = 0) {
  return detail::joined(detail::joining::concatenate, arrays, axis);
}
/// Arrays of one shape one after the other along a new axis (numpy.stack).
template <class T>
array<T> stack(std::initializer_list<array<T>> arrays, std::int64_t axis = 0) {
  return detail::joined<T>(detail::joining::stack, arrays, axis);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> stack(const std::vector<A>& arrays, std::int64_t axis = 0) {
  return detail::joined<detail::element_of<A>>(detail::joining::stack, arrays, axis);
}
/// The same of arrays of several element types, in braces.
inline any_array stack(std::initializer_list<any_array> arrays, std::int64_t axis = 0) {
  return detail::joined(detail::joining::stack, arrays, axis);
}
/// The same with the element type that they promote to: stack(std::tuple(a, b)).
template <class... A>
auto stack(const std::tuple<A...>& arrays, std::int64_t axis = 0) {
  return detail::joined(detail::joining::stack, arrays, axis);
}
/// Arrays side by side: along the second axis, or the only one (numpy.hstack).
template <class T>
array<T> hstack(std::initializer_list<array<T>> arrays) {
  return detail::joined<T>(detail::joining::hstack, arrays);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> hstack(const std::vector<A>& arrays) {
  return detail::joined<detail::element_of<A>>(detail::joining::hstack, arrays);
}
/// The same of arrays of several element types, in braces.
inline any_array hstack(std::initializer_list<any_array> arrays) {
  return detail::joined(detail::joining::hstack, arrays);
}
/// The same with the element type that they promote to: hstack(std::tuple(a, b)).
template <class... A>
auto hstack(const std::tuple<A...>& arrays) {
  return detail::joined(detail::joining::hstack, arrays);
}
/// Arrays on top of each other, vectors as rows (numpy.vstack).
template <class T>
array<T> vstack(std::initializer_list<array<T>> arrays) {
  return detail::joined<T>(detail::joining::vstack, arrays);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> vstack(const std::vector<A>& arrays) {
  return detail::joined<detail::element_of<A>>(detail::joining::vstack, arrays);
}
/// The same of arrays of several element types, in braces.
inline any_array vstack(std::initializer_list<any_array> arrays) {
  return detail::joined(detail::joining::vstack, arrays);
}
/// The same with the element type that they promote to: vstack(std::tuple(a, b)).
template <class... A>
auto vstack(const std::tuple<A...>& arrays) {
  return detail::joined(detail::joining::vstack, arrays);
}
/// Arrays one behind the other, along the third axis (numpy.dstack).
template <class T>
array<T> dstack(std::initializer_list<array<T>> arrays) {
  return detail::joined<T>(detail::joining::dstack, arrays);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> dstack(const std::vector<A>& arrays) {
  return detail::joined<detail::element_of<A>>(detail::joining::dstack, arrays);
}
/// The same of arrays of several element types, in braces.
inline any_array dstack(std::initializer_list<any_array> arrays) {
  return detail::joined(detail::joining::dstack, arrays);
}
/// The same with the element type that they promote to: dstack(std::tuple(a, b)).
template <class... A>
auto dstack(const std::tuple<A...>& arrays) {
  return detail::joined(detail::joining::dstack, arrays);
}
/// Vectors as columns, and matrices side by side (numpy.column_stack).
template <class T>
array<T> column_stack(std::initializer_list<array<T>> arrays) {
  return detail::joined<T>(detail::joining::column_stack, arrays);
}
/// The same of a vector of arrays, or of tensors.
template <class A, detail::if_array<A> = 0>
detail::like<A> column_stack(const std::vector<A>& arrays) {
  return detail::joined<detail::element_of<A>>(detail::joining::column_stack, arrays);
}
/// The same of arrays of several element types, in braces.
inline any_array column_stack(std::initializer_list<any_array> arrays) {
  return detail::joined(detail::joining::column_stack, arrays);
}
/// The same with the element type that they promote to: column_stack(std::tuple(a, b)).
template <class... A>
auto column_stack(const std::tuple<A...>& arrays) {
  return detail::joined(detail::joining::column_stack, arrays);
}

/// So many equal parts along an axis, which are views (numpy.split). ValueError where the extent is
/// no multiple of their number.
template <class T>
std::vector<array<T>> split(const array<T>& a, std::int64_t parts, std::int64_t axis = 0) {
  return detail::arrays_of<T>(detail::split(a.handle(), parts, axis, true));
}
/// The parts before, between and behind indices along an axis, which are views.
template <class T>
std::vector<array<T>> split(const array<T>& a, std::initializer_list<std::int64_t> indices,
                            std::int64_t axis = 0) {
  return detail::arrays_of<T>(
      detail::split_at(a.handle(), {indices.begin(), static_cast<int>(indices.size())}, axis));
}
/// So many parts along an axis, which are views, the first of them one longer where it takes that
/// (numpy.array_split).
template <class T>
std::vector<array<T>> array_split(const array<T>& a, std::int64_t parts, std::int64_t axis = 0) {
  return detail::arrays_of<T>(detail::split(a.handle(), parts, axis, false));
}
/// The parts before, between and behind indices along an axis, which are views.
template <class T>
std::vector<array<T>> array_split(const array<T>& a, std::initializer_list<std::int64_t> indices,
                                  std::int64_t axis = 0) {
  return detail::arrays_of<T>(
      detail::split_at(a.handle(), {indices.begin(), static_cast<int>(indices.size())}, axis));
}
/// So many equal parts, side by side: along the second axis, or the only one (numpy.hsplit).
template <class T>
std::vector<array<T>> hsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("hsplit", a.handle(), 1);
  return split(a, parts, a.ndim() > 1 ? 1 : 0);
}
/// So many equal parts along the first axis of at least two (numpy.vsplit).
template <class T>
std::vector<array<T>> vsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("vsplit", a.handle(), 2);
  return split(a, parts, 0);
}
/// So many equal parts along the third axis (numpy.dsplit).
template <class T>
std::vector<array<T>> dsplit(const array<T>& a, std::int64_t parts) {
  detail::check_ndim("dsplit", a.handle(), 3);
  return split(a, parts, 2);
}

}  // namespace plait
