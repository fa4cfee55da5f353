// Elements that are counted by bins of equal width.
#pragma once
#include <cstdint>

#include "core/config.hpp"

namespace plait::loops {

// Bin b is [edges[b], edges[b + 1]), the last one with its upper edge. An element's distance from
// the first edge, times `scale`, is within `margin` of b at edges[b].
struct EqualBins {
  const double* edges;
  std::int64_t bins;
  double scale;
  double margin;
};
EqualBins equal_bins(const double* edges, std::int64_t bins);

// counts[b] grows by the values in bin b. What lies outside, and NaN, is in none.
using CountFn = void (*)(const EqualBins& by, const double* values, std::int64_t n,
                         std::int64_t* counts);
CountFn count_in_bins(CpuTier tier);

}  // namespace plait::loops
