// What the elements of a new array are taken from: lists in braces, ranges, and ranges of ranges.
#pragma once
#include <initializer_list>

#include "plait/detail/element_reference.hpp"
#include "plait/detail/operands.hpp"

namespace plait::detail {

// Ranges of elements of T, and ranges of those. Text is none.
template <class C>
using entry_of =
    std::remove_cv_t<std::remove_reference_t<decltype(*std::begin(std::declval<const C&>()))>>;
template <class C, class T, class = void>
inline constexpr bool is_range_of = false;
template <class C, class T>
inline constexpr bool is_range_of<C, T, std::void_t<entry_of<C>>> =
    !is_array_type<C>::value && !std::is_same_v<C, std::string> &&
    std::is_convertible_v<entry_of<C>, T>;
template <class C, class T, class = void>
inline constexpr bool is_range_of_ranges = false;
template <class C, class T>
inline constexpr bool is_range_of_ranges<
    C, T, std::enable_if_t<!is_range_of<C, T> && !std::is_same_v<entry_of<C>, C>>> =
    is_range_of<entry_of<C>, T> || is_range_of_ranges<entry_of<C>, T>;

inline constexpr int kMostAxes = 64;  // NumPy's
// An entry of a braced list: an element, or a list of entries.
template <class T>
class nested {
  template <class V>
  static constexpr bool is_fraction = std::is_floating_point_v<V> && std::is_integral_v<T>;

 public:
  template <class V,
            std::enable_if_t<
                std::is_convertible_v<V, T> && !std::is_pointer_v<V> && !is_fraction<V>, int> = 0>
  nested(const V& v) : value_(element_value<T>(v)) {}
  // Fractions are no integers, as in other lists in braces.
  template <class V, std::enable_if_t<is_fraction<V>, int> = 0>
  nested(const V& v) = delete;
  nested(std::initializer_list<nested> entries) : is_list_(true), entries_(entries) {}

  // Writes the extents of the axes; returns their number.
  int measure(std::int64_t* shape, int axis = 0) const {
    if (!is_list_) return axis;
    if (axis == kMostAxes) throw_deep();
    shape[axis] = static_cast<std::int64_t>(entries_.size());
    return entries_.size() > 0 ? entries_.begin()->measure(shape, axis + 1) : axis + 1;
  }
  // Writes the elements and returns where the next goes. Throws ValueError where the list has not
  // those extents.
  template <class Cell>
  Cell* flatten(const std::int64_t* extent, int axes, Cell* out) const {
    if (is_list_ != (axes > 0) ||
        (is_list_ && static_cast<std::int64_t>(entries_.size()) != *extent))
      throw_ragged();
    if (!is_list_) *out++ = {value_};
    for (const nested& e : entries_) out = e.flatten(extent + 1, axes - 1, out);
    return out;
  }

 private:
  bool is_list_ = false;
  T value_{};
  std::initializer_list<nested> entries_;  // lives as long as the whole list in braces
};

}  // namespace plait::detail
