// numpy.searchsorted: where values belong in a sorted line, by halving, several values side by
// side: a step waits for memory, another value's step does not.
#include "core/dispatch.hpp"
#include "keys.hpp"
#include "lines.hpp"

namespace plait::engine {
namespace {

constexpr int kSideBySide = 8;

// Whether the place of `value` is behind the element.
template <bool kRight, class T>
bool is_behind(const T& element, const T& value) {
  return kRight ? !precedes(value, element) : precedes(element, value);
}

template <bool kRight, class T, int kCount>
void places(const Line& sorted, const T* values, std::int64_t* out) {
  std::int64_t at[kCount] = {};
  for (std::int64_t rest = sorted.n; rest > 1;) {
    const std::int64_t half = rest / 2;
    for (int k = 0; k < kCount; ++k) {
      const T x = element_at<T>(sorted.data + (at[k] + half - 1) * sorted.stride);
      at[k] += is_behind<kRight>(x, values[k]) ? half : 0;
    }
    rest -= half;
  }
  for (int k = 0; k < kCount; ++k)
    out[k] =
        at[k] + is_behind<kRight>(element_at<T>(sorted.data + at[k] * sorted.stride), values[k]);
}

template <bool kRight, class T>
void search(const Line& sorted, const Lines& values, std::int64_t line, const Line& out) {
  const Line from = values[line];
  T group[kSideBySide];
  std::int64_t found[kSideBySide];
  for (std::int64_t i = 0; i < from.n; i += kSideBySide) {
    const auto n = static_cast<int>(std::min<std::int64_t>(kSideBySide, from.n - i));
    for (int k = 0; k < n; ++k) group[k] = element_at<T>(from.data + (i + k) * from.stride);
    if (n == kSideBySide) {
      places<kRight, T, kSideBySide>(sorted, group, found);
    } else {
      for (int k = 0; k < n; ++k) places<kRight, T, 1>(sorted, group + k, found + k);
    }
    for (int k = 0; k < n; ++k)
      std::memcpy(out.data + (i + k) * out.stride, found + k, sizeof *found);
  }
}

// Elements of any shape as lines along the last axis, cut where they are long.
Operand in_lines(const Operand& o) {
  constexpr std::int64_t kMost = 1 << 13;
  Operand lines = o;
  if (o.shape.empty()) {
    lines.shape = {1};
    lines.strides = {0};
  } else if (o.shape.back() > kMost && o.shape.back() % kMost == 0) {
    const int last = o.shape.size() - 1;
    lines.shape[last] /= kMost;
    lines.strides[last] *= kMost;
    lines.shape.push_back(kMost);
    lines.strides.push_back(o.strides[last]);
  }
  return lines;
}

}  // namespace

void run_searchsorted(const CallRun& r) {
  const Operand& a = r.inputs[0];
  const bool right = r.attributes.numbers[0] != 0;
  const Line sorted{a.data, a.shape[0], a.strides[0]};
  const auto all = [&](const Operand& values, const Operand& out) {
    const int axis = values.shape.size() - 1;
    const Lines from(values, axis), to(out, axis);
    const double one =
        2e-9 * static_cast<double>(64 - std::countl_zero(static_cast<std::uint64_t>(sorted.n)));
    const double seconds = one * static_cast<double>(element_count(values.shape));
    run_pieces(from.count(), seconds, 1, [&](std::int64_t begin, std::int64_t end) {
      dispatch(a.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (std::int64_t i = begin; i < end; ++i)
          right ? search<true, T>(sorted, from, i, to[i])
                : search<false, T>(sorted, from, i, to[i]);
      });
    });
  };
  Operand values = r.inputs[1], out = r.results[0];
  constexpr std::int64_t kMost = 1 << 13;
  if (!values.shape.empty() && values.shape.back() > kMost) {
    // What is left of a last axis that does not divide evenly.
    const int last = values.shape.size() - 1;
    const std::int64_t rest = values.shape[last] % kMost, even = values.shape[last] - rest;
    Operand tail = values, tail_out = out;
    values.shape[last] = out.shape[last] = even;
    tail.shape[last] = tail_out.shape[last] = rest;
    tail.data += even * tail.strides[last];
    tail_out.data += even * tail_out.strides[last];
    if (rest > 0) all(tail, tail_out);
  }
  all(in_lines(values), in_lines(out));
}

}  // namespace plait::engine
