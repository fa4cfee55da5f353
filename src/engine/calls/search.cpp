// numpy.searchsorted: where values belong in a sorted line, by halving, several values side by
// side: a step waits for memory, another value's step does not. And numpy.interp, a line between
// the two points beside each element.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/dispatch.hpp"
#include "engine/threads/split.hpp"
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

namespace {

constexpr double kInterpolated = 2e-9;  // an element

struct Sample {
  double x, y, slope;  // to the next one
};

// In NumPy's arithmetic, of x within [p[0].x, p[1].x).
double between(const Sample* p, double x) {
  const double y = p->slope * (x - p->x) + p->y;
  if (y == y) return p->x == x ? p->y : y;
  // What is not finite is left out where one of the points does without.
  if (p->x == x) return p->y;
  const double from_next = p->slope * (x - p[1].x) + p[1].y;
  return from_next != from_next && p->y == p[1].y ? p->y : from_next;
}

// Which of the points are the last ones that are not greater than elements. Their range is cut into
// buckets of one width: where those of an element start, few steps are left.
class SampleSearch {
 public:
  SampleSearch(const std::vector<Sample>& points, std::int64_t elements,
               std::vector<std::int32_t>& starts)
      : points_(points.data()), last_(static_cast<std::int64_t>(points.size()) - 1) {
    scale_ = static_cast<double>(2 * last_) / (points_[last_].x - points_[0].x);
    const bool ascend =
        std::is_sorted(points.begin(), points.end(),
                       [](const Sample& a, const Sample& b) { return !(a.x >= b.x); });
    if (elements < last_ || last_ > kMostPoints || !ascend || !(scale_ > 0) ||
        !std::isfinite(scale_) || !std::isfinite(points_[0].x))
      return;
    starts.assign(static_cast<std::size_t>(2 * last_ + 1), 0);
    std::int64_t at = 0;
    for (std::int64_t b = 0; b <= 2 * last_; ++b) {
      const std::int64_t first = std::max<std::int64_t>(at - 1, 0);
      while (at <= last_ && bucket(points_[at].x) == b) ++at;
      starts[static_cast<std::size_t>(b)] = static_cast<std::int32_t>(first);
      steps_ = std::max(steps_, at - 1 - first);
    }
    if (steps_ <= kMostSteps) starts_ = starts.data();
  }

  // Of elements from the first point on, below the last.
  template <bool kOne>
  std::int64_t by_steps(double x) const {
    std::int64_t at = starts_[bucket(x)];
    if constexpr (kOne) return at + static_cast<std::int64_t>(points_[at + 1].x <= x);
    for (std::int64_t s = 0; s < steps_; ++s)
      at += static_cast<std::int64_t>(at < last_ - 1 && points_[at + 1].x <= x);
    return at;
  }
  std::int64_t by_halves(double x) const {
    const auto* const after = std::upper_bound(points_ + 1, points_ + last_, x,
                                               [](double v, const Sample& p) { return v < p.x; });
    return after - points_ - 1;
  }
  bool has_buckets() const { return starts_ != nullptr; }
  bool is_even() const { return has_buckets() && steps_ <= 1; }

 private:
  static constexpr std::int64_t kMostSteps = 8, kMostPoints = 1 << 30;
  std::int64_t bucket(double x) const {
    return static_cast<std::int64_t>((x - points_[0].x) * scale_);
  }

  const Sample* points_;
  std::int64_t last_;
  double scale_ = 0;
  const std::int32_t* starts_ = nullptr;  // of each bucket, where they are a help
  std::int64_t steps_ = 0;
};

}  // namespace

void run_interp(const CallRun& r) {
  const Operand &in = r.inputs[0], &points = r.inputs[1], &values = r.inputs[2];
  const Operand& out = r.results[0];
  const std::int64_t n = points.shape[0], last = n - 1;
  std::vector<Sample> table(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    Sample& p = table[static_cast<std::size_t>(i)];
    p.x = element_at<double>(points.data + i * points.strides[0]);
    p.y = element_at<double>(values.data + i * values.strides[0]);
    if (i > 0) {
      Sample& before = table[static_cast<std::size_t>(i - 1)];
      before.slope = (p.y - before.y) / (p.x - before.x);
    }
  }
  std::vector<std::int32_t> starts;
  const SampleSearch search(table, element_count(out.shape), starts);
  const auto rows = [&](auto&& place) {
    const Memory operands[] = {{out.data, out.strides}, {in.data, in.strides}};
    split_rows(out.shape, operands, kInterpolated, [&](const Rows& part) {
      walk_rows(part, [&](std::byte* const* p, const std::int64_t* s, std::int64_t count) {
        const auto at = place;  // a copy of its own stays in registers
        const Sample* const from = table.data();
        const Sample first = table.front(), end = table.back();
        for (std::int64_t i = 0; i < count; ++i) {
          const auto x = element_at<double>(p[1] + i * s[1]);
          double y;
          if (x >= first.x && x < end.x)
            y = between(from + at(x), x);
          else  // NumPy's single point has its value for NaN, too
            y = x >= end.x ? end.y : x == x || last == 0 ? first.y : x;
          std::memcpy(p[0] + i * s[0], &y, sizeof y);
        }
      });
    });
  };
  if (search.is_even())
    rows([search](double x) { return search.by_steps<true>(x); });
  else if (search.has_buckets())
    rows([search](double x) { return search.by_steps<false>(x); });
  else
    rows([search](double x) { return search.by_halves(x); });
}

}  // namespace plait::engine
