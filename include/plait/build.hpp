// Making arrays: NumPy's creation functions, and borrowing of foreign memory.
#pragma once
#include <tuple>

#include "plait/array.hpp"

namespace plait {

/// An array with whatever is in memory (numpy.empty).
template <class T = double>
array<T> empty(const extents& shape) {
  return array<T>(detail::empty(detail::span_of(shape), dtype_of_v<T>));
}
/// An array of one value: `full<T>(shape, value)`; without T of the value's type (numpy.full).
/// OverflowError for an integer that T cannot hold.
template <class T = void, class V>
auto full(const extents& shape, const V& value) {
  using E = std::conditional_t<std::is_void_v<T>, V, T>;
  const E element = detail::element_value<E>(value);
  return array<E>(detail::full(detail::span_of(shape), detail::Value::of(element)));
}
/// An array of zeros (numpy.zeros).
template <class T = double>
array<T> zeros(const extents& shape) {
  return full<T>(shape, T());
}
/// An array of ones (numpy.ones).
template <class T = double>
array<T> ones(const extents& shape) {
  return full<T>(shape, T(1));
}
/// zeros() of the element type and shape of `a` (numpy.zeros_like).
template <class T>
array<T> zeros_like(const array<T>& a) {
  return zeros<T>(a.shape());
}
/// ones() of the element type and shape of `a` (numpy.ones_like).
template <class T>
array<T> ones_like(const array<T>& a) {
  return ones<T>(a.shape());
}
/// empty() of the element type and shape of `a` (numpy.empty_like).
template <class T>
array<T> empty_like(const array<T>& a) {
  return empty<T>(a.shape());
}
/// full() of the element type and shape of `a` (numpy.full_like).
template <class T, class V>
array<T> full_like(const array<T>& a, const V& value) {
  return full<T>(a.shape(), value);
}

/// start, start + step, ... up to but without stop: of T, else of the arguments' common type
/// (numpy.arange).
template <class T = void, class A, class B, class S = int>
auto arange(A start, B stop, S step = S(1)) {
  using E = std::conditional_t<std::is_void_v<T>, std::common_type_t<A, B, S>, T>;
  return array<E>(detail::arange(detail::Value::of(static_cast<E>(start)),
                                 detail::Value::of(static_cast<E>(stop)),
                                 detail::Value::of(static_cast<E>(step))));
}
/// 0, 1, ... up to but without stop.
template <class T = void, class B>
auto arange(B stop) {
  return arange<std::conditional_t<std::is_void_v<T>, B, T>>(0, stop);
}
/// n numbers in equal distances from start to stop, or up to before it (numpy.linspace).
template <class T = double>
array<T> linspace(double start, double stop, std::int64_t n = 50, bool endpoint = true) {
  return array<T>(detail::linspace(start, stop, n, endpoint, dtype_of_v<T>));
}
/// Zeros with ones on the k-th diagonal (numpy.eye).
template <class T = double>
array<T> eye(std::int64_t rows, std::int64_t columns, std::int64_t k = 0) {
  return array<T>(detail::eye(rows, columns, k, dtype_of_v<T>));
}
/// The identity matrix of n rows.
template <class T = double>
array<T> eye(std::int64_t n) {
  return eye<T>(n, n);
}

/// The identity matrix of n rows (numpy.identity).
template <class T = double>
array<T> identity(std::int64_t n) {
  return eye<T>(n, n);
}
/// Ones on and below the k-th diagonal, zeros above (numpy.tri).
template <class T = double>
array<T> tri(std::int64_t rows, std::int64_t columns, std::int64_t k = 0) {
  const array<T> all_ones = ones<T>({rows, columns});
  return array<T>(detail::triangle(all_ones.handle(), k, true));
}
/// `base` to the powers that linspace() gives (numpy.logspace).
template <class T = double>
array<T> logspace(double start, double stop, std::int64_t n = 50, bool endpoint = true,
                  double base = 10) {
  return array<T>(detail::logspace(start, stop, n, endpoint, base, dtype_of_v<T>));
}
/// From start to stop in equal ratios, both exactly (numpy.geomspace). ValueError where one is 0.
template <class T = double>
array<T> geomspace(double start, double stop, std::int64_t n = 50, bool endpoint = true) {
  static_assert(detail::kind_of(dtype_of_v<T>) == detail::kind::floating,
                "plait: geomspace gives real numbers; see logspace");
  return array<T>(detail::geomspace(start, stop, n, endpoint, dtype_of_v<T>));
}
/// The indices of every element of an array of that shape: those along axis i are indices(shape)(i,
/// ...) (numpy.indices).
inline array<std::int64_t> indices(const extents& shape) {
  return array<std::int64_t>(detail::indices(detail::span_of(shape)));
}
/// The order of meshgrid()'s axes: with `xy`, NumPy's default, the first two change places; `ij` is
/// xtensor's.
enum class indexing { xy, ij };
/// The coordinates of a grid, one array an axis: auto [x, y] = meshgrid(indexing::ij, a, b)
/// (numpy.meshgrid).
template <class... T>
std::tuple<array<T>...> meshgrid(indexing order, const array<T>&... axes) {
  const detail::Handle given[] = {axes.handle()...};
  const auto made = detail::meshgrid(given, sizeof...(T), order == indexing::xy, false);
  std::size_t i = 0;
  std::tuple<array<T>...> out;
  std::apply([&](auto&... a) { ((a = std::decay_t<decltype(a)>(made[i++])), ...); }, out);
  return out;
}
/// The same in NumPy's order, indexing::xy.
template <class T, class... U>
std::tuple<array<T>, array<U>...> meshgrid(const array<T>& first, const array<U>&... axes) {
  return meshgrid(indexing::xy, first, axes...);
}

/// Borrows C-ordered memory without a copy. Writes reach the memory at eval() of the array, or when
/// the last array of this memory goes; what is pending on it is run then. Keep the memory alive
/// until then, and do not change it while operations on it are pending. A pointer to const gives a
/// read-only array. ValueError for what is null or not aligned.
template <class T>
array<std::remove_const_t<T>> adapt(T* data, const extents& shape) {
  using E = std::remove_const_t<T>;
  return array<E>(detail::borrow(const_cast<E*>(data), detail::span_of(shape), {nullptr, 0},
                                 dtype_of_v<E>, !std::is_const_v<T>));
}
/// The same with byte strides.
template <class T>
array<std::remove_const_t<T>> adapt(T* data, const extents& shape, const extents& byte_strides) {
  using E = std::remove_const_t<T>;
  return array<E>(detail::borrow(const_cast<E*>(data), detail::span_of(shape),
                                 detail::span_of(byte_strides), dtype_of_v<E>,
                                 !std::is_const_v<T>));
}
/// Borrows the elements of a vector, as one axis or as a shape of that size; of a const one they
/// are read-only. ShapeError.
template <class T, class A>
array<T> adapt(std::vector<T, A>& v) {
  static_assert(!std::is_same_v<T, bool>, "plait: std::vector<bool> is packed; array<bool>(v)");
  return adapt(v.data(), v.size());
}
template <class T, class A>
array<T> adapt(const std::vector<T, A>& v) {
  static_assert(!std::is_same_v<T, bool>, "plait: std::vector<bool> is packed; array<bool>(v)");
  return adapt(v.data(), v.size());
}
template <class T, class A>
array<T> adapt(std::vector<T, A>& v, const extents& shape) {
  return adapt(v).reshape(shape);
}
template <class T, class A>
array<T> adapt(const std::vector<T, A>& v, const extents& shape) {
  return adapt(v).reshape(shape);
}
// Nobody would own the elements: adopt(std::move(v)) does.
template <class T, class A>
array<T> adapt(std::vector<T, A>&&) = delete;
template <class T, class A>
array<T> adapt(std::vector<T, A>&&, const extents&) = delete;

}  // namespace plait
