// The share of an element gives its bin, and then NumPy looks at the edges. That is left out where
// it cannot change anything: the share never falls as the element grows, so one that is further
// from whole numbers than that of any edge lies between the same two edges.
#include "codegen/loops/bins.hpp"

#include <cstring>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

void count_by_edges(const EqualBins& by, double v, std::int64_t* counts) {
  const double first = by.edges[0], last = by.edges[by.bins];
  if (!(v >= first && v <= last)) return;
  auto b = static_cast<std::int64_t>((v - first) / (last - first) * static_cast<double>(by.bins));
  b -= b == by.bins;
  b -= v < by.edges[b];
  b += v >= by.edges[b + 1] && b != by.bins - 1;
  ++counts[b];
}

// Neighbours count in tables of their own where those fit into the nearest cache: an element would
// wait for the one before it in the same bin.
constexpr int kTurns = 4;
constexpr std::int64_t kMostBins = 1024, kBlock = 64;

// blocks(bin, values) for blocks of values and, as numbers, their bins and parts of one; -1: not
// sure. Gives how many values are left.
template <class F>
std::int64_t in_blocks(const EqualBins& by, const double* values, std::int64_t n, F&& blocks) {
  const double first = by.edges[0];
  const auto end = static_cast<double>(by.bins);
  alignas(kVectorBytes) double bin[kBlock];
  for (; n >= kBlock; n -= kBlock, values += kBlock) {
    for (std::int64_t i = 0; i < kBlock; i += kLanes) {
      vd v;
      std::memcpy(&v, values + i, sizeof v);
      const vd share = (v - first) * by.scale;
      const vd from_whole = share - rounded(share + kRounder).value;
      const vl sure = (abs(from_whole) > by.margin) & (share > 0) & (share < end);
      const vd known = select(sure, share, splat(-1.0));
      std::memcpy(bin + i, &known, sizeof known);
    }
    blocks(bin, values);
  }
  return n;
}

void count(const EqualBins& by, const double* values, std::int64_t n, std::int64_t* counts) {
  std::int64_t left;
  if (by.bins > kMostBins || n < 4 * kTurns * by.bins || n >> 31 != 0) {
    left = in_blocks(by, values, n, [&](const double* bin, const double* v) {
      for (std::int64_t i = 0; i < kBlock; ++i)
        if (const auto b = static_cast<std::int64_t>(bin[i]); b >= 0)
          ++counts[b];
        else
          count_by_edges(by, v[i], counts);
    });
  } else {
    std::uint32_t turns[kTurns][kMostBins];
    for (auto& turn : turns) std::memset(turn, 0, static_cast<std::size_t>(by.bins) * sizeof *turn);
    left = in_blocks(by, values, n, [&](const double* bin, const double* v) {
      for (std::int64_t i = 0; i < kBlock; i += kTurns)
        for (int t = 0; t < kTurns; ++t)
          if (const auto b = static_cast<std::int32_t>(bin[i + t]); b >= 0)
            ++turns[t][b];
          else
            count_by_edges(by, v[i + t], counts);
    });
    for (const auto& turn : turns)
      for (std::int64_t b = 0; b < by.bins; ++b) counts[b] += turn[b];
  }
  for (std::int64_t i = n - left; i < n; ++i) count_by_edges(by, values[i], counts);
}

}  // namespace

CountFn count_in_bins() { return count; }

}  // namespace plait::loops::PLAIT_TIER
