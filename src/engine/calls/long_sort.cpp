#include "long_sort.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/dispatch.hpp"
#include "engine/threads/team.hpp"
#include "lines.hpp"
#include "merge.hpp"
#include "order.hpp"
#include "sort_run.hpp"

namespace plait::engine {
namespace {

// Tens of milliseconds: of NumPy's vectorised sorts, and of those that compare elements.
constexpr std::int64_t kLongestRun = 1 << 22, kLongestCompared = 1 << 19;
constexpr std::int64_t kShortestRun = LongSort::kLeast / 4;
constexpr std::int64_t kMergePiece = 1 << 16;
constexpr double kMergeSeconds = 1.2e-9;  // an element

// Runs of floats end in their NaNs, which stay in order: what is merged compares plainly.
template <class T>
std::int64_t numbers_in(const T* run, std::int64_t n) {
  return std::partition_point(run, run + n, [](const T& x) { return !is_nan(x); }) - run;
}

// Of the merge of runs a and b, elements [begin, end) to `out` + begin.
template <class T, class Less>
void merge_part(const T* a, std::int64_t na, const T* b, std::int64_t nb, std::int64_t begin,
                std::int64_t end, T* out, Less less) {
  const std::int64_t a0 = merge_path(a, na, b, nb, begin, less);
  const std::int64_t a1 = merge_path(a, na, b, nb, end, less);
  const std::int64_t b0 = begin - a0, b1 = end - a1;
  merge(a + a0, a1 - a0, b + b0, b1 - b0, out + begin, less);
}

template <class T>
void merge_runs(const T* a, std::int64_t na, const T* b, std::int64_t nb, std::int64_t begin,
                std::int64_t end, T* out) {
  if constexpr (std::is_floating_point_v<T>) {
    const std::int64_t a_numbers = numbers_in(a, na), b_numbers = numbers_in(b, nb);
    const std::int64_t numbers = a_numbers + b_numbers, a_nans = na - a_numbers;
    if (begin < numbers)
      merge_part(a, a_numbers, b, b_numbers, begin, std::min(end, numbers), out,
                 [](T x, T y) { return x < y; });
    for (std::int64_t i = std::max(begin, numbers); i < end; ++i) {
      const std::int64_t nan = i - numbers;
      out[i] = nan < a_nans ? a[a_numbers + nan] : b[b_numbers + nan - a_nans];
    }
  } else {
    merge_part(a, na, b, nb, begin, end, out, precedes<T>);
  }
}

}  // namespace

double LongSort::seconds(DType t, std::int64_t n) {
  const double step = is_complex(t) ? 3e-9 : static_cast<double>(itemsize(t)) * 0.045e-9;
  return static_cast<double>(n) * std::log2(static_cast<double>(n) + 2) * step;
}

LongSort::LongSort(DType t, std::int64_t n, bool stable) : dtype_(t), n_(n), stable_(stable) {
  const int threads = n < kLeast ? 1 : team_threads(seconds(t, n));
  const bool compared = stable || is_complex(t) || t == DType::Float16;
  const std::int64_t longest = compared ? kLongestCompared : kLongestRun;
  const std::int64_t wanted = std::max<std::int64_t>(
      std::min<std::int64_t>(threads, n / kShortestRun), (n + longest - 1) / longest);
  if (wanted < 2) return;
  runs_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(wanted)));
  spare_ = allocate(static_cast<std::size_t>(n) * itemsize(t));
}

void LongSort::sort(std::byte* out, const Fill& fill) {
  if (runs_ == 1) {
    fill(0, n_, out);
    sort_run(dtype_, out, n_, stable_);
    return;
  }
  const bool even = std::countr_zero(static_cast<std::uint64_t>(runs_)) % 2 == 0;
  std::byte *from = even ? out : spare_->data, *to = even ? spare_->data : out;
  const auto item = static_cast<std::int64_t>(itemsize(dtype_));
  run_pieces(runs_, seconds(dtype_, n_), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      std::byte* const run = from + bound(r) * item;
      fill(bound(r), bound(r + 1), run);
      sort_run(dtype_, run, bound(r + 1) - bound(r), stable_);
    }
  });
  for (std::int64_t width = 1; width < runs_; width *= 2) {
    merge_level(width, from, to);
    std::swap(from, to);
  }
}

void LongSort::merge_level(std::int64_t width, const std::byte* from, std::byte* to) const {
  dispatch(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* const in = reinterpret_cast<const T*>(from);
    auto* const out = reinterpret_cast<T*>(to);
    run_pieces(n_, static_cast<double>(n_) * kMergeSeconds, kMergePiece,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = 0; r < runs_; r += 2 * width) {
                   const std::int64_t a = bound(r), b = bound(r + width), c = bound(r + 2 * width);
                   const std::int64_t first = std::max(begin, a), last = std::min(end, c);
                   if (first < last)
                     merge_runs(in + a, b - a, in + b, c - b, first - a, last - a, out + a);
                 }
               });
  });
}

}  // namespace plait::engine
