#include "view_map.hpp"

#include <algorithm>
#include <cstdlib>

namespace plait::fusion {

std::optional<ViewMap> decompose(const Dims& base_shape, const Dims& base_strides,
                                 std::int64_t offset, const Dims& shape, const Dims& strides) {
  const int n = base_shape.size();
  ViewMap m{Dims(n), Dims(n, -1), Dims(n)};
  Dims order;  // base dimensions that matter, widest stride first
  for (int d = 0; d < n; ++d)
    if (base_shape[d] != 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return base_strides[a] > base_strides[b]; });
  if (offset < 0) return std::nullopt;
  for (std::int64_t d : order) {
    if (base_strides[d] <= 0) return std::nullopt;
    m.start[d] = offset / base_strides[d];
    offset %= base_strides[d];
  }
  if (offset != 0) return std::nullopt;
  for (int j = 0; j < shape.size(); ++j) {
    if (shape[j] == 1 || strides[j] == 0) continue;
    const std::int64_t t = strides[j];
    auto d = std::find_if(order.begin(), order.end(),
                          [&](std::int64_t b) { return base_strides[b] <= std::abs(t); });
    if (d == order.end() || t % base_strides[*d] != 0 || m.from[*d] != -1) return std::nullopt;
    m.from[*d] = j;
    m.step[*d] = t / base_strides[*d];
  }
  for (std::int64_t d : order) {
    const std::int64_t last =
        m.from[d] < 0 ? m.start[d] : m.start[d] + m.step[d] * (shape[m.from[d]] - 1);
    if (std::min(m.start[d], last) < 0 || std::max(m.start[d], last) >= base_shape[d])
      return std::nullopt;
  }
  return m;
}

}  // namespace plait::fusion
