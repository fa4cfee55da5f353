// Grids of coordinates, and places in C order as coordinates.
#pragma once
#include <array>

#include "plait/choose.hpp"
#include "plait/math.hpp"

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

/// The rows and columns of the elements on and below the k-th diagonal of a matrix:
/// auto [i, j] = tril_indices(3) (numpy.tril_indices). Square by default.
inline std::array<array<std::int64_t>, 2> tril_indices(std::int64_t n, std::int64_t k = 0,
                                                       std::int64_t columns = -1) {
  const auto found = nonzero(tri<bool>(n, columns < 0 ? n : columns, k));
  return {found[0], found[1]};
}
/// Those on and above it (numpy.triu_indices).
inline std::array<array<std::int64_t>, 2> triu_indices(std::int64_t n, std::int64_t k = 0,
                                                       std::int64_t columns = -1) {
  const auto found = nonzero(!tri<bool>(n, columns < 0 ? n : columns, k - 1));
  return {found[0], found[1]};
}
/// The same for a matrix that is there (numpy.tril_indices_from). ValueError for what is none.
template <class A, detail::if_array<A> = 0>
auto tril_indices_from(const A& a, std::int64_t k = 0) {
  if (a.ndim() != 2) throw ValueError("input array must be 2-d");
  return tril_indices(a.shape(0), k, a.shape(1));
}
/// The same for a matrix that is there (numpy.triu_indices_from). ValueError for what is none.
template <class A, detail::if_array<A> = 0>
auto triu_indices_from(const A& a, std::int64_t k = 0) {
  if (a.ndim() != 2) throw ValueError("input array must be 2-d");
  return triu_indices(a.shape(0), k, a.shape(1));
}
/// The indices along each axis of the diagonal of an array of n along every one
/// (numpy.diag_indices).
inline std::vector<array<std::int64_t>> diag_indices(std::int64_t n, int ndim = 2) {
  return std::vector<array<std::int64_t>>(static_cast<std::size_t>(ndim), arange(n));
}
/// The same for an array that is there (numpy.diag_indices_from). ValueError where it has fewer
/// than two axes, or such of several lengths.
template <class A, detail::if_array<A> = 0>
std::vector<array<std::int64_t>> diag_indices_from(const A& a) {
  if (a.ndim() < 2) throw ValueError("input array must be at least 2-d");
  for (int axis = 1; axis < a.ndim(); ++axis)
    if (a.shape(axis) != a.shape(0))
      throw ValueError("All dimensions of input must be of equal length");
  return diag_indices(a.shape(0), a.ndim());
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
