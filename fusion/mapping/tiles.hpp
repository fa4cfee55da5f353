// Tiles: what threads that each take an iteration read over and over, in shared memory. A buffer
// that every iteration reads alike (the means of k-means) is copied once a block; the rows of one
// that each iteration reads its own row of (the points) are copied for the block's iterations at a
// time, by neighbouring threads, and padded so that lanes meet no conflicts of banks.
//
// Tiles that do not fit come in pieces along one loop: some means at a time, or, where even a row
// is too long, some elements of it. The threads of a block go through the pieces in step, and keep
// what they fold in registers. Pieces along a sum in NumPy's order end where its subtrees do.
#pragma once
#include "mapping.hpp"

namespace plait::mapping {

inline constexpr std::size_t kMostTiles = 8;  // in a kernel
// Of each buffer: what its loads allow, whatever the extents.
std::vector<Tile> find_tiles(const ir::Kernel& k, const NestFacts& n);
// Loops along which all tiles that move with them can come in pieces, outer loops first.
std::vector<std::int32_t> find_streams(const ir::Kernel& k, const NestFacts& n);

std::vector<Val> loads_of(const ir::Kernel& k, std::size_t buffer);
// The first load of a buffer that comes in pieces; kNone when it does not.
Val piece_load(const ir::Kernel& k, const NestFacts& n, const Mapping& m, std::size_t buffer);
// Of a piece of what all threads read alike, whose iterations lie side by side: the loop that goes
// from one row of it to the next, as along D where means are stored (D, K). -1 where each iteration
// of the streamed loop has a row of its own.
std::int32_t piece_rows(const ir::Kernel& k, const Mapping& m, Val load);
// Loop l and those under it.
std::vector<char> loops_under(const ir::Kernel& k, std::int32_t l);

// Bytes [low, low + bytes) of a buffer, or of a row of it relative to the iteration's place, are
// in shared memory; rows are `pitch` apart there and `stride` in the buffer. No bytes: the extents
// do not suit. A piece of what all threads read alike has a row for each iteration of the streamed
// loop, or an element of each row or for each of several loads; one of what each thread has its row
// of is that many elements of each. `bytes` are those of an iteration where all threads read it.
struct TileShape {
  std::int64_t low = 0, bytes = 0, pitch = 0, stride = 0;
};
// What a launch takes to shared memory. No bytes in all: some tile does not suit.
struct Tiles {
  std::vector<TileShape> shapes;  // of each buffer
  std::vector<std::int64_t> at;   // where each begins
  std::int64_t bytes = 0;
  std::int64_t piece = 0;  // iterations of the streamed loop
};
Tiles lay_out_tiles(const ir::Kernel& k, const NestFacts& n, const Mapping& m,
                    const GpuMachine& gpu, const std::int64_t* params, std::int64_t threads);

}  // namespace plait::mapping
