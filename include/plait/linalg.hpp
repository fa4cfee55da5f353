// Products and norms.
#pragma once
#include "plait/array.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait {

namespace detail {
PLAIT_API Handle einsum(const std::string& subscripts, const Handle* operands, int n);
// f of the handles of both operands in the type that they promote to.
template <class A, class B, class F>
auto promoted(A&& a, B&& b, F f) {
  using R = promote_t<element_of<A>, element_of<B>>;
  return array<R>(f(array<R>(std::forward<A>(a)).handle(), array<R>(std::forward<B>(b)).handle()));
}
template <product P, class A, class B>
auto multiplied(A&& a, B&& b) {
  return promoted(std::forward<A>(a), std::forward<B>(b),
                  [](const Handle& x, const Handle& y) { return multiply(P, x, y); });
}
}  // namespace detail

// NumPy's products, on operands of one element type after promotion. matmul: of matrices, or stacks
// of them; dot: of vectors, of matrices, or with a scalar; vdot and inner: of vectors (vdot
// conjugates the first); outer: of every pair of elements; kron: of every element with the whole
// other array. Throws ShapeError.
#define PLAIT_PRODUCT(name)                                                                   \
  template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>               \
  auto name(A&& a, B&& b) {                                                                   \
    return detail::multiplied<detail::product::name>(std::forward<A>(a), std::forward<B>(b)); \
  }
PLAIT_PRODUCT(matmul)
PLAIT_PRODUCT(dot)
PLAIT_PRODUCT(vdot)
PLAIT_PRODUCT(inner)
PLAIT_PRODUCT(outer)
PLAIT_PRODUCT(kron)
#undef PLAIT_PRODUCT

// The sums of products over pairs of axes: the last n of a and the first n of b, or axes of a with
// axes of b.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, const extents& axes_a, const extents& axes_b) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [&](const detail::Handle& x, const detail::Handle& y) {
                            return detail::tensordot(x, y, detail::span_of(axes_a),
                                                     detail::span_of(axes_b));
                          });
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto tensordot(A&& a, B&& b, int n = 2) {
  shape_type last, first;
  for (int i = 0; i < n; ++i) {
    last.push_back(i - n);
    first.push_back(i);
  }
  return tensordot(std::forward<A>(a), std::forward<B>(b), extents(last), extents(first));
}
// Products of the vectors along an axis, the first conjugated; and of vectors of three.
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto vecdot(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::vecdot(x, y, axis);
                          });
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto cross(A&& a, B&& b, std::int64_t axis = -1) {
  return detail::promoted(std::forward<A>(a), std::forward<B>(b),
                          [axis](const detail::Handle& x, const detail::Handle& y) {
                            return detail::cross(x, y, axis);
                          });
}
// numpy.einsum of one or two operands: einsum("ij,jk->ik", a, b).
template <class A, detail::if_array<A> = 0>
detail::like<A> einsum(const std::string& subscripts, const A& a) {
  return detail::like<A>(detail::einsum(subscripts, &a.handle(), 1));
}
template <class A, class B, detail::if_array<A> = 0, detail::if_array<B> = 0>
auto einsum(const std::string& subscripts, const A& a, const B& b) {
  return detail::promoted(a, b, [&](const detail::Handle& x, const detail::Handle& y) {
    const detail::Handle both[] = {x, y};
    return detail::einsum(subscripts, both, 2);
  });
}
// The sum of a diagonal.
template <class A, detail::if_array<A> = 0>
auto trace(A&& a, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
  using R = element_t<detail::reduced(detail::reduction::sum, dtype_of_v<detail::element_of<A>>)>;
  return array<R>(detail::trace(std::forward<A>(a).handle(), offset, axis1, axis2));
}

namespace linalg {

using plait::cross;
using plait::dot;
using plait::inner;
using plait::kron;
using plait::matmul;
using plait::outer;
using plait::tensordot;
using plait::trace;
using plait::vdot;
using plait::vecdot;

// The element type of a norm: real, and float64 for integers.
template <class T>
using norm_t = element_t<detail::reduced(detail::reduction::std, dtype_of_v<T>)>;

template <class A>
using norm_of = array<norm_t<detail::element_of<A>>>;

// The order of a norm, NumPy's `ord`: any number; infinity and 0 included. Implicit from one.
struct order {
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  constexpr order(N n) : value(static_cast<double>(n)) {}
  double value;
};

// numpy.linalg.norm(x, ord, axis, keepdims). A number alone is an order, as in NumPy; axes stand
// in braces, or behind an order. The Euclidean norm of all elements, or of vectors along one axis
// (Frobenius along two):
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a) {
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, nullptr, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, nullptr, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, nullptr, true));
}
// The norm of another order, of vectors (one axis) or matrices (two). Throws Error for the orders
// of a matrix that need singular values: 2 and -2.
template <class A, class O,
          class = std::enable_if_t<std::is_arithmetic_v<O> || std::is_same_v<O, order>>,
          detail::if_array<A> = 0>
norm_of<A> norm(A&& a, O ord) {
  const double value = order(ord).value;
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), nullptr, &value, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, order ord, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, &ord.value, false));
}
template <class A, detail::if_array<A> = 0>
norm_of<A> norm(A&& a, order ord, const extents& axes, keep_dims_t) {
  const detail::Span s = detail::span_of(axes);
  return norm_of<A>(detail::norm(std::forward<A>(a).handle(), &s, &ord.value, true));
}

}  // namespace linalg
}  // namespace plait
