// Elements out of several arrays, in the library's own names.
#include "plait/choose.hpp"

#include "errors.hpp"
#include "plait/build.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait::detail {

any_array select_of(const std::vector<any_array>& conditions, const std::vector<any_array>& choices,
                    const any_array& otherwise) {
  return named("select", [&] {
    if (conditions.size() != choices.size())
      throw ValueError("list of cases must be same length as list of conditions");
    if (conditions.empty()) throw ValueError("select with an empty condition list is not possible");
    any_array out = otherwise;
    for (std::size_t i = conditions.size(); i-- > 0;) out = where(conditions[i], choices[i], out);
    return out;
  });
}

any_array choose(const any_array& given, const std::vector<any_array>& choices, index_mode mode) {
  return named("choose", [&] {
    const auto n = static_cast<std::int64_t>(choices.size());
    if (n == 0) throw ValueError("0-length sequence.");
    if (given.dtype() != dtype::bool_ && !is_integer(given.dtype()))
      throw DTypeError("takes indices of integers, not " + to_string(given.dtype()));
    any_array index = given.astype<std::int64_t>();
    if (mode == index_mode::wrap) index = remainder(index, n);
    if (mode == index_mode::clip) index = clip(index, 0, n - 1);
    if (mode == index_mode::raise && any((index < 0) | (index >= n)).item<bool>())
      throw ValueError("invalid entry in choice array");
    any_array out = where(index == n - 1, choices.back(), choices.back());
    for (std::int64_t i = n - 1; i-- > 0;)
      out = where(index == i, choices[static_cast<std::size_t>(i)], out);
    return out;
  });
}

std::vector<any_array> pieces(const std::vector<any_array>& conditions, std::size_t functions) {
  return named("piecewise", [&] {
    const std::size_t n = conditions.size();
    if (functions != n && functions != n + 1)
      throw ValueError("with " + std::to_string(n) + " condition(s), either " + std::to_string(n) +
                       " or " + std::to_string(n + 1) + " functions are expected");
    std::vector<any_array> all = conditions;
    if (functions > n) {
      any_array none = n == 0 ? plait::full({}, true) : !conditions[0];
      for (std::size_t i = 1; i < n; ++i) none = none & !conditions[i];
      all.push_back(none);
    }
    return all;
  });
}

any_array lines_along(const any_array& a, std::int64_t axis) {
  return named("apply_along_axis", [&] {
    const any_array last = moveaxis(a, axis, -1);
    std::int64_t n = 1;
    for (int i = 0; i < last.ndim() - 1; ++i) n *= last.shape(i);
    if (n == 0) throw ValueError("Cannot apply_along_axis when any iteration dimensions are 0");
    return last.reshape({n, last.shape(-1)});
  });
}
any_array put_along(const std::vector<any_array>& lines, const any_array& a,
                    std::int64_t given_axis) {
  return named("apply_along_axis", [&] {
    const std::int64_t axis = given_axis < 0 ? given_axis + a.ndim() : given_axis;
    const shape_type shape = a.shape(), line = lines[0].shape();
    shape_type out, from, to;
    for (std::int64_t i = 0; i < a.ndim(); ++i)
      if (i != axis) out.push_back(shape[static_cast<std::size_t>(i)]);
    for (std::size_t i = 0; i < line.size(); ++i) {
      from.push_back(static_cast<std::int64_t>(out.size()));
      to.push_back(axis + static_cast<std::int64_t>(i));
      out.push_back(line[i]);
    }
    return moveaxis(stack(lines).reshape(out), from, to);
  });
}

}  // namespace plait::detail
