#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "bindings.hpp"
#include "fusion/graph/view_map.hpp"
#include "run.hpp"

namespace plait::engine {
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
std::optional<std::vector<Range>> target_box(const Root& r) {
  const UpdateTarget& to = *r.update;
  const auto map = fusion::decompose({r.shape, r.strides}, {to.shape, to.strides, to.offset});
  if (!map) return std::nullopt;
  std::vector<Range> box;
  for (int d = 0; d < r.shape.size(); ++d) {
    if (r.shape[d] == 1) continue;
    Range range{r.strides[d], r.shape[d], map->start[d], map->start[d] + 1};
    if (map->from[d] >= 0) {
      const std::int64_t extent = to.shape[static_cast<int>(map->from[d])];
      if (extent > 1 && std::abs(map->step[d]) != 1) return std::nullopt;
      if (map->step[d] < 0) range.begin -= extent - 1;
      range.end = range.begin + extent;
    }
    box.push_back(range);
  }
  std::sort(box.begin(), box.end(),
            [](const Range& a, const Range& b) { return a.stride > b.stride; });
  return box;
}

}  // namespace

UpdateCopy surviving(const Root& root) {
  const UpdateTarget& to = *root.update;
  const auto item = static_cast<std::int64_t>(itemsize(root.dtype));
  const auto [first, last] = span_of(root.shape, root.strides, item);
  UpdateCopy c{first, last, {{first, last - first, 1, last - first}}};
  // Gaps of a layout belong to somebody else and are kept.
  const bool dense = first == 0 && last == element_count(root.shape) * item;
  if (to.masked || to.dtype != root.dtype || !dense || element_count(to.shape) == 0) return c;
  const auto box = target_box(root);
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

}  // namespace plait::engine
