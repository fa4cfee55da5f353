// Copies of arrays, rearranged: repeated, shifted, padded, and the triangles and diagonals of
// matrices.
#pragma once
#include "plait/array.hpp"

namespace plait {

template <class A, detail::if_array<A> = 0>
detail::like<A> tile(A&& a, const extents& reps) {
  return detail::like<A>(detail::tile(std::forward<A>(a).handle(), detail::span_of(reps)));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> repeat(A&& a, std::int64_t n, std::int64_t axis) {
  return detail::like<A>(detail::repeat(std::forward<A>(a).handle(), n, axis));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> repeat(A&& a, std::int64_t n) {  // of all elements in C order, 1-D
  return repeat(std::forward<A>(a).reshape(-1), n, 0);
}
template <class A, detail::if_array<A> = 0>
detail::like<A> roll(A&& a, const extents& shifts, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::roll(std::forward<A>(a).handle(), detail::span_of(shifts), &s));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> roll(A&& a, std::int64_t shift) {
  return detail::like<A>(detail::roll(std::forward<A>(a).handle(), {&shift, 1}, nullptr));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> tril(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::triangle(std::forward<A>(a).handle(), k, true));
}
template <class A, detail::if_array<A> = 0>
detail::like<A> triu(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::triangle(std::forward<A>(a).handle(), k, false));
}

// The k-th diagonal of a matrix, a view; of a vector, the matrix that has it on that diagonal.
template <class A, detail::if_array<A> = 0>
detail::like<A> diag(A&& a, std::int64_t k = 0) {
  return detail::like<A>(detail::diag(std::forward<A>(a).handle(), k));
}

// numpy.pad. Widths: `n` for all sides, `{before, after}` for all axes, or such a pair for each
// axis, one after the other. constant: of `value`; edge: of the outermost elements; wrap, symmetric
// and reflect: of the array repeated, or mirrored with or without its edges repeated.
enum class pad_mode { constant, edge, reflect, symmetric, wrap, periodic = wrap };
template <class A, class V = int, detail::if_array<A> = 0>
detail::like<A> pad(A&& a, const extents& widths, pad_mode mode = pad_mode::constant,
                    const V& value = V()) {
  using T = detail::element_of<A>;
  return detail::like<A>(detail::pad(std::forward<A>(a).handle(), detail::span_of(widths),
                                     static_cast<detail::padding>(mode),
                                     detail::Value::of(detail::element_value<T>(value))));
}

}  // namespace plait
