// Elements that arrays of indices or masks name: what view(a, indices, ...) and a[mask] give.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {

// What keep() and drop() give.
struct KeptIndices {
  Key key;
};
template <class I>
inline constexpr bool is_advanced = is_array_type<I>::value || std::is_same_v<I, KeptIndices>;

inline Key to_key(const Index& i) { return {Key::Kind::basic, i, {}, {}}; }
template <class I, class = std::enable_if_t<is_extent<I>>>
Key to_key(I i) {
  Index integer{Index::Kind::integer};
  integer.start = static_cast<std::int64_t>(i);
  return to_key(integer);
}
template <class A, if_array<A> = 0>
Key to_key(const A& a) {
  if constexpr (!is_untyped<A>)
    static_assert(kind_of(dtype_of_v<element_of<A>>) <= kind::signed_int,
                  "plait: arrays that name elements are of integers or bools");
  return {Key::Kind::array, {Index::Kind::all}, a.handle(), {}};
}
inline Key to_key(const KeptIndices& k) { return k.key; }

}  // namespace detail

/// What view(a, indices, ...) and a[mask] give: an array like any other where it is read, of a copy
/// of the elements, made when it is first asked for. `view(a, m) = x`, += and the like on what
/// view() returned write to the array; an element that is named twice has the last value.
template <class T>
class selection : public detail::read_only<T> {
 public:
  selection(const detail::Handle& from, std::vector<detail::Key> key)
      : detail::read_only<T>(detail::select(from, std::move(key))) {}
  /// For the library's own functions.
  template <class... I>
  static selection of(const detail::Handle& from, const I&... index) {
    return {from, {detail::to_key(index)...}};
  }
  selection(const selection&) = default;
  /// The copy, evaluated.
  array<T> eval() const { return array<T>(*this).eval(); }

  template <class B, class = std::enable_if_t<detail::operand_traits<B>::valid>>
  void operator=(const B& value) {
    assign(value);
  }
  void operator=(const selection& o) { assign(o); }
  /// Writes a value or an array, which broadcasts, to the selected elements. ShapeError.
  template <class B>
  void assign(const B& value) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    detail::set_selected(this->handle_, detail::operand_traits<B>::operand(value));
  }
  /// Writes one value to the selected elements.
  template <class V>
  void fill(const V& value) {
    static_assert(!detail::is_array_type<V>::value, "plait: fill() takes one value");
    assign(value);
  }
#define PLAIT_IN_PLACE(op, id)                                                 \
  template <class B, detail::if_updates<detail::fn::id, T, B> = 0>             \
  void operator op(const B& b) {                                               \
    assign(detail::apply<detail::fn::id>(array<T>(*this), b));                 \
  }                                                                            \
  template <class B, class Why = detail::if_not_updated<detail::fn::id, T, B>> \
  void operator op(const B& b) = delete;
  PLAIT_IN_PLACE_OPERATORS(PLAIT_IN_PLACE)
#undef PLAIT_IN_PLACE
};

template <class A, detail::if_array<A>>
any_array any_array::operator[](const A& index) const& {
  return selection<void>::of(handle_, index);
}
template <class A, detail::if_array<A>>
selection<void> any_array::operator[](const A& index) & {
  return selection<void>::of(handle_, index);
}

}  // namespace plait
