// Elementwise nests that read some operands across the grain (a.T + b). The block takes a tile of
// 32 x 32 iterations; it reads those operands with neighbouring threads along the loop that they
// are contiguous in, puts them into shared memory, and computes with neighbouring threads along the
// innermost loop, which the results are contiguous in.
#pragma once
#include "mapping.hpp"

namespace plait::mapping {

inline constexpr int kTileSide = 32;

// Tiles of a launch.
std::int64_t transposed_count(const ir::Kernel& k, const NestFacts& n, const Extents& e);
// Bytes of shared memory.
std::int64_t transposed_bytes(const ir::Kernel& k, const NestFacts& n);

}  // namespace plait::mapping
