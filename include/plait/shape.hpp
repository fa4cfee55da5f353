// Shapes and axis lists as arguments: `{n, 2}`, `0`, or any container of integers.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace plait {

// What shape() and strides() return.
using shape_type = std::vector<std::int64_t>;

// A list of extents or axes. Implicit from one integer, from `{...}` of any integer types (without
// narrowing errors), and from containers such as std::vector<std::size_t>.
class extents {
 public:
  extents() = default;
  template <class... I,
            class = std::enable_if_t<(sizeof...(I) > 0) && (std::is_integral_v<I> && ...)>>
  extents(I... v) : values_{static_cast<std::int64_t>(v)...} {}
  template <class C,
            class = decltype(std::declval<const C&>().begin() != std::declval<const C&>().end())>
  extents(const C& c) : values_(c.begin(), c.end()) {}

  const std::int64_t* data() const { return values_.data(); }
  int size() const { return static_cast<int>(values_.size()); }
  const shape_type& values() const { return values_; }

 private:
  shape_type values_;
};

}  // namespace plait
