// Shapes and axis lists as arguments: `{n, 2}`, `0`, or any container of integers.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace plait {

/// What shape() and strides() return.
using shape_type = std::vector<std::int64_t>;

namespace detail {
// Integers, and the elements of arrays of integers, that stand for one.
template <class I, class = void>
inline constexpr bool is_extent = std::is_integral_v<I>;
template <class I>
inline constexpr bool is_extent<I, std::void_t<decltype(std::declval<const I&>().value())>> =
    std::is_integral_v<decltype(std::declval<const I&>().value())>;
}  // namespace detail

/// A list of extents or axes. Implicit from one integer, from `{...}` of any integer types (without
/// narrowing errors), and from containers of integers such as `std::vector<std::size_t>`.
class extents {
 public:
  extents() = default;
  template <class... I,
            class = std::enable_if_t<(sizeof...(I) > 0) && (detail::is_extent<I> && ...)>>
  extents(I... v) : size_(sizeof...(I)) {
    if constexpr (sizeof...(I) > kFew) {
      many_ = {static_cast<std::int64_t>(v)...};
    } else {
      int i = 0;
      ((few_[i++] = static_cast<std::int64_t>(v)), ...);
    }
  }
  template <class C, class V = std::decay_t<decltype(*std::declval<const C&>().begin())>,
            class = std::enable_if_t<std::is_integral_v<V>>>
  extents(const C& c) : many_(c.begin(), c.end()), size_(static_cast<int>(many_.size())) {}

  /// The first of the numbers.
  const std::int64_t* data() const { return many_.empty() ? few_ : many_.data(); }
  /// How many there are.
  int size() const { return size_; }

 private:
  static constexpr int kFew = 8;
  shape_type many_;
  int size_ = 0;
  std::int64_t few_[kFew] = {};  // those written out at the call take no memory of their own
};

}  // namespace plait
