// Elements that arrays of indices or masks name: what view(a, indices, ...) and a[mask] give.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {

// One entry of an index: a basic one, an array of integers or bools, or a list of the indices of an
// axis that are kept, or dropped.
struct Key {
  enum class Kind : std::uint8_t { basic, array, keep, drop } kind;
  Index basic{Index::Kind::all};
  Handle array;
  shape_type list;
};
PLAIT_API Handle get_selection(const Handle& a, const std::vector<Key>& key);
PLAIT_API void set_selection(const Handle& a, const std::vector<Key>& key, const Operand& value);

// What keep() and drop() give.
struct KeptIndices {
  Key key;
};
template <class I>
inline constexpr bool is_advanced = is_array_type<I>::value || std::is_same_v<I, KeptIndices>;

inline Key to_key(const Index& i) { return {Key::Kind::basic, i, {}, {}}; }
template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
Key to_key(I i) {
  Index integer{Index::Kind::integer};
  integer.start = static_cast<std::int64_t>(i);
  return to_key(integer);
}
template <class A, if_array<A> = 0>
Key to_key(const A& a) {
  static_assert(kind_of(dtype_of_v<element_of<A>>) <= kind::signed_int,
                "plait: arrays that name elements are of integers or bools");
  return {Key::Kind::array, {Index::Kind::all}, a.handle(), {}};
}
inline Key to_key(const KeptIndices& k) { return k.key; }

}  // namespace detail

// As a value, a copy of the elements, made when it is first asked for: it is an operand wherever
// arrays are. `view(a, m) = x`, += and the like on what view() returned write to the array; an
// element that is named twice has the last value.
template <class T>
class selection {
 public:
  using value_type = T;
  selection(detail::Handle from, std::vector<detail::Key> key)
      : from_(std::move(from)), key_(std::move(key)) {}

  template <class... I>
  static selection of(const detail::Handle& from, const I&... index) {
    return {from, {detail::to_key(index)...}};
  }
  operator array<T>() const { return array<T>(handle()); }
  array<T> eval() const { return array<T>(handle()).eval(); }
  const detail::Handle& handle() const {
    if (!value_) value_ = detail::get_selection(from_, key_);
    return value_;
  }
  shape_type shape() const { return array<T>(handle()).shape(); }
  std::size_t size() const { return array<T>(handle()).size(); }
  template <class U>
  array<U> astype() const {
    return array<T>(handle()).template astype<U>();
  }
  array<T> reshape(const extents& shape) const { return array<T>(handle()).reshape(shape); }
  array<T> transpose(const extents& axes = {}) const { return array<T>(handle()).transpose(axes); }

  template <class B, class = std::enable_if_t<detail::operand_traits<B>::valid>>
  void operator=(const B& value) {
    static_assert(detail::storable<B, T>,
                  "plait: complex values do not fit a real array; take real()");
    write(detail::operand_traits<B>::operand(value));
  }
  void operator=(const selection& o) { write({&o.handle(), {}, nullptr}); }
  selection(const selection&) = default;
#define PLAIT_IN_PLACE(op, id)                                                                   \
  template <class B>                                                                             \
  void operator op(const B& b) {                                                                 \
    static_assert(                                                                               \
        detail::updatable<detail::fn::id, T, B>(),                                               \
        "plait: the result does not fit this array's element type (NumPy's same_kind rule)");    \
    const detail::Handle result = detail::apply<detail::fn::id>(array<T>(handle()), b).handle(); \
    write({&result, {}, nullptr});                                                               \
  }
  PLAIT_IN_PLACE(+=, Add)
  PLAIT_IN_PLACE(-=, Subtract)
  PLAIT_IN_PLACE(*=, Multiply)
  PLAIT_IN_PLACE(/=, Divide)
#undef PLAIT_IN_PLACE

 private:
  void write(const detail::Operand& value) {
    detail::set_selection(from_, key_, value);
    value_ = detail::Handle();
  }
  detail::Handle from_;
  std::vector<detail::Key> key_;
  mutable detail::Handle value_;
};

}  // namespace plait
