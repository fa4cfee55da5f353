// Tiles: what threads that each take an iteration read over and over, in shared memory. A buffer
// that every iteration reads alike (the means of k-means) is copied once a block; the rows of one
// that each iteration reads its own row of (the points) are copied for the block's iterations at a
// time, by neighbouring threads, and padded so that lanes meet no conflicts of banks.
#pragma once
#include "mapping.hpp"

namespace plait::cuda {

inline constexpr std::size_t kMostTiles = 8;  // in a kernel
// Of each buffer: what its loads allow, whatever the extents.
std::vector<Tile> find_tiles(const ir::Kernel& k, const Nest& n);

// Bytes [low, low + bytes) of a buffer, or of a row of it relative to the iteration's place, are
// in shared memory; rows are `pitch` apart there and `stride` in the buffer. No bytes: the extents
// do not suit.
struct TileShape {
  std::int64_t low = 0, bytes = 0, pitch = 0, stride = 0;
};
TileShape shape_of(const ir::Kernel& k, const Nest& n, std::size_t buffer,
                   const std::int64_t* params);
// Bytes of shared memory, with `threads` a block; 0 when some tile does not suit.
std::int64_t tile_bytes(const ir::Kernel& k, const Nest& n, const Mapping& m,
                        const std::int64_t* params, std::int64_t threads);

}  // namespace plait::cuda
