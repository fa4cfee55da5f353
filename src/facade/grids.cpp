// Grids of coordinates, and places as coordinates, in the library's own names.
#include "plait/grids.hpp"

#include "errors.hpp"
#include "plait/build.hpp"
#include "plait/math.hpp"
#include "plait/reduce.hpp"

namespace plait::detail {

namespace {
any_array line_of(const Index& r) {
  if (r.kind != Index::Kind::slice || !r.has_stop)
    throw ValueError("takes ranges that have an end: range(0, 3)");
  return plait::arange(r.has_start ? r.start : 0, r.stop, r.has_step ? r.step : 1);
}
}  // namespace

std::vector<any_array> grid(const Index* ranges, int n) {
  return named("ogrid", [&] {
    std::vector<any_array> lines;
    for (int i = 0; i < n; ++i) {
      shape_type shape(static_cast<std::size_t>(n), 1);
      shape[static_cast<std::size_t>(i)] = -1;
      lines.push_back(line_of(ranges[i]).reshape(shape));
    }
    return lines;
  });
}
any_array dense_grid(const Index* ranges, int n) {
  return named("mgrid", [&] {
    if (n == 1) return line_of(ranges[0]);
    std::vector<any_array> lines = grid(ranges, n);
    shape_type shape;
    for (int i = 0; i < n; ++i) shape.push_back(lines[static_cast<std::size_t>(i)].shape(i));
    for (any_array& a : lines) a = broadcast_to(a, shape);
    return stack(lines);
  });
}

std::vector<any_array> unravel_index(const any_array& index, Span shape) {
  return named("unravel_index", [&] {
    if (!is_integer(index.dtype())) throw DTypeError("only int indices permitted");
    any_array rest = index.astype<std::int64_t>();
    std::int64_t size = 1;
    for (int i = 0; i < shape.size; ++i) size *= shape.data[i];
    if (rest.size() > 0) {
      const auto least = min(rest).item<std::int64_t>(), greatest = max(rest).item<std::int64_t>();
      if (least < 0 || greatest >= size)
        throw ValueError("index " + std::to_string(least < 0 ? least : greatest) +
                         " is out of bounds for array with size " + std::to_string(size));
    }
    std::vector<any_array> out(static_cast<std::size_t>(shape.size));
    for (int i = shape.size; i-- > 0;) {
      const std::int64_t n = std::max<std::int64_t>(shape.data[i], 1);
      out[static_cast<std::size_t>(i)] = remainder(rest, n);
      rest = floor_divide(rest, n);
    }
    return out;
  });
}

any_array ravel_multi_index(const std::vector<any_array>& coordinates, Span shape,
                            index_mode mode) {
  return named("ravel_multi_index", [&] {
    if (static_cast<int>(coordinates.size()) != shape.size)
      throw ValueError("parameter multi_index must be a sequence of length " +
                       std::to_string(shape.size));
    any_array place = plait::full<std::int64_t>({}, 0);
    for (int i = 0; i < shape.size; ++i) {
      const any_array& given = coordinates[static_cast<std::size_t>(i)];
      if (!is_integer(given.dtype())) throw DTypeError("only int indices permitted");
      const std::int64_t n = shape.data[i];
      any_array at = given.astype<std::int64_t>();
      if (mode == index_mode::wrap) at = remainder(at, n);
      if (mode == index_mode::clip) at = clip(at, 0, n - 1);
      if (mode == index_mode::raise && any((at < 0) | (at >= n)).item<bool>())
        throw ValueError("invalid entry in coordinates array");
      place = place * n + at;
    }
    return place;
  });
}

any_array trim_zeros(const any_array& a, bool front, bool back) {
  return named("trim_zeros", [&]() -> any_array {
    const auto places = nonzero(a);
    std::vector<Index> kept;
    for (const array<std::int64_t>& p : places) {
      Index r = range(0, 0);
      if (p.size() > 0) {
        r = all();
        const std::int64_t first = min(p).item(), last = max(p).item();
        if (front && back) r = range(first, last + 1);
        if (front && !back) r = range(first, placeholders::_);
        if (back && !front) r = range(0, last + 1);
      }
      kept.push_back(r);
    }
    return any_array(slice(a.handle(), kept.data(), static_cast<int>(kept.size())));
  });
}

}  // namespace plait::detail
