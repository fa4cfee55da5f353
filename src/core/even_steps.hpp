// Sequences that are made of even steps, as nested loops over an address make them.
#pragma once
#include <optional>

#include "dims.hpp"

namespace plait {

// The extents of such loops, slowest first; nothing where there are none, or too many.
// alike(n, stride): element n is as far from element n - stride as element `stride` from the first.
// Sequences that are not so are left at the first elements that show it.
template <class Alike>
std::optional<Dims> even_extents(std::int64_t count, Alike&& alike) {
  constexpr int kMostLoops = 8;
  Dims extents;
  for (std::int64_t stride = 1; stride < count; stride *= extents[0]) {
    std::int64_t run = 2;
    while (run * stride < count && alike(run * stride, stride)) ++run;
    if (count / stride % run != 0 || extents.size() == kMostLoops) return std::nullopt;
    for (std::int64_t from = run * stride; from < count; from += run * stride)
      for (std::int64_t n = 1; n < run; ++n)
        if (!alike(from + n * stride, stride)) return std::nullopt;
    extents.insert(0, run);
  }
  return extents;
}

}  // namespace plait
