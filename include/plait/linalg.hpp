// Products and norms.
#pragma once
#include "plait/array.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

// numpy.matmul on operands of one element type after promotion. Throws ShapeError.
template <class T, class U>
array<promote_t<T, U>> matmul(const array<T>& a, const array<U>& b) {
  using R = promote_t<T, U>;
  return array<R>(detail::matmul(array<R>(a).handle(), array<R>(b).handle()));
}

namespace linalg {

// numpy.dot: inner product of vectors, matrix product, or a product with a scalar.
template <class T, class U>
array<promote_t<T, U>> dot(const array<T>& a, const array<U>& b) {
  using R = promote_t<T, U>;
  return array<R>(detail::dot(array<R>(a).handle(), array<R>(b).handle()));
}

// numpy.outer: the products of every pair of elements of two vectors.
template <class T, class U>
array<promote_t<T, U>> outer(const array<T>& a, const array<U>& b) {
  using R = promote_t<T, U>;
  return array<R>(detail::outer_product(array<R>(a).handle(), array<R>(b).handle()));
}

// The element type of a norm: real, and float64 for integers.
template <class T>
using norm_t = element_t<detail::reduced(detail::reduction::std, dtype_of_v<T>)>;

// The order of a norm, NumPy's `ord`: any number; infinity and 0 included. Implicit from one.
struct order {
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  constexpr order(N n) : value(static_cast<double>(n)) {}
  double value;
};

// numpy.linalg.norm(x, ord, axis, keepdims). A number alone is an order, as in NumPy; axes stand
// in braces, or behind an order. The Euclidean norm of all elements, or of vectors along one axis
// (Frobenius along two):
template <class T>
array<norm_t<T>> norm(const array<T>& a) {
  return array<norm_t<T>>(detail::norm(a.handle(), nullptr, nullptr, false));
}
template <class T>
array<norm_t<T>> norm(const array<T>& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<norm_t<T>>(detail::norm(a.handle(), &s, nullptr, false));
}
template <class T>
array<norm_t<T>> norm(const array<T>& a, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return array<norm_t<T>>(detail::norm(a.handle(), &s, nullptr, true));
}
// The norm of another order, of vectors (one axis) or matrices (two). Throws Error for the orders
// of a matrix that need singular values: 2 and -2.
template <class T, class O,
          class = std::enable_if_t<std::is_arithmetic_v<O> || std::is_same_v<O, order>>>
array<norm_t<T>> norm(const array<T>& a, O ord) {
  const double value = order(ord).value;
  return array<norm_t<T>>(detail::norm(a.handle(), nullptr, &value, false));
}
template <class T>
array<norm_t<T>> norm(const array<T>& a, order ord, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return array<norm_t<T>>(detail::norm(a.handle(), &s, &ord.value, false));
}
template <class T>
array<norm_t<T>> norm(const array<T>& a, order ord, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return array<norm_t<T>>(detail::norm(a.handle(), &s, &ord.value, true));
}

}  // namespace linalg
}  // namespace plait
