#include "bins.hpp"

#include <cmath>

namespace plait::loops {

namespace baseline {
CountFn count_in_bins();
}
namespace avx2 {
CountFn count_in_bins();
}
namespace avx512 {
CountFn count_in_bins();
}

CountFn count_in_bins(CpuTier tier) {
  switch (tier) {
    case CpuTier::Avx512:
      return avx512::count_in_bins();
    case CpuTier::Avx2:
      return avx2::count_in_bins();
    default:
      return baseline::count_in_bins();
  }
}

EqualBins equal_bins(const double* edges, std::int64_t bins) {
  const auto scale = static_cast<double>(bins);
  double off = 0;
  for (std::int64_t b = 0; b <= bins; ++b) {
    const double share = (edges[b] - edges[0]) / (edges[bins] - edges[0]) * scale;
    const double distance = std::abs(share - static_cast<double>(b));
    if (!(distance <= off)) off = distance < 1 ? distance : 1;  // NaN: sure of nothing
  }
  return {edges, bins, off + 0x1p-50};  // more than the roundings of what it is compared with
}

}  // namespace plait::loops
