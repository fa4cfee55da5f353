#include "bins.hpp"

#include <cmath>

namespace plait::loops {

#define PLAIT_DECLARE(tier) \
  namespace tier {          \
  CountFn count_in_bins();  \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

CountFn count_in_bins(CpuTier tier) { PLAIT_AT_TIER(tier, count_in_bins()); }

EqualBins equal_bins(const double* edges, std::int64_t bins) {
  const double scale = static_cast<double>(bins) / (edges[bins] - edges[0]);
  double off = 0;
  for (std::int64_t b = 0; b <= bins; ++b) {
    const double share = (edges[b] - edges[0]) * scale;
    const double distance = std::abs(share - static_cast<double>(b));
    if (!(distance <= off)) off = distance < 1 ? distance : 1;  // NaN: sure of nothing
  }
  return {edges, bins, scale, off + 0x1p-50};  // more than the rounding of what it is compared with
}

}  // namespace plait::loops
