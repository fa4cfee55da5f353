// Making arrays: NumPy's creation functions, joining, and borrowing of foreign memory.
#pragma once
#include "plait/array.hpp"
#include "plait/math.hpp"

namespace plait {

template <class T = double>
array<T> empty(const extents& shape) {
  return array<T>(detail::empty(detail::span_of(shape), dtype_of_v<T>));
}
// full<T>(shape, value); without T the value's type. Throws OverflowError for an integer that T
// cannot hold.
template <class T = void, class V>
auto full(const extents& shape, const V& value) {
  using E = std::conditional_t<std::is_void_v<T>, V, T>;
  const E element = detail::element_value<E>(value);
  return array<E>(detail::full(detail::span_of(shape), detail::Value::of(element)));
}
template <class T = double>
array<T> zeros(const extents& shape) {
  return full<T>(shape, T());
}
template <class T = double>
array<T> ones(const extents& shape) {
  return full<T>(shape, T(1));
}
template <class T>
array<T> zeros_like(const array<T>& a) {
  return zeros<T>(a.shape());
}
template <class T>
array<T> ones_like(const array<T>& a) {
  return ones<T>(a.shape());
}
template <class T>
array<T> empty_like(const array<T>& a) {
  return empty<T>(a.shape());
}
template <class T, class V>
array<T> full_like(const array<T>& a, const V& value) {
  return full<T>(a.shape(), value);
}

// start, start + step, ... up to but without stop.
template <class T = std::int64_t>
array<T> arange(T start, T stop, T step = T(1)) {
  return array<T>(
      detail::arange(detail::Value::of(start), detail::Value::of(stop), detail::Value::of(step)));
}
template <class T = std::int64_t>
array<T> arange(T stop) {
  return arange<T>(T(0), stop);
}
template <class T = double>
array<T> linspace(double start, double stop, std::int64_t n = 50, bool endpoint = true) {
  return array<T>(detail::linspace(start, stop, n, endpoint, dtype_of_v<T>));
}
template <class T = double>
array<T> eye(std::int64_t rows, std::int64_t columns, std::int64_t k = 0) {
  return array<T>(detail::eye(rows, columns, k, dtype_of_v<T>));
}
template <class T = double>
array<T> eye(std::int64_t n) {
  return eye<T>(n, n);
}

// Along an existing axis; and along a new one. Throws ValueError for shapes that differ elsewhere.
template <class T>
array<T> concatenate(std::initializer_list<array<T>> arrays, std::int64_t axis = 0) {
  const auto h = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::join(h.data(), static_cast<int>(h.size()), axis, false));
}
template <class T>
array<T> concatenate(const std::vector<array<T>>& arrays, std::int64_t axis = 0) {
  const auto h = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::join(h.data(), static_cast<int>(h.size()), axis, false));
}
template <class T>
array<T> stack(std::initializer_list<array<T>> arrays, std::int64_t axis = 0) {
  const auto h = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::join(h.data(), static_cast<int>(h.size()), axis, true));
}
template <class T>
array<T> stack(const std::vector<array<T>>& arrays, std::int64_t axis = 0) {
  const auto h = detail::handles(arrays.begin(), arrays.end());
  return array<T>(detail::join(h.data(), static_cast<int>(h.size()), axis, true));
}

// Copies of an array, rearranged: numpy.tile, repeat, roll (around the ends), and the lower and
// upper triangles of matrices.
template <class T>
array<T> tile(const array<T>& a, const extents& reps) {
  return array<T>(detail::tile(a.handle(), detail::span_of(reps)));
}
template <class T>
array<T> repeat(const array<T>& a, std::int64_t n, std::int64_t axis) {
  return array<T>(detail::repeat(a.handle(), n, axis));
}
template <class T>
array<T> repeat(const array<T>& a, std::int64_t n) {  // of all elements in C order, 1-D
  return repeat<T>(a.reshape(-1), n, 0);
}
template <class T>
array<T> roll(const array<T>& a, const extents& shifts, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<T>(detail::roll(a.handle(), detail::span_of(shifts), &s));
}
template <class T>
array<T> roll(const array<T>& a, std::int64_t shift) {
  return array<T>(detail::roll(a.handle(), {&shift, 1}, nullptr));
}
template <class T>
array<T> tril(const array<T>& a, std::int64_t k = 0) {
  return array<T>(detail::triangle(a.handle(), k, true));
}
template <class T>
array<T> triu(const array<T>& a, std::int64_t k = 0) {
  return array<T>(detail::triangle(a.handle(), k, false));
}

// Borrows C-ordered memory without a copy. Writes reach the memory at eval() of the array, or when
// the last array of this memory goes; what is pending on it is run then. Keep the memory alive
// until then, and do not change it while operations on it are pending. A pointer to const gives a
// read-only array.
template <class T>
array<std::remove_const_t<T>> adapt(T* data, const extents& shape) {
  using E = std::remove_const_t<T>;
  return array<E>(detail::borrow(const_cast<E*>(data), detail::span_of(shape), {nullptr, 0},
                                 dtype_of_v<E>, !std::is_const_v<T>));
}
// The same with byte strides.
template <class T>
array<std::remove_const_t<T>> adapt(T* data, const extents& shape, const extents& byte_strides) {
  using E = std::remove_const_t<T>;
  return array<E>(detail::borrow(const_cast<E*>(data), detail::span_of(shape),
                                 detail::span_of(byte_strides), dtype_of_v<E>,
                                 !std::is_const_v<T>));
}

}  // namespace plait
