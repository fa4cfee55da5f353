// Histograms, table look-up and convolution in one dimension.
#pragma once
#include <optional>

#include "tracer/array.hpp"

namespace plait::numpy {

using tracer::Array;

struct Range {
  double low, high;
};
struct Histogram {
  Array counts, edges;
};
// The edges of equal bins from the least to the greatest element, or over `range`. Evaluates those.
Array bin_edges(const Array& a, std::int64_t bins, const std::optional<Range>& range = {});
// Counts in equal bins from the least to the greatest element, or over `range`, and the edges.
// Evaluates the array.
Histogram histogram(const Array& a, std::int64_t bins, const std::optional<Range>& range = {});
// Counts between edges that ascend; the last bin has its right edge.
Array histogram_between(const Array& a, const Array& edges);

// Which bin each element is in: bins[i - 1] <= x < bins[i], or with the equality at the other end
// when `right`; bins ascend or descend.
Array digitize(const Array& x, const Array& bins, bool right = false);
// The function that is linear between points (xp, fp), xp ascending, and constant outside.
Array interp(const Array& x, const Array& xp, const Array& fp);
enum class Convolution : std::uint8_t { Full, Same, Valid };
Array convolve(const Array& a, const Array& v, Convolution mode = Convolution::Full);

}  // namespace plait::numpy
