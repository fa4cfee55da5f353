// Elements by index and by mask. take(), filter() and the like give copies; view(), masked_view()
// and index_view() write to the array, too: `view(a, m) = 0`. Throws IndexError.
#pragma once
#include "plait/detail/selection.hpp"
#include "plait/view.hpp"

namespace plait {

namespace detail {
PLAIT_API Handle take(const Handle& a, const Handle& indices, const std::int64_t* axis);
PLAIT_API Handle take_along_axis(const Handle& a, const Handle& indices, std::int64_t axis);
PLAIT_API void put_along_axis(const Handle& a, const Handle& indices, const Operand& values,
                              std::int64_t axis);
PLAIT_API void combine_at(fn f, const Handle& a, const std::vector<Key>& key,
                          const Operand& values);
PLAIT_API Handle compress(const Handle& mask, const Handle& a, const std::int64_t* axis);
PLAIT_API std::vector<Handle> nonzero(const Handle& a);
PLAIT_API Handle argwhere(const Handle& a);
PLAIT_API Handle repeat_each(const Handle& a, const Handle& counts, std::int64_t axis);
PLAIT_API std::vector<Key> point_key(const std::vector<shape_type>& points);

inline Handle indices_of(const extents& list) {
  const std::int64_t n = list.size();
  return from_values(list.data(), {&n, 1}, dtype::int64);
}

template <class Arrays>
std::vector<Key> keys_of(const Arrays& arrays) {
  std::vector<Key> keys;
  for (const auto& a : arrays) keys.push_back(to_key(a));
  return keys;
}
template <fn F, class T, class B>
void combine(array<T>& a, const std::vector<Key>& key, const B& values) {
  static_assert(
      updatable<F, T, B>(),
      "plait: the result does not fit this array's element type (NumPy's same_kind rule)");
  combine_at(F, a.handle(), key, operand_traits<B>::operand(values));
}
}  // namespace detail

/// An entry of view(): the indices of an axis in a list. Unlike arrays of indices, which broadcast
/// together, each counts for its axis alone: numpy.ix_.
inline detail::KeptIndices keep(const shape_type& indices) {
  return {{detail::Key::Kind::keep, {detail::Index::Kind::all}, {}, indices}};
}
/// An entry of view(): all indices of an axis but those.
inline detail::KeptIndices drop(const shape_type& indices) {
  return {{detail::Key::Kind::drop, {detail::Index::Kind::all}, {}, indices}};
}
/// The same of numbers: keep(0, 2).
template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>>
detail::KeptIndices keep(I... index) {
  return keep(shape_type{static_cast<std::int64_t>(index)...});
}
/// The same of numbers: drop(0, 2).
template <class... I, class = std::enable_if_t<(std::is_integral_v<I> && ...)>>
detail::KeptIndices drop(I... index) {
  return drop(shape_type{static_cast<std::int64_t>(index)...});
}

/// Elements of all in C order at indices, an array of any shape (numpy.take). IndexError.
template <class A, class I, detail::if_array<A> = 0>
detail::like<A> take(const A& a, const array<I>& indices) {
  return detail::like<A>(detail::take(a.handle(), indices.handle(), nullptr));
}
/// Sub-arrays along an axis at indices. AxisError, IndexError.
template <class A, class I, detail::if_array<A> = 0>
detail::like<A> take(const A& a, const array<I>& indices, std::int64_t axis) {
  return detail::like<A>(detail::take(a.handle(), indices.handle(), &axis));
}
/// Elements at the indices of a list.
template <class A, detail::if_array<A> = 0>
detail::like<A> take(const A& a, const extents& indices) {
  return detail::like<A>(detail::take(a.handle(), detail::indices_of(indices), nullptr));
}
/// Sub-arrays along an axis at the indices of a list.
template <class A, detail::if_array<A> = 0>
detail::like<A> take(const A& a, const extents& indices, std::int64_t axis) {
  return detail::like<A>(detail::take(a.handle(), detail::indices_of(indices), &axis));
}
/// One index for each element of the result, along an axis of arrays of one dimension count
/// (numpy.take_along_axis). IndexError.
template <class A, class I, detail::if_array<A> = 0>
detail::like<A> take_along_axis(const A& a, const array<I>& indices, std::int64_t axis = -1) {
  return detail::like<A>(detail::take_along_axis(a.handle(), indices.handle(), axis));
}
/// Writes where take_along_axis() reads (numpy.put_along_axis). IndexError.
template <class T, class I, class B>
void put_along_axis(array<T>& a, const array<I>& indices, const B& values, std::int64_t axis) {
  detail::put_along_axis(a.handle(), indices.handle(), detail::operand_traits<B>::operand(values),
                         axis);
}

/// numpy.add.at(a, indices, values): an element, or sub-array along the first axis, that is named
/// twice is added to twice, in the order of the indices. IndexError.
template <class T, class I, class B>
void add_at(array<T>& a, const array<I>& indices, const B& values) {
  detail::combine<detail::fn::Add>(a, {detail::to_key(indices)}, values);
}
/// The same with an array of indices for each of the first axes, as numpy.nonzero gives them.
template <class T, class I, class B>
void add_at(array<T>& a, const std::vector<array<I>>& indices, const B& values) {
  detail::combine<detail::fn::Add>(a, detail::keys_of(indices), values);
}
/// Of a list: add_at(a, {rows, columns}, 1).
template <class T, class I, class B>
void add_at(array<T>& a, std::initializer_list<array<I>> indices, const B& values) {
  detail::combine<detail::fn::Add>(a, detail::keys_of(indices), values);
}

/// The elements where a mask is true, 1-D: filter(a, m) is a[m], and `filter(a, m) = x` writes.
/// IndexError.
template <class A, class M, detail::if_array<A> = 0, detail::if_array<M> = 0>
auto filter(A&& a, const M& mask) {
  static_assert(std::is_same_v<detail::element_of<M>, bool>, "plait: a mask is an array of bools");
  return view(std::forward<A>(a), mask);
}
/// A copy of the elements where a mask is true (numpy.extract).
template <class A, detail::if_array<A> = 0>
detail::like<A> extract(const array<bool>& mask, const A& a) {
  return filter(a, mask);
}
/// A copy of the elements, of all in C order, where a 1-D mask is true (numpy.compress).
template <class A, detail::if_array<A> = 0>
detail::like<A> compress(const array<bool>& mask, const A& a) {
  return detail::like<A>(detail::compress(mask.handle(), a.handle(), nullptr));
}
/// A copy of the sub-arrays along an axis where a 1-D mask is true.
template <class A, detail::if_array<A> = 0>
detail::like<A> compress(const array<bool>& mask, const A& a, std::int64_t axis) {
  return detail::like<A>(detail::compress(mask.handle(), a.handle(), &axis));
}
/// What masked_view() gives: written to where a mask is true, by a value of the array's shape or
/// broadcast to it.
template <class T>
class masked_array {
 public:
  masked_array(array<T>& a, const array<bool>& mask) : array_(a.handle()), mask_(mask) {}
  masked_array(const masked_array&) = default;
  void operator=(const masked_array&) = delete;
  template <class B>
  void operator=(const B& value) {
    array_.assign(value, mask_);
  }
#define PLAIT_IN_PLACE(op, id)                                                 \
  template <class B, detail::if_updates<detail::fn::id, T, B> = 0>             \
  void operator op(const B& b) {                                               \
    array_.assign(detail::apply<detail::fn::id>(array_, b), mask_);            \
  }                                                                            \
  template <class B, class Why = detail::if_not_updated<detail::fn::id, T, B>> \
  void operator op(const B& b) = delete;
  PLAIT_IN_PLACE_OPERATORS(PLAIT_IN_PLACE)
#undef PLAIT_IN_PLACE

 private:
  array<T> array_;
  array<bool> mask_;
};
/// xtensor's masked_view: `masked_view(a, m) = b` writes b where the mask is true, of the array's
/// shape or broadcast to it, where a[m] takes one value for each element that the mask names.
template <class T>
masked_array<T> masked_view(array<T>& a, const array<bool>& mask) {
  return {a, mask};
}
/// xtensor's index_view: the elements at points, to be read or written to. IndexError.
template <class T>
selection<T> index_view(array<T>& a, const std::vector<shape_type>& points) {
  return {a.handle(), detail::point_key(points)};
}
template <class T>
array<T> index_view(const array<T>& a, const std::vector<shape_type>& points) {
  return array<T>(detail::get_selection(a.handle(), detail::point_key(points)));
}

/// Where elements are not zero: the indices along each axis (numpy.nonzero).
template <class A, class I = std::int64_t, detail::if_array<A> = 0>
std::vector<array<I>> nonzero(const A& a) {
  std::vector<array<I>> out;
  for (detail::Handle& h : detail::nonzero(a.handle())) out.emplace_back(std::move(h));
  return out;
}
/// Another name of nonzero(), as in NumPy.
template <class A, class I = std::int64_t, detail::if_array<A> = 0>
std::vector<array<I>> where(const A& a) {
  return nonzero(a);
}
/// Where elements are not zero: the coordinates as rows (numpy.argwhere).
template <class A, detail::if_array<A> = 0>
array<std::int64_t> argwhere(const A& a) {
  return array<std::int64_t>(detail::argwhere(a.handle()));
}
/// Where elements are not zero: the places in C order (numpy.flatnonzero).
template <class A, detail::if_array<A> = 0>
array<std::int64_t> flatnonzero(const A& a) {
  return nonzero(ravel(a))[0];
}

/// Each sub-array along an axis as often as `counts` says (numpy.repeat). ValueError.
template <class A, class I, detail::if_array<A> = 0>
detail::like<A> repeat(const A& a, const array<I>& counts, std::int64_t axis) {
  return detail::like<A>(detail::repeat_each(a.handle(), counts.handle(), axis));
}
/// Each element, of all in C order, as often as `counts` says.
template <class A, class I, detail::if_array<A> = 0>
detail::like<A> repeat(const A& a, const array<I>& counts) {
  return repeat(ravel(a), counts, 0);
}

}  // namespace plait
