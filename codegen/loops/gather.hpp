// The gather of the loop IR on memory: what the interpreter runs over a tile, and the engine over a
// whole array.
#pragma once
#include <cstdint>

namespace plait::loops {

// Where elements are gathered from: element i is at base + i * lane_stride + index[i] * stride.
struct Gather {
  const void* base;
  std::int64_t lane_stride;  // bytes, as all strides
  std::int64_t stride;       // from one index to the next
  const void* index;         // int64
  std::int64_t index_stride;
};
// out[i] = element i, for i < n, of 1, 2, 4, 8 or 16 bytes. `out` may be the indices' memory,
// element by element.
void gather(void* out, std::int64_t out_stride, const Gather& g, std::int64_t n, int itemsize);

}  // namespace plait::loops
