#include "view_map.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace plait::fusion {

namespace {

// Dimensions that matter.
Dims widest_first(const Dims& shape, const Dims& strides) {
  Dims order;
  for (int d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) order.push_back(d);
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return strides[a] > strides[b]; });
  return order;
}

bool find_start(const Dims& order, const Dims& strides, std::int64_t offset, Dims& start) {
  if (offset < 0) return false;
  for (const std::int64_t d : order) {
    if (strides[d] <= 0) return false;
    start[d] = offset / strides[d];
    offset %= strides[d];
  }
  return offset == 0;
}

}  // namespace

std::optional<ViewMap> decompose(const Strided& base, const Strided& view) {
  const auto& [base_shape, base_strides, origin] = base;
  const auto& [shape, strides, offset] = view;
  const int n = base_shape.size();
  ViewMap m{Dims(n), Dims(n, -1), Dims(n)};
  const Dims order = widest_first(base_shape, base_strides);
  if (!find_start(order, base_strides, offset, m.start)) return std::nullopt;
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

std::optional<IndexMap> decompose_index(const Strided& base, const Strided& view) {
  const auto& [base_shape, base_strides, origin] = base;
  const auto& [shape, strides, offset] = view;
  const int n = base_shape.size();
  IndexMap m{Dims(n), Dims(n, -1), Dims(shape.size(), -1), Dims(shape.size())};
  const Dims order = widest_first(base_shape, base_strides);
  if (!find_start(order, base_strides, offset, m.start)) return std::nullopt;
  Dims last = m.start;
  for (int j = 0; j < shape.size(); ++j) {
    if (shape[j] == 1 || strides[j] == 0) continue;
    const auto d = std::find_if(order.begin(), order.end(),
                                [&](std::int64_t b) { return base_strides[b] <= strides[j]; });
    if (d == order.end() || strides[j] % base_strides[*d] != 0) return std::nullopt;
    m.axis[j] = *d;
    m.step[j] = strides[j] / base_strides[*d];
    last[*d] += m.step[j] * (shape[j] - 1);
  }
  for (int k = order.size(); k-- > 0;) {
    const std::int64_t d = order[k];
    for (std::int64_t size = base_shape[d], in = d; last[d] >= size; in = order[k]) {
      if (k-- == 0 || base_strides[order[k]] != base_strides[in] * base_shape[in])
        return std::nullopt;
      const std::int64_t w = order[k];
      m.wider[in] = w;
      last[d] += last[w] * size;
      m.start[d] += std::exchange(m.start[w], 0) * size;
      for (int j = 0; j < shape.size(); ++j)
        if (m.axis[j] == w) {
          m.axis[j] = d;
          m.step[j] *= size;
        }
      size *= base_shape[w];
    }
  }
  return m;
}

}  // namespace plait::fusion
