#include "bins.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "codegen/loops/bins.hpp"
#include "core/config.hpp"
#include "core/machine.hpp"
#include "core/scatter.hpp"
#include "engine/threads/split.hpp"

namespace plait::engine {
namespace {

// Bins of all threads that counting is worth joining.
constexpr std::int64_t kTables = 1 << 16;

// count(begin, end, table) for pieces of [0, n), each with zeroed bins of a thread; their sums.
template <class F>
void count_by_threads(std::int64_t n, double seconds, std::int64_t* out, std::int64_t bins,
                      F&& count) {
  std::fill(out, out + bins, 0);
  const double all = seconds * static_cast<double>(n);
  if (all < kUnsplit) {
    count(std::int64_t{0}, n, out);
    return;
  }
  const int threads = bins <= kTables && bins * 4 <= n ? team_threads(all) : 1;
  std::vector<std::int64_t> others(static_cast<std::size_t>(bins * (threads - 1)));
  Interruption interruption(true);
  const ParallelLoop loop{.extent = n, .seconds = all, .threads = threads};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    if (!interruption.goes_on(worker)) return false;
    if (begin < end)
      count(begin, end, worker == 0 ? out : &others[static_cast<std::size_t>(bins * (worker - 1))]);
    return interruption.goes_on(worker);
  });
  interruption.end();
  for (std::size_t i = 0; i < others.size(); ++i)
    out[static_cast<std::int64_t>(i) % bins] += others[i];
}

// table[bin(i)] grows for i in [0, n). Neighbours count in tables of their own where those fit into
// the nearest cache: an element would wait for the one before it in the same bin.
template <class F>
void count_in_turn(std::int64_t n, std::int64_t bins, std::int64_t* table, F&& bin) {
  constexpr int kTurns = 4;
  constexpr std::int64_t kMostBins = 1024, kEach = std::int64_t{1} << 31;
  if (bins > kMostBins || n < 4 * kTurns * bins) {
    for (std::int64_t i = 0; i < n; ++i) ++table[bin(i)];
    return;
  }
  std::uint32_t turns[kTurns][kMostBins];
  for (std::int64_t first = 0; first < n; first += kEach) {
    const std::int64_t last = std::min(n, first + kEach);
    for (auto& counts : turns) std::fill(counts, counts + bins, 0);
    std::int64_t i = first;
    for (; i + kTurns <= last; i += kTurns)
      for (int t = 0; t < kTurns; ++t) ++turns[t][bin(i + t)];
    for (; i < last; ++i) ++turns[0][bin(i)];
    for (const auto& counts : turns)
      for (std::int64_t b = 0; b < bins; ++b) table[b] += counts[b];
  }
}

}  // namespace

void count_bins(const std::byte* at, std::int64_t stride, std::int64_t n, std::int64_t* out,
                std::int64_t bins) {
  const auto count = [=](auto step) {
    count_by_threads(n, host_machine().counted, out, bins,
                     [=](std::int64_t begin, std::int64_t end, std::int64_t* table) {
                       count_in_turn(end - begin, bins, table, [=](std::int64_t i) {
                         std::int64_t b;
                         std::memcpy(&b, at + (begin + i) * step, sizeof b);
                         return b;
                       });
                     });
  };
  if (stride == sizeof(std::int64_t))
    count(std::integral_constant<std::int64_t, sizeof(std::int64_t)>{});
  else
    count(stride);
}

void sum_bins(const std::int64_t* at, const double* weights, std::int64_t n, double* out,
              std::int64_t bins) {
  std::fill(out, out + bins, 0.0);
  const auto add = [=](std::int64_t begin, std::int64_t end, double* table) {
    for (std::int64_t i = begin; i < end; ++i) table[at[i]] += weights[i];
  };
  const std::int64_t pieces = scatter_pieces(n, bins);
  if (pieces == 1) {
    add(0, n, out);
    return;
  }
  std::vector<double> tables(static_cast<std::size_t>(bins * pieces));
  split(pieces, host_machine().added * static_cast<double>(n / pieces),
        [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t p = first; p < last; ++p)
            add(n * p / pieces, n * (p + 1) / pieces, &tables[static_cast<std::size_t>(bins * p)]);
        });
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::int64_t b = 0; b < bins; ++b)
      out[b] += tables[static_cast<std::size_t>(bins * p + b)];
}

void count_in_range(const double* values, std::int64_t n, const double* edges, std::int64_t bins,
                    std::int64_t* out) {
  const loops::EqualBins by = loops::equal_bins(edges, bins);
  const loops::CountFn count = loops::count_in_bins(config().tier);
  count_by_threads(n, host_machine().placed, out, bins,
                   [&](std::int64_t begin, std::int64_t end, std::int64_t* table) {
                     count(by, values + begin, end - begin, table);
                   });
}

}  // namespace plait::engine
