// Which shapes arrays may have: NumPy's limits, in NumPy's words. Whoever forms a shape asks here.
// Of a shape that has passed, element_count(), byte counts and dense strides do not overflow.
#pragma once
#include "dims.hpp"

namespace plait {

// Throws ValueError for a shape that no array has: more than kMaxDims axes, a negative extent, or
// more bytes than int64 counts, where an extent of 0 counts as 1.
void check_shape(const Dims& shape, std::int64_t itemsize);

// Product of the extents, -1 where int64 does not hold it. A 0 ends it: what follows may be
// anything.
std::int64_t checked_element_count(const Dims& shape);

// Throws ValueError for a broadcast shape with more elements than checked_element_count() counts.
void check_iteration(const Dims& shape);

// The extents of axes that are joined or repeated; throw ValueError where int64 does not hold them.
std::int64_t joined_extent(std::int64_t a, std::int64_t b);
std::int64_t repeated_extent(std::int64_t extent, std::int64_t times);

}  // namespace plait
