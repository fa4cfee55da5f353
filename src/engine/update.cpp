#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "fusion/view_map.hpp"
#include "run.hpp"
#include "team.hpp"

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

// Shorter rows are not worth going around.
constexpr std::int64_t kShortPitch = 512;

// The part of one dimension that an update writes.
struct Range {
  std::int64_t stride, extent, begin, end;
};

// The target as a box in a dense layout, one range a dimension, widest first; none when it is no
// box.
std::optional<std::vector<Range>> target_box(const Node& n) {
  const auto map = fusion::decompose(n.shape, n.strides, n.offset, n.view_shape, n.view_strides);
  if (!map) return std::nullopt;
  std::vector<Range> box;
  for (int d = 0; d < n.shape.size(); ++d) {
    if (n.shape[d] == 1) continue;
    Range r{n.strides[d], n.shape[d], map->start[d], map->start[d] + 1};
    if (map->from[d] >= 0) {
      const std::int64_t extent = n.view_shape[static_cast<int>(map->from[d])];
      if (extent > 1 && std::abs(map->step[d]) != 1) return std::nullopt;
      if (map->step[d] < 0) r.begin -= extent - 1;
      r.end = r.begin + extent;
    }
    box.push_back(r);
  }
  std::sort(box.begin(), box.end(),
            [](const Range& a, const Range& b) { return a.stride > b.stride; });
  return box;
}

}  // namespace

UpdateCopy surviving(const Node& n, bool masked) {
  const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
  const auto [first, last] = span_of(n.shape, n.strides, item);
  UpdateCopy c{first, last, {{first, last - first, 1, last - first}}};
  // Gaps of a layout belong to somebody else and are kept.
  const bool dense = first == 0 && last == element_count(n.shape) * item;
  if (masked || n.view_dtype != n.dtype || !dense || element_count(n.view_shape) == 0) return c;
  const auto box = target_box(n);
  if (!box) return c;
  // Dimension by dimension: what lies before and behind the target, from its first to its last
  // index in the wider ones. In a dense layout those are one pitch apart, and what is beside the
  // target there is kept as well.
  const UpdateCopy everything = std::exchange(c, {first, last, {}});
  std::int64_t corner = 0, count = 1, pitch = last, bytes = 0;
  for (const Range& r : *box) {
    const bool whole = r.begin == 0 && r.end == r.extent;
    if (!whole && pitch < kShortPitch) return everything;
    for (const auto& [begin, end] : {std::pair(std::int64_t{0}, r.begin), {r.end, r.extent}}) {
      if (begin == end) continue;
      c.kept.push_back({corner + begin * r.stride, (end - begin) * r.stride, count, pitch});
      bytes += (end - begin) * r.stride * count;
    }
    corner += r.begin * r.stride;
    count = (count - 1) * (pitch / r.stride) + r.end - r.begin;
    pitch = r.stride;
  }
  return bytes < last ? c : everything;
}

NodeMemory copy_for_update(const Node& n, const NodeMemory& old, bool masked) {
  const UpdateCopy c = surviving(n, masked);
  NodeMemory m{allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
  for (const Stretches& s : c.kept)
    for (std::int64_t i = 0; i < s.count; ++i)
      copy_memory(m.at() + s.begin + i * s.pitch, old.at() + s.begin + i * s.pitch, s.bytes);
  return m;
}

}  // namespace plait::engine
