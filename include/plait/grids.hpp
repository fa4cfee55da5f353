// Grids of coordinates, and places in C order as coordinates.
#pragma once
#include <array>

#include "plait/choose.hpp"

namespace plait {

namespace detail {
PLAIT_API std::vector<any_array> grid(const Index* ranges, int n);
PLAIT_API any_array dense_grid(const Index* ranges, int n);
PLAIT_API std::vector<any_array> unravel_index(const any_array& index, Span shape);
PLAIT_API any_array ravel_multi_index(const std::vector<any_array>& coordinates, Span shape,
                                      index_mode mode);
PLAIT_API any_array trim_zeros(const any_array& a, bool front, bool back);
template <class... I>
using if_ranges = std::enable_if_t<(sizeof...(I) > 0) && (std::is_same_v<I, Index> && ...), int>;
}  // namespace detail

/// numpy.mgrid[0:3, 0:4]: the coordinates along each axis of every point of a grid, one behind the
/// other along a new first axis, or alone of one range.
template <class... I, detail::if_ranges<I...> = 0>
array<std::int64_t> mgrid(const I&... ranges) {
  const detail::Index all[] = {ranges...};
  return array<std::int64_t>(detail::dense_grid(all, sizeof...(I)).handle());
}
/// numpy.ogrid: the coordinates as arrays that broadcast together: auto [x, y] = ogrid(range(0, 3),
/// range(0, 4)).
template <class... I, detail::if_ranges<I...> = 0>
std::array<array<std::int64_t>, sizeof...(I)> ogrid(const I&... ranges) {
  const detail::Index all[] = {ranges...};
  const auto made = detail::grid(all, sizeof...(I));
  std::array<array<std::int64_t>, sizeof...(I)> out;
  for (std::size_t i = 0; i < sizeof...(I); ++i) out[i] = made[i].template as<std::int64_t>();
  return out;
}

/// The coordinates, one array an axis, of places in an array of that shape, counted in C order
/// (numpy.unravel_index). ValueError for what is out of bounds: evaluates.
template <class I, detail::if_array<I> = 0>
std::vector<array<std::int64_t>> unravel_index(const I& index, const extents& shape) {
  std::vector<array<std::int64_t>> out;
  for (const any_array& a : detail::unravel_index(index, detail::span_of(shape)))
    out.push_back(a.as<std::int64_t>());
  return out;
}
/// The coordinates of one place.
inline shape_type unravel_index(std::int64_t index, const extents& shape) {
  shape_type out;
  for (const auto& a : unravel_index(array<std::int64_t>(index), shape)) out.push_back(a.item());
  return out;
}
/// The places, counted in C order, of coordinates in an array of that shape
/// (numpy.ravel_multi_index). ValueError for what is out of bounds: evaluates.
template <class I>
array<std::int64_t> ravel_multi_index(const std::vector<array<I>>& coordinates,
                                      const extents& shape, index_mode mode = index_mode::raise) {
  return array<std::int64_t>(
      detail::ravel_multi_index(detail::untyped_arrays(coordinates), detail::span_of(shape), mode)
          .handle());
}
/// The same of a list in braces.
template <class I>
array<std::int64_t> ravel_multi_index(std::initializer_list<array<I>> coordinates,
                                      const extents& shape, index_mode mode = index_mode::raise) {
  return ravel_multi_index(std::vector<array<I>>(coordinates), shape, mode);
}
/// The place of one element.
inline std::int64_t ravel_multi_index(const shape_type& coordinates, const extents& shape) {
  std::vector<array<std::int64_t>> all;
  for (const std::int64_t c : coordinates) all.emplace_back(c);
  return ravel_multi_index(all, shape).item();
}

/// Where trim_zeros() takes zeros away.
enum class trim_side { both, front, back };
/// Without the zeros around, at the front, the back or on both sides of each axis
/// (numpy.trim_zeros). Evaluates.
template <class A, detail::if_array<A> = 0>
detail::like<A> trim_zeros(const A& a, trim_side where = trim_side::both) {
  return detail::like<A>(
      detail::trim_zeros(a, where != trim_side::back, where != trim_side::front).handle());
}

}  // namespace plait
