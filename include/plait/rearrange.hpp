// Copies of arrays, rearranged: repeated, shifted, padded, and the triangles and diagonals of
// matrices.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {
PLAIT_API Handle resize(const Handle& a, Span shape);
}  // namespace detail

/// The whole array so many times along each axis (numpy.tile).
template <class A, detail::if_array<A> = 0>
detail::like<A> tile(A&& a, const extents& reps) {
  return detail::like<A>(detail::tile(std::forward<A>(a).handle(), detail::span_of(reps)));
}
/// Each sub-array along an axis n times (numpy.repeat).
template <class A, detail::if_array<A> = 0>
detail::like<A> repeat(A&& a, std::int64_t n, std::int64_t axis) {
  return detail::like<A>(detail::repeat(std::forward<A>(a).handle(), n, axis));
}
/// Each element n times, of all elements in C order, 1-D.
template <class A, detail::if_array<A> = 0>
detail::like<A> repeat(A&& a, std::int64_t n) {  // of all elements in C order, 1-D
  return repeat(std::forward<A>(a).reshape(-1), n, 0);
}
/// An array of another shape with the elements in C order, again from the front where it takes more
/// (numpy.resize); zeros where there are none. ValueError for negative extents.
template <class A, detail::if_array<A> = 0>
detail::like<A> resize(const A& a, const extents& shape) {
  return detail::like<A>(detail::resize(a.handle(), detail::span_of(shape)));
}
/// Elements moved along axes, those that fall off at one end come in at the other (numpy.roll).
template <class A, detail::if_array<A> = 0>
detail::like<A> roll(A&& a, const extents& shifts, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::roll(std::forward<A>(a).handle(), detail::span_of(shifts), &s));
}
/// The same of all elements in C order.
template <class A, detail::if_array<A> = 0>
detail::like<A> roll(A&& a, std::int64_t shift) {
  return detail::like<A>(detail::roll(std::forward<A>(a).handle(), {&shift, 1}, nullptr));
}
/// The elements on and below the k-th diagonal, zeros above (numpy.tril).
template <class A, detail::if_array<A> = 0>
detail::like<A> tril(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::triangle(std::forward<A>(a).handle(), k, true));
}
/// The elements on and above the k-th diagonal, zeros below (numpy.triu).
template <class A, detail::if_array<A> = 0>
detail::like<A> triu(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::triangle(std::forward<A>(a).handle(), k, false));
}

/// The k-th diagonal of a matrix, a view; of a vector, the matrix that has it on that diagonal
/// (numpy.diag).
template <class A, detail::if_array<A> = 0>
detail::like<A> diag(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::diag(std::forward<A>(a).handle(), k));
}

/// What pad() puts around an array: one value; the outermost elements; the array repeated, or
/// mirrored with or without its edges repeated.
enum class pad_mode { constant, edge, reflect, symmetric, wrap, periodic = wrap };
/// The array with elements around it (numpy.pad). Widths: `n` for all sides, `{before, after}` for
/// all axes, or such a pair for each axis, one after the other.
template <class A, class V = int, detail::if_array<A> = 0>
detail::like<A> pad(A&& a, const extents& widths, pad_mode mode = pad_mode::constant,
                    const V& value = V()) {
  using T = detail::element_of<A>;
  return detail::like<A>(detail::pad(std::forward<A>(a).handle(), detail::span_of(widths),
                                     static_cast<detail::padding>(mode),
                                     detail::Value::of(detail::element_value<T>(value))));
}

}  // namespace plait
