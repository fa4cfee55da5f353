// Order statistics: the elements that would stand at given ranks of each sorted line, all NaN where
// the line has one. Short lines are sorted; of a long line, only what lies between two elements of
// a sorted sample, chosen so that the ranks are between them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "core/dispatch.hpp"
#include "keys.hpp"
#include "lines.hpp"
#include "long_sort.hpp"
#include "sort_run.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kSelectPiece = 1 << 15;
constexpr std::int64_t kLongLine = 1 << 15;  // shorter ones are sorted
constexpr double kSelectSeconds = 1.2e-9;

template <class T>
class Selection {
 public:
  Selection(DType t, const Line& line) : dtype_(t), line_(line) {
    // Positions from a fixed sequence: the same of every run, and of no period.
    const std::int64_t size = std::clamp<std::int64_t>(line.n / 16, 1024, 16384);
    sample_.reserve(static_cast<std::size_t>(size));
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (std::int64_t i = 0; i < size; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      const auto at =
          static_cast<std::int64_t>(((state >> 32) * static_cast<std::uint64_t>(line.n)) >> 32);
      sample_.push_back(element_at<T>(line.data + at * line.stride));
    }
    sort_run(t, sample_.data(), size, false);
  }

  // Ranks close to each other, ascending. False: the sample has misled.
  bool at(const std::int64_t* ranks, std::int64_t count, T* out) {
    const auto size = static_cast<double>(sample_.size());
    const double margin = 3 * std::sqrt(size);
    const auto place = [&](std::int64_t rank, double off) {
      return std::floor(static_cast<double>(rank) / static_cast<double>(line_.n) * size + off);
    };
    const double below = place(ranks[0], -margin), above = place(ranks[count - 1], margin);
    low_ = below >= 0 ? &sample_[static_cast<std::size_t>(below)] : nullptr;
    high_ = above < size ? &sample_[static_cast<std::size_t>(above)] : nullptr;
    collect();
    if (any_nan_) {
      std::fill(out, out + count, nan_);
      return true;
    }
    if (ranks[0] < below_ || ranks[count - 1] >= below_ + between_) return false;
    if (one_value_) {
      std::fill(out, out + count, *low_);
      return true;
    }
    auto* const found = reinterpret_cast<T*>(found_->data);
    LongSort sort(dtype_, between_, false);
    Ref<Buffer> sorted = allocate(static_cast<std::size_t>(between_) * sizeof(T));
    sort.sort(sorted->data, [&](std::int64_t begin, std::int64_t end, std::byte* to) {
      std::memcpy(to, found + begin, static_cast<std::size_t>(end - begin) * sizeof(T));
    });
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = reinterpret_cast<const T*>(sorted->data)[ranks[i] - below_];
    return true;
  }

 private:
  // What lies between the two, ends included, to found_; what lies below is counted.
  void collect() {
    one_value_ = low_ && high_ && !precedes(*low_, *high_);
    if (!found_ && !one_value_) found_ = allocate(static_cast<std::size_t>(line_.n) * sizeof(T));
    std::atomic<std::int64_t> below{0}, between{0}, nans{0};
    run_pieces(
        line_.n, static_cast<double>(line_.n) * kSelectSeconds, kSelectPiece,
        [&](std::int64_t begin, std::int64_t end) {
          std::vector<T> kept(static_cast<std::size_t>(std::min(kSelectPiece, end - begin)) + 1);
          for (std::int64_t i = begin; i < end; i += kSelectPiece)
            collect_piece(i, std::min(end, i + kSelectPiece), kept.data(), below, between, nans);
        });
    below_ = below;
    between_ = between;
    any_nan_ = nans > 0;
  }
  void collect_piece(std::int64_t begin, std::int64_t end, T* kept,
                     std::atomic<std::int64_t>& below, std::atomic<std::int64_t>& between,
                     std::atomic<std::int64_t>& nans) {
    const bool has_low = low_, has_high = high_;
    const T low = has_low ? *low_ : T{}, high = has_high ? *high_ : T{};
    std::int64_t under = 0, inside = 0, odd = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const T x = element_at<T>(line_.data + i * line_.stride);
      const bool is_under = has_low & less(x, low), is_over = has_high & less(high, x);
      kept[inside] = x;
      inside += !is_under & !is_over;
      under += is_under;
      odd += is_nan(x);
    }
    below += under;
    nans += odd;
    const std::int64_t at = between.fetch_add(inside);
    if (!one_value_)
      std::memcpy(found_->data + static_cast<std::size_t>(at) * sizeof(T), kept,
                  static_cast<std::size_t>(inside) * sizeof(T));
    if (odd == 0) return;
    if constexpr (!std::is_integral_v<T>)
      for (std::int64_t i = begin; i < end; ++i) {
        const T x = element_at<T>(line_.data + i * line_.stride);
        if (!is_nan(x)) continue;
        const std::lock_guard held(guard_);
        nan_ = x;
        return;
      }
  }
  // Lines with NaN have none of their other elements looked at.
  static bool less(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b;
    else
      return precedes(a, b);
  }

  DType dtype_;
  Line line_;
  std::vector<T> sample_;
  const T *low_ = nullptr, *high_ = nullptr;
  Ref<Buffer> found_;
  std::int64_t below_ = 0, between_ = 0;
  bool any_nan_ = false, one_value_ = false;
  T nan_{};
  std::mutex guard_;
};

// `out` has one element for each rank.
template <class T>
void select_sorted(DType t, const Line& line, std::byte* memory,
                   std::span<const std::int64_t> ranks, const Line& out) {
  LongSort sort(t, line.n, false);
  sort.sort(memory, [&](std::int64_t begin, std::int64_t end, std::byte* to) {
    gather_line({line.data + begin * line.stride, end - begin, line.stride}, sizeof(T), to);
  });
  const auto* const sorted = reinterpret_cast<const T*>(memory);
  const bool has_nan = is_nan(sorted[line.n - 1]);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    std::memcpy(out.data + static_cast<std::int64_t>(k) * out.stride,
                &sorted[has_nan ? line.n - 1 : ranks[k]], sizeof(T));
}

template <class T>
bool select_long(DType t, const Line& line, std::span<const std::int64_t> ranks, const Line& out) {
  // Groups of ranks that lie close together, a pass over the line each.
  constexpr int kMostPasses = 4;
  const std::int64_t close = line.n / 64;
  int passes = 1;
  for (std::size_t k = 1; k < ranks.size(); ++k) passes += ranks[k] - ranks[k - 1] > close;
  if (passes > kMostPasses) return false;
  Selection<T> selection(t, line);
  std::vector<T> found(ranks.size());
  for (std::size_t k = 0; k < ranks.size();) {
    std::size_t end = k + 1;
    while (end < ranks.size() && ranks[end] - ranks[end - 1] <= close) ++end;
    if (!selection.at(&ranks[k], static_cast<std::int64_t>(end - k), &found[k])) return false;
    k = end;
  }
  scatter_line(reinterpret_cast<const std::byte*>(found.data()), sizeof(T), out);
  return true;
}

}  // namespace

void run_order_statistics(const CallRun& r) {
  const Operand &in = r.inputs[0], &out = r.results[0];
  const Dims& numbers = r.attributes.numbers;
  const int axis = static_cast<int>(numbers[0]);
  const std::span ranks(numbers.begin() + 1, numbers.end());
  const std::int64_t n = in.shape[axis];
  const Lines from(in, axis), to(out, 0);
  const std::size_t bytes = static_cast<std::size_t>(n) * itemsize(in.dtype);
  dispatch(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto lines = [&](std::int64_t begin, std::int64_t end) {
      Ref<Buffer> memory;
      for (std::int64_t i = begin; i < end; ++i) {
        if constexpr (!std::is_same_v<T, bool>)
          if (n >= kLongLine && select_long<T>(in.dtype, from[i], ranks, to[i])) continue;
        if (!memory) memory = allocate(bytes);
        select_sorted<T>(in.dtype, from[i], memory->data, ranks, to[i]);
      }
    };
    if (n >= kLongLine)
      lines(0, from.count());
    else
      run_pieces(from.count(), static_cast<double>(from.count()) * LongSort::seconds(in.dtype, n),
                 1, lines);
  });
}

}  // namespace plait::engine
