// The different elements of a line in order, and how often each stands there. Integers of a small
// range are counted; all else is sorted.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <vector>

#include "core/dispatch.hpp"
#include "engine/threads/team.hpp"
#include "keys.hpp"
#include "lines.hpp"
#include "long_sort.hpp"

namespace plait::engine {
namespace {

constexpr std::int64_t kRangePiece = 1 << 15;
constexpr double kCountSeconds = 1e-9;  // an element

struct KeyRange {
  std::uint64_t least, most;
};

// Of the keys of integers.
template <class T>
KeyRange key_range(const Line& line) {
  std::atomic<std::uint64_t> least{~std::uint64_t{0}}, most{0};
  run_pieces(line.n, static_cast<double>(line.n) * 0.4e-9, kRangePiece,
             [&](std::int64_t begin, std::int64_t end) {
               T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
               const auto fold = [&](auto stride) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const T x = element_at<T>(line.data + i * stride);
                   low = std::min(low, x);
                   high = std::max(high, x);
                 }
               };
               if (line.stride == sizeof(T))
                 fold(std::integral_constant<std::int64_t, sizeof(T)>{});
               else
                 fold(line.stride);
               const std::uint64_t l = key_of(low), h = key_of(high);
               for (std::uint64_t seen = least;
                    l < seen && !least.compare_exchange_weak(seen, l);) {
               }
               for (std::uint64_t seen = most; h > seen && !most.compare_exchange_weak(seen, h);) {
               }
             });
  return {least, most};
}

template <class T>
T element_of(std::uint64_t key) {
  using U = std::make_unsigned_t<T>;
  constexpr U kSign = std::is_signed_v<T> ? U{1} << (sizeof(U) * 8 - 1) : 0;
  return static_cast<T>(static_cast<U>(static_cast<U>(key) ^ kSign));
}

// How often each of `size` integers from `least` on stands in the line. A table for each part of
// the line: no two threads write to the same.
template <class T>
std::vector<std::int64_t> histogram(const Line& line, T least, std::size_t size) {
  using U = std::make_unsigned_t<T>;
  constexpr std::size_t kTables = 4;  // by turns: equal neighbours do not wait for each other
  const double seconds = static_cast<double>(line.n) * kCountSeconds;
  const int threads = team_threads(seconds);
  const std::int64_t parts = std::clamp<std::int64_t>(line.n >> 18, threads, 4 * threads);
  std::vector<std::vector<std::uint32_t>> counts(static_cast<std::size_t>(parts));
  run_pieces(parts, seconds, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      std::vector<std::uint32_t> tables(kTables * size);
      const std::int64_t last = line.n * (p + 1) / parts;
      const auto count = [&](auto stride) {
        const std::byte* const data = line.data;
        std::uint32_t* const table = tables.data();
        const auto at = [&](std::int64_t i) -> std::size_t {
          return static_cast<U>(static_cast<U>(element_at<T>(data + i * stride)) -
                                static_cast<U>(least));
        };
        std::int64_t i = line.n * p / parts;
        for (; i + 4 <= last; i += 4) {
          const std::size_t a = at(i), b = at(i + 1), c = at(i + 2), d = at(i + 3);
          ++table[a];
          ++table[size + b];
          ++table[2 * size + c];
          ++table[3 * size + d];
        }
        for (; i < last; ++i) ++table[at(i)];
      };
      if (line.stride == sizeof(T))
        count(std::integral_constant<std::int64_t, sizeof(T)>{});
      else
        count(line.stride);
      counts[static_cast<std::size_t>(p)] = std::move(tables);
    }
  });
  std::vector<std::int64_t> sum(size);
  for (const std::vector<std::uint32_t>& tables : counts)
    for (std::size_t k = 0; k < tables.size(); ++k) sum[k % size] += tables[k];
  return sum;
}

// `counts` may be null. Gives how many there are.
template <class T>
std::int64_t unique_sorted(T* sorted, std::int64_t n, bool equal_nan, std::int64_t* counts) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n;) {
    const T x = sorted[i];
    std::int64_t next = i + 1;
    if (!is_nan(x))
      while (next < n && sorted[next] == x) ++next;
    else if (equal_nan)
      next = n;
    if (counts) counts[found] = next - i;
    sorted[found++] = x;
    i = next;
  }
  return found;
}
template <>
std::int64_t unique_sorted(Half* sorted, std::int64_t n, bool equal_nan, std::int64_t* counts) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n;) {
    const Half x = sorted[i];
    std::int64_t next = i + 1;
    if (is_nan(x) ? equal_nan : true)
      while (next < n && key_of(sorted[next]) == key_of(x)) ++next;
    if (counts) counts[found] = next - i;
    sorted[found++] = x;
    i = next;
  }
  return found;
}

template <class T>
std::int64_t unique_line(DType t, const Line& line, bool equal_nan, T* values,
                         std::int64_t* counts) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr std::uint64_t kLargestRange = 1 << 16;
    const KeyRange keys = key_range<T>(line);
    const std::uint64_t range = keys.most - keys.least;
    if (range < kLargestRange && static_cast<std::int64_t>(range) <= line.n / 4) {
      const std::vector<std::int64_t> table =
          histogram<T>(line, element_of<T>(keys.least), static_cast<std::size_t>(range) + 1);
      std::int64_t found = 0;
      for (std::size_t k = 0; k < table.size(); ++k) {
        if (table[k] == 0) continue;
        values[found] = element_of<T>(keys.least + k);
        if (counts) counts[found] = table[k];
        ++found;
      }
      return found;
    }
  }
  LongSort sort(t, line.n, false);
  sort.sort(reinterpret_cast<std::byte*>(values), [&](std::int64_t begin, std::int64_t end,
                                                      std::byte* to) {
    gather_line({line.data + begin * line.stride, end - begin, line.stride}, sizeof(T), to);
  });
  return unique_sorted(values, line.n, equal_nan, counts);
}

void unique_into(const CallRun& r, std::int64_t* counts, std::int64_t* found) {
  const Operand &in = r.inputs[0], &values = r.results[0];
  const Line line{in.data, in.shape[0], in.strides[0]};
  dispatch(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *found = unique_line(in.dtype, line, r.attributes.numbers[0] != 0,
                         reinterpret_cast<T*>(values.data), counts);
  });
}
std::int64_t* integers(const Operand& o) { return reinterpret_cast<std::int64_t*>(o.data); }

}  // namespace

void run_unique(const CallRun& r) { unique_into(r, nullptr, integers(r.results[1])); }
void run_unique_counts(const CallRun& r) {
  unique_into(r, integers(r.results[1]), integers(r.results[2]));
}

}  // namespace plait::engine
