#include <algorithm>
#include <cstring>

#include "fusion/view_map.hpp"
#include "run.hpp"

namespace plait::engine {
using tracer::Node;

namespace {

// First and one-past-last byte of a layout, relative to element 0.
std::pair<std::int64_t, std::int64_t> span_of(const Dims& shape, const Dims& strides,
                                              std::int64_t item) {
  std::int64_t first = 0, last = item;
  for (int d = 0; d < shape.size(); ++d) {
    const std::int64_t reach = (shape[d] - 1) * strides[d];
    (reach < 0 ? first : last) += reach;
  }
  return {first, last};
}

// Large copies are memory-bound: the team shares them.
void copy_bytes(std::byte* to, const std::byte* from, std::int64_t n) {
  constexpr std::int64_t kBlock = 1 << 20;
  if (n < 2 * kBlock) {
    std::memcpy(to, from, static_cast<std::size_t>(n));
    return;
  }
#pragma omp parallel for num_threads(num_threads()) schedule(static)
  for (std::int64_t at = 0; at < n; at += kBlock)
    std::memcpy(to + at, from + at, static_cast<std::size_t>(std::min(kBlock, n - at)));
}

}  // namespace

UpdateCopy surviving(const Node& n, bool masked) {
  const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
  const auto [first, last] = span_of(n.shape, n.strides, item);
  UpdateCopy c{first, last, last, last};
  // A box along the widest dimension of a dense layout: rows in front of it and behind it are two
  // stretches of memory. Gaps of a layout belong to somebody else and are kept.
  const bool dense = first == 0 && last == element_count(n.shape) * item;
  const auto map =
      masked || n.view_dtype != n.dtype || !dense
          ? std::nullopt
          : fusion::decompose(n.shape, n.strides, n.offset, n.view_shape, n.view_strides);
  bool whole_rows = map.has_value();
  int wide = -1;
  for (int d = 0; d < n.shape.size() && whole_rows; ++d)
    if (n.shape[d] > 1 && (wide < 0 || n.strides[d] > n.strides[wide])) wide = d;
  for (int d = 0; d < n.shape.size() && whole_rows; ++d) {
    if (d == wide || n.shape[d] == 1) continue;
    whole_rows = map->from[d] >= 0 && map->step[d] == 1 &&
                 n.view_shape[static_cast<int>(map->from[d])] == n.shape[d];
  }
  if (whole_rows && wide >= 0 && map->from[wide] >= 0 && map->step[wide] == 1) {
    c.hole_begin = map->start[wide] * n.strides[wide];
    c.hole_end = c.hole_begin + n.view_shape[static_cast<int>(map->from[wide])] * n.strides[wide];
  }
  return c;
}

Memory copy_for_update(const Node& n, const Memory& old, bool masked) {
  const UpdateCopy c = surviving(n, masked);
  Memory m{allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
  copy_bytes(m.at() + c.first, old.at() + c.first, c.hole_begin - c.first);
  copy_bytes(m.at() + c.hole_end, old.at() + c.hole_end, c.last - c.hole_end);
  return m;
}

}  // namespace plait::engine
