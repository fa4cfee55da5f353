// Views and shape functions: what shares memory with its array. view(), row() and col() give views,
// whose assignment writes to the array's elements; the shape functions give arrays, whose
// assignment makes the name mean another array, and view(transpose(a)) = b writes. reshape copies
// where no strides describe the result, as in NumPy.
#pragma once
#include "plait/detail/selection.hpp"

namespace plait {

/// An entry of an index: NumPy's `:`.
inline detail::Index all() { return {detail::Index::Kind::all}; }
/// An entry of an index: NumPy's `None`, an axis of extent 1.
inline detail::Index newaxis() { return {detail::Index::Kind::newaxis}; }
/// An entry of an index: NumPy's `...`, all axes that are not named.
inline detail::Index ellipsis() { return {detail::Index::Kind::ellipsis}; }

// An end of a range that is left out: range(_, 5), range(_, _, -1).
namespace placeholders {
/// The type of an end that is left out.
struct omitted {};
/// An end of a range that is left out: range(_, 5), range(_, _, -1).
inline constexpr omitted _{};
}  // namespace placeholders

namespace detail {
inline void set_bound(bool&, std::int64_t&, placeholders::omitted) {}
template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
void set_bound(bool& has, std::int64_t& bound, I value) {
  has = true;
  bound = static_cast<std::int64_t>(value);
}
inline Index to_index(const Index& i) { return i; }
template <class I, class = std::enable_if_t<is_extent<I>>>
Index to_index(I i) {
  Index out{Index::Kind::integer};
  out.start = static_cast<std::int64_t>(i);
  return out;
}
}  // namespace detail

/// An entry of an index: start:stop:step; negative bounds count from the end.
template <class A, class B, class C = placeholders::omitted>
detail::Index range(A start, B stop, C step = {}) {
  detail::Index out{detail::Index::Kind::slice};
  detail::set_bound(out.has_start, out.start, start);
  detail::set_bound(out.has_stop, out.stop, stop);
  detail::set_bound(out.has_step, out.step, step);
  return out;
}
/// The same from the front.
template <class B>
detail::Index range(B stop) {
  return range(placeholders::_, stop);
}

namespace detail {
PLAIT_API shape_type broadcast_shapes(const extents* shapes, int n);
template <class E, class... I>
auto view_of(const Handle& a, const I&... index) {
  if constexpr (!(is_advanced<I> || ...)) {
    const Index entries[] = {to_index(index)..., all()};
    return array_view<E>(slice(a, entries, sizeof...(I), !std::is_const_v<E>));
  } else if constexpr (std::is_const_v<E>) {
    return array<std::remove_const_t<E>>(get_selection(a, {to_key(index)...}));
  } else {
    return selection<E>(a, {to_key(index)...});
  }
}
}  // namespace detail

/// a[index, ...]; view(a) is all of it. Of a const array or view a view that is only read. With
/// arrays of indices or bools, keep() or drop() among the entries a selection, or, of what is
/// const, a copy. IndexError.
template <class T, class... I>
auto view(array<T>& a, const I&... index) {
  return detail::view_of<T>(a.handle(), index...);
}
template <class T, class... I>
auto view(array<T>&& a, const I&... index) {
  return detail::view_of<T>(std::move(a).handle(), index...);
}
template <class T, class... I>
auto view(const array<T>& a, const I&... index) {
  return detail::view_of<const T>(a.handle(), index...);
}
template <class T, class... I>
auto view(array_view<const T>& a, const I&... index) {
  return detail::view_of<const T>(a.handle(), index...);
}
template <class T, class... I>
auto view(array_view<const T>&& a, const I&... index) {
  return detail::view_of<const T>(a.handle(), index...);
}
/// view(a, i, all()): a row of a matrix.
template <class A>
auto row(A&& a, std::int64_t i) {
  return view(std::forward<A>(a), i, all());
}
/// view(a, all(), j): a column of a matrix.
template <class A>
auto col(A&& a, std::int64_t j) {
  return view(std::forward<A>(a), all(), j);
}

/// The sub-arrays along an axis, one after the other: what it points to is a view. for (auto i =
/// axis_begin(a, 1); i != axis_end(a, 1); ++i) *i += 1;
template <class T>
class axis_iterator {
 public:
  using iterator_category = std::input_iterator_tag;  // it points to values, the views
  using value_type = array_view<T>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = array_view<T>;

  axis_iterator(detail::Handle front_axis, std::int64_t index)
      : array_(std::move(front_axis)), index_(index) {}
  reference operator*() const { return (*this)[0]; }
  reference operator[](difference_type n) const { return detail::view_of<T>(array_, index_ + n); }
  axis_iterator& operator++() { return *this += 1; }
  axis_iterator& operator--() { return *this += -1; }
  axis_iterator operator++(int) {
    axis_iterator before = *this;
    ++index_;
    return before;
  }
  axis_iterator operator--(int) {
    axis_iterator before = *this;
    --index_;
    return before;
  }
  axis_iterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }
  axis_iterator& operator-=(difference_type n) { return *this += -n; }
  friend axis_iterator operator+(axis_iterator i, difference_type n) { return i += n; }
  friend axis_iterator operator+(difference_type n, axis_iterator i) { return i += n; }
  friend axis_iterator operator-(axis_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const axis_iterator& a, const axis_iterator& b) {
    return a.index_ - b.index_;
  }
#define PLAIT_COMPARE(op)                                                   \
  friend bool operator op(const axis_iterator& a, const axis_iterator& b) { \
    return a.index_ op b.index_;                                            \
  }
  PLAIT_COMPARE(==)
  PLAIT_COMPARE(!=)
  PLAIT_COMPARE(<)
  PLAIT_COMPARE(<=)
  PLAIT_COMPARE(>)
  PLAIT_COMPARE(>=)
#undef PLAIT_COMPARE

 private:
  detail::Handle array_;  // the axis is its first
  std::int64_t index_;
};
/// The first sub-array along an axis.
template <class T>
axis_iterator<T> axis_begin(array<T>& a, std::int64_t axis = 0) {
  return {detail::moveaxis(a.handle(), {&axis, 1}, detail::span_of(0)), 0};
}
template <class T>
axis_iterator<const T> axis_begin(const array<T>& a, std::int64_t axis = 0) {
  return {detail::moveaxis(a.handle(), {&axis, 1}, detail::span_of(0)), 0};
}
/// Behind the last sub-array along an axis.
template <class T>
axis_iterator<T> axis_end(array<T>& a, std::int64_t axis = 0) {
  return axis_begin(a, axis) + a.shape(static_cast<int>(axis));
}
template <class T>
axis_iterator<const T> axis_end(const array<T>& a, std::int64_t axis = 0) {
  return axis_begin(a, axis) + a.shape(static_cast<int>(axis));
}

/// A view with the axes in another order, reversed by default (numpy.transpose). ValueError for
/// what is no order of them.
template <class A, detail::if_array<A> = 0>
detail::like<A> transpose(A&& a, const extents& axes = {}) {
  return std::forward<A>(a).transpose(axes);
}
/// The elements in another shape, in which one extent may be -1 (numpy.reshape); a view where
/// strides can say it. ValueError for a shape of another size.
template <class A, detail::if_array<A> = 0>
detail::like<A> reshape(A&& a, const extents& shape) {
  return std::forward<A>(a).reshape(shape);
}
/// All elements in C order, 1-D (numpy.ravel); a view where strides can say it.
template <class A, detail::if_array<A> = 0>
detail::like<A> ravel(A&& a) {
  return std::forward<A>(a).reshape(-1);
}
/// A view of another shape, in which axes of extent 1 are as long as they have to be
/// (numpy.broadcast_to). Read-only. ValueError.
template <class A, detail::if_array<A> = 0>
detail::like<A> broadcast_to(A&& a, const extents& shape) {
  return detail::like<A>(detail::broadcast_to(std::forward<A>(a).handle(), detail::span_of(shape)));
}
/// The shape that arrays of those shapes broadcast to: broadcast_shapes({2, 1}, {1, 3})
/// (numpy.broadcast_shapes). ShapeError.
template <class... S>
shape_type broadcast_shapes(const extents& a, const extents& b, const S&... others) {
  const extents all[] = {a, b, others...};
  return detail::broadcast_shapes(all, 2 + sizeof...(S));
}
/// A view without the axes of extent 1 (numpy.squeeze).
template <class A, detail::if_array<A> = 0>
detail::like<A> squeeze(A&& a) {
  return detail::like<A>(detail::squeeze(std::forward<A>(a).handle(), nullptr));
}
/// A view without those of them. ValueError for others.
template <class A, detail::if_array<A> = 0>
detail::like<A> squeeze(A&& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::squeeze(std::forward<A>(a).handle(), &s));
}
/// A view with new axes of extent 1 at those places (numpy.expand_dims). AxisError.
template <class A, detail::if_array<A> = 0>
detail::like<A> expand_dims(A&& a, const extents& axes) {
  return detail::like<A>(detail::expand_dims(std::forward<A>(a).handle(), detail::span_of(axes)));
}
/// A view with the elements in reverse order along all axes (numpy.flip).
template <class A, detail::if_array<A> = 0>
detail::like<A> flip(A&& a) {
  return detail::like<A>(detail::flip(std::forward<A>(a).handle(), nullptr));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
detail::like<A> flip(A&& a, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::flip(std::forward<A>(a).handle(), &s));
}
/// A view with two axes exchanged (numpy.swapaxes). AxisError.
template <class A, detail::if_array<A> = 0>
detail::like<A> swapaxes(A&& a, std::int64_t i, std::int64_t j) {
  return detail::like<A>(detail::swapaxes(std::forward<A>(a).handle(), i, j));
}
/// A view with axes moved to other places, while the others keep their order (numpy.moveaxis).
/// AxisError.
template <class A, detail::if_array<A> = 0>
detail::like<A> moveaxis(A&& a, const extents& from, const extents& to) {
  return detail::like<A>(
      detail::moveaxis(std::forward<A>(a).handle(), detail::span_of(from), detail::span_of(to)));
}
/// A view of a diagonal of two axes, which becomes the last axis (numpy.diagonal). Unlike NumPy's,
/// it can be written to: view(diagonal(a)) = x.
template <class A, detail::if_array<A> = 0>
detail::like<A> diagonal(A&& a, std::int64_t offset = 0, std::int64_t axis1 = 0,
                         std::int64_t axis2 = 1) {
  return detail::like<A>(detail::diagonal(std::forward<A>(a).handle(), offset, axis1, axis2));
}
/// Writes to the elements whose indices are the same along all axes (numpy.fill_diagonal).
/// ValueError for arrays of more than two axes that differ in length.
template <class T, class B>
void fill_diagonal(array<T>& a, const B& value) {
  detail::check_ndim("fill_diagonal", a.handle(), 2);
  for (int axis = 1; a.ndim() > 2 && axis < a.ndim(); ++axis)
    if (a.shape(axis) != a.shape(0))
      throw ValueError("All dimensions of input must be of equal length");
  array<T> along = diagonal(a);
  while (along.ndim() > 1) along = diagonal(along, 0, 0, -1);
  along.assign(value);
}

/// A view turned from the first axis towards the second, k times by 90 degrees (numpy.rot90).
template <class A, detail::if_array<A> = 0>
detail::like<A> rot90(A&& a, std::int64_t k = 1, std::int64_t axis1 = 0, std::int64_t axis2 = 1) {
  return detail::like<A>(detail::rot90(std::forward<A>(a).handle(), k, axis1, axis2));
}
/// A view in reverse order along the first axis (numpy.flipud).
template <class A, detail::if_array<A> = 0>
detail::like<A> flipud(A&& a) {
  return flip(std::forward<A>(a), 0);
}
/// A view in reverse order along the second axis (numpy.fliplr).
template <class A, detail::if_array<A> = 0>
detail::like<A> fliplr(A&& a) {
  return flip(std::forward<A>(a), 1);
}
/// With axes of extent 1 up to one axis (numpy.atleast_1d).
template <class A, detail::if_array<A> = 0>
detail::like<A> atleast_1d(A&& a) {
  return detail::like<A>(detail::atleast(std::forward<A>(a).handle(), 1));
}
/// With axes of extent 1 up to two axes (numpy.atleast_2d).
template <class A, detail::if_array<A> = 0>
detail::like<A> atleast_2d(A&& a) {
  return detail::like<A>(detail::atleast(std::forward<A>(a).handle(), 2));
}
/// With axes of extent 1 up to three axes (numpy.atleast_3d).
template <class A, detail::if_array<A> = 0>
detail::like<A> atleast_3d(A&& a) {
  return detail::like<A>(detail::atleast(std::forward<A>(a).handle(), 3));
}
/// A view of the windows of the given extents, along all axes, as new last axes
/// (numpy.lib.stride_tricks.sliding_window_view). ValueError for windows that do not fit.
template <class A, detail::if_array<A> = 0>
detail::like<A> sliding_window_view(A&& a, const extents& window) {
  return detail::like<A>(
      detail::windows(std::forward<A>(a).handle(), detail::span_of(window), nullptr));
}
/// The same along `axes`.
template <class A, detail::if_array<A> = 0>
detail::like<A> sliding_window_view(A&& a, const extents& window, const extents& axes) {
  const detail::Span s = detail::span_of(axes);
  return detail::like<A>(detail::windows(std::forward<A>(a).handle(), detail::span_of(window), &s));
}

/// The real part of a complex array, a view; a real array itself (numpy.real).
template <class A, detail::if_array<A> = 0>
auto real(A&& a) {
  using T = detail::element_of<A>;
  return array<element_t<detail::real_of(dtype_of_v<T>)>>(
      detail::real(std::forward<A>(a).handle()));
}
/// The imaginary part of a complex array, a view; zeros, read-only, for a real one (numpy.imag).
template <class A, detail::if_array<A> = 0>
auto imag(A&& a) {
  using T = detail::element_of<A>;
  return array<element_t<detail::real_of(dtype_of_v<T>)>>(
      detail::imag(std::forward<A>(a).handle()));
}

/// Whether the memory ranges of two arrays overlap (numpy.may_share_memory).
template <class T, class U>
bool may_share_memory(const array<T>& a, const array<U>& b) {
  return detail::may_share_memory(a.handle(), b.handle());
}

}  // namespace plait
