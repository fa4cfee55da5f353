// Elements out of several arrays or functions: numpy.select, choose, piecewise; and functions of
// the lines along an axis.
#pragma once
#include "plait/any_array.hpp"
#include "plait/build.hpp"
#include "plait/indexing.hpp"
#include "plait/join.hpp"

namespace plait {

/// What becomes of an index that is out of bounds: an error, the one that it is after going around,
/// or the first or last one.
enum class index_mode { raise, wrap, clip };

namespace detail {
PLAIT_API any_array select_of(const std::vector<any_array>& conditions,
                              const std::vector<any_array>& choices, const any_array& otherwise);
PLAIT_API any_array choose(const any_array& index, const std::vector<any_array>& choices,
                           index_mode mode);
PLAIT_API std::vector<any_array> pieces(const std::vector<any_array>& conditions,
                                        std::size_t functions);
PLAIT_API any_array lines_along(const any_array& a, std::int64_t axis);
PLAIT_API any_array put_along(const std::vector<any_array>& lines, const any_array& a,
                              std::int64_t axis);
template <class C>
std::vector<any_array> untyped_arrays(const C& arrays) {
  return std::vector<any_array>(arrays.begin(), arrays.end());
}
template <class R>
using if_number = std::enable_if_t<is_element_v<R>>;
template <class T>
any_array as_array(const array<T>& a) {
  return a;
}
template <class R, class = if_number<R>>
any_array as_array(const R& number) {
  return plait::full({}, number);
}
template <class F, class T>
void put_piece(array<T>& out, const array<T>& x, const any_array& where, const F& f) {
  const array<bool> mask = where.as<bool>();
  if constexpr (std::is_invocable_v<const F&, array<T>>) {
    const array<T> values = x[mask];
    if (values.size() > 0) out[mask] = f(values);
  } else {
    out[mask] = f;
  }
}
template <class R>
struct line_result {
  using type = R;
};
template <class T>
struct line_result<array<T>> {
  using type = T;
};
template <class T>
struct line_result<array_view<T>> {
  using type = std::remove_const_t<T>;
};
}  // namespace detail

/// Of the first choice whose condition is true, element by element, else `otherwise`
/// (numpy.select).
template <class T, class V = int>
array<T> select(const std::vector<array<bool>>& conditions, const std::vector<array<T>>& choices,
                const V& otherwise = V()) {
  return array<T>(detail::select_of(detail::untyped_arrays(conditions),
                                    detail::untyped_arrays(choices),
                                    full({}, detail::element_value<T>(otherwise)))
                      .handle());
}
/// The same of lists in braces.
template <class T, class V = int>
array<T> select(std::initializer_list<array<bool>> conditions,
                std::initializer_list<array<T>> choices, const V& otherwise = V()) {
  return select(std::vector<array<bool>>(conditions), std::vector<array<T>>(choices), otherwise);
}
/// choices[index], element by element (numpy.choose). ValueError for an index out of bounds.
template <class I, class T, detail::if_array<I> = 0>
array<T> choose(const I& index, const std::vector<array<T>>& choices,
                index_mode mode = index_mode::raise) {
  return array<T>(detail::choose(index, detail::untyped_arrays(choices), mode).handle());
}
/// The same of a list in braces.
template <class I, class T, detail::if_array<I> = 0>
array<T> choose(const I& index, std::initializer_list<array<T>> choices,
                index_mode mode = index_mode::raise) {
  return choose(index, std::vector<array<T>>(choices), mode);
}
/// f(x[c]) where the condition c is true, for each condition with its function, of which the last
/// that holds counts (numpy.piecewise). A function more than conditions is for the elements where
/// none is true. A number stands for a function that gives it. What no function is for is 0.
template <class T, class... F>
array<T> piecewise(const array<T>& x, std::initializer_list<array<bool>> conditions,
                   const F&... functions) {
  const auto masks = detail::pieces(detail::untyped_arrays(conditions), sizeof...(F));
  array<T> out(detail::zeros(detail::shape_of(x.handle()), x.dtype()));
  std::size_t i = 0;
  (detail::put_piece(out, x, masks[i++], functions), ...);
  return out;
}

/// f of each line along an axis, an array of one dimension: the number or array that it gives takes
/// the place of the line (numpy.apply_along_axis). It is called once a line.
template <class F, class T>
auto apply_along_axis(F&& f, std::int64_t axis, const array<T>& a) {
  using R = typename detail::line_result<std::decay_t<std::invoke_result_t<F&, array<T>>>>::type;
  const array<T> lines(detail::lines_along(a, axis).handle());
  std::vector<any_array> made;
  for (std::int64_t i = 0; i < lines.shape(0); ++i)
    made.push_back(detail::as_array(f(array<T>(view(lines, i)))));
  return array<R>(detail::put_along(made, a, axis).handle());
}

}  // namespace plait
