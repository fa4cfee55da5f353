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

void count(const EqualBins& by, const double* values, std::int64_t n, std::int64_t* counts) {
  constexpr std::int64_t kBlock = 64;
  const double first = by.edges[0], width = by.edges[by.bins] - first;
  const auto scale = static_cast<double>(by.bins);
  alignas(kVectorBytes) double bin[kBlock];  // and a part of one; -1: not sure
  for (; n >= kBlock; n -= kBlock, values += kBlock) {
    for (std::int64_t i = 0; i < kBlock; i += kLanes) {
      vd v;
      std::memcpy(&v, values + i, sizeof v);
      const vd share = (v - first) / width * scale;
      const vd from_whole = share - rounded(share + kRounder).value;
      const vl sure = (abs(from_whole) > by.margin) & (share > 0) & (share < scale);
      const vd known = select(sure, share, splat(-1.0));
      std::memcpy(bin + i, &known, sizeof known);
    }
    for (std::int64_t i = 0; i < kBlock; ++i)
      if (const auto b = static_cast<std::int64_t>(bin[i]); b >= 0)
        ++counts[b];
      else
        count_by_edges(by, values[i], counts);
  }
  for (std::int64_t i = 0; i < n; ++i) count_by_edges(by, values[i], counts);
}

}  // namespace

CountFn count_in_bins() { return count; }

}  // namespace plait::loops::PLAIT_TIER
