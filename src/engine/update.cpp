#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

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

// Shorter rows are not worth going around, and so are boxes in more pieces.
constexpr std::int64_t kShortPitch = 512;
constexpr std::size_t kMostStretches = 16;

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

// Adds `bytes` at each index of the target along the dimensions `outer`.
void add_stretches(std::span<const Range> outer, std::int64_t at, std::int64_t bytes,
                   std::vector<Stretches>& out) {
  if (bytes == 0) return;
  if (outer.empty()) {
    out.push_back({at, bytes, 1, bytes});
  } else if (outer.size() == 1) {
    const Range& r = outer[0];
    out.push_back({at + r.begin * r.stride, bytes, r.end - r.begin, r.stride});
  } else {
    const Range& r = outer[0];
    for (std::int64_t i = r.begin; i < r.end; ++i)
      add_stretches(outer.subspan(1), at + i * r.stride, bytes, out);
  }
}

}  // namespace

UpdateCopy surviving(const Node& n, bool masked) {
  const auto item = static_cast<std::int64_t>(itemsize(n.dtype));
  const auto [first, last] = span_of(n.shape, n.strides, item);
  UpdateCopy c{first, last, {{first, last - first, 1, last - first}}};
  // Gaps of a layout belong to somebody else and are kept.
  const bool dense = first == 0 && last == element_count(n.shape) * item;
  if (masked || n.view_dtype != n.dtype || !dense) return c;
  const auto box = target_box(n);
  if (!box) return c;
  // Dimension by dimension: what lies before and behind the target within the target's part of the
  // wider ones. `pieces` counts that part's stretches.
  c.kept.clear();
  const std::span<const Range> ranges(*box);
  std::size_t pieces = 1;
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const Range& r = ranges[d];
    const std::span<const Range> outer = ranges.first(d);
    if (d > 1) pieces *= static_cast<std::size_t>(ranges[d - 2].end - ranges[d - 2].begin);
    const bool whole = r.begin == 0 && r.end == r.extent;
    if (!whole && ((d > 0 && ranges[d - 1].stride < kShortPitch) || pieces > kMostStretches)) {
      add_stretches(outer, 0, r.extent * r.stride, c.kept);
      break;
    }
    add_stretches(outer, 0, r.begin * r.stride, c.kept);
    add_stretches(outer, r.end * r.stride, (r.extent - r.end) * r.stride, c.kept);
  }
  return c;
}

Memory copy_for_update(const Node& n, const Memory& old, bool masked) {
  const UpdateCopy c = surviving(n, masked);
  Memory m{allocate(static_cast<std::size_t>(c.last - c.first)), -c.first};
  for (const Stretches& s : c.kept)
    for (std::int64_t i = 0; i < s.count; ++i)
      copy_bytes(m.at() + s.begin + i * s.pitch, old.at() + s.begin + i * s.pitch, s.bytes);
  return m;
}

}  // namespace plait::engine
