// How a loop nest is spread over the threads of a GPU. The outer loops are flattened into one,
// whose iterations are taken in grid strides, in one of two ways:
//
//  * A thread an iteration: it runs all that stands below by itself. For elementwise work, for
//    nests whose memory is contiguous along the outer loops (sums over columns), whose inner loops
//    are short, which reduce within a reduction, or whose iterations all read the same (k-means).
//  * A team an iteration: 8 or 32 lanes of a warp, or a block, take the iterations of the inner
//    loops side by side and join reductions. For rows: softmax, standardise, row sums. Row buffers,
//    and rows that several loops read, are in shared memory where they fit.
//
// What does not depend on extents is found once a kernel (NestFacts). For the extents of a launch
// rules offer mappings, each with the seconds that the machine's table gives for it, and the
// cheapest is taken (rule.hpp). Only speed depends on the choice, never bits: sums follow NumPy's
// tree in all.
#pragma once
#include <string>
#include <vector>

#include "core/machine.hpp"
#include "facts.hpp"

namespace plait::mapping {

// The numbers of one call of a kernel.
struct Extents {
  const std::int64_t* params;  // of the kernel, as in ir::CallArgs
  std::int64_t grid;           // iterations of the grid loop (in chunks: chunks)
  std::int64_t split = 0;      // in chunks: extent of the axis that is cut into chunks
};

enum class Tile : std::uint8_t { None, Whole, Rows };  // tiles.hpp

// What does not depend on extents.
struct NestFacts {
  std::vector<std::int32_t> chain;  // loops that are flattened, outermost first; chain[0] is 0
  std::vector<char> shared;         // of each loop: a team takes its iterations side by side
  std::vector<char> in_thread;      // of each loop: it is shared, or stands in one that is
  std::vector<char> over_warps;     // of each loop: warps of the block take its iterations
  bool shareable = false;           // a team has something to share
  bool scans = false;               // a team scans in warps
  bool grouped = false;       // it scans in groups of 32 iterations, which a warp at least takes
  bool multiplies = false;    // it has fragments: a block an iteration, in phases
  bool nested_below = false;  // loops within loops under the chain
  int along_chain = 0;        // accesses below the chain that are contiguous along it ...
  int along_inner = 0;        // ... and along a loop below
  bool own_rows = false;      // an iteration has a row, or part of one, that others have not
  int pack = 1;               // neighbours that an access can move at most (packs.hpp)
  std::vector<char> packed;   // of each instruction: an access that packs move
  std::vector<Tile> tiles;    // of each buffer: how it may be kept in shared memory
  std::vector<std::int32_t> streams;  // loops that tiles may come in pieces along, outer ones first
  std::int32_t transposed_loop = -1;  // the loop that ...
  std::vector<char> transposed;       // ... these loads are contiguous along (transposed.hpp)
  std::vector<ir::Row> kept;          // rows that several loops read, which a team may keep
  bool computed_index = false;        // an address depends on an index from memory
};
NestFacts analyse_nest(const ir::Kernel& k);

struct Mapping {
  bool wide = false;             // 64-bit indices
  int team = 1;                  // threads that share an iteration: 1, 8, 32 or a block's
  int pack = 1;                  // elements a thread takes at once
  bool transposed = false;       // some operands are read across the grain, through shared memory
  bool whole_tiles = false;      // what all threads read alike is in shared memory
  bool row_tiles = false;        // so are the rows that each thread reads one of
  int row_threads = 128;         // of a block that has row tiles
  std::int32_t streamed = -1;    // the loop along which tiles come in pieces
  bool rows_shared = false;      // the team's locals are in shared memory, else in global scratch
  bool keeps_rows = false;       // so are the rows that several loops read
  std::uint64_t in_scratch = 0;  // a bit each: locals of the team that are in scratch nonetheless
  int resident = 1;              // blocks a multiprocessor, at least
  int tile = 0;                  // elements of a product that a thread sums at a time, at most
  bool operator==(const Mapping&) const = default;
  bool uses_shared_memory() const { return team > 1 || whole_tiles || row_tiles || transposed; }
  // All threads of a block take every iteration together, those beyond the end too.
  bool in_step() const { return row_tiles || streamed >= 0; }
  int threads() const { return team > 32 ? team : row_tiles ? row_threads : 256; }  // of a block
};
// "teams of 32 threads, rows in shared memory".
std::string to_string(const Mapping& m);

// Of a block that multiplies fragments.
inline constexpr int kBlockThreads = 256;

struct CostedMapping {
  Mapping mapping;
  double seconds;
};
// For these extents: the cheapest first, the others as they were offered. Extents of a kind give
// one mapping, so that a new shape rarely compiles.
std::vector<CostedMapping> mappings(const ir::Kernel& k, const NestFacts& n, const GpuMachine& gpu,
                                    const Extents& e);
Mapping choose(const ir::Kernel& k, const NestFacts& n, const GpuMachine& gpu, const Extents& e);

// Shared memory of each of several blocks on a multiprocessor, which has a KiB more than one block
// may ask for, and keeps one a block for itself.
inline std::int64_t shared_bytes(const GpuMachine& gpu, int blocks) {
  return (gpu.shared_bytes + 1024) / blocks - 1024;
}

// Where a local lies under a mapping. Register: a short array of each thread. Shared, Global: one a
// team, in shared memory or in global scratch. Cache: one a thread, in global scratch.
ir::Space space_of(const ir::Kernel& k, std::size_t local, const NestFacts& n, const Mapping& m);
// The kernel as the mapping runs it, with its facts: rows that a team keeps are locals, no loop is
// of the lanes of vectors, every loop says who takes it and every local where it lies, and a team
// has barriers.
void apply(ir::Kernel& k, NestFacts& n, const Mapping& m);
// Bytes of one of a team's locals: a multiple of 16.
std::int64_t row_bytes(const ir::Local& l, const std::int64_t* params);
// Of all that a mapping would have in shared memory, with the rows that a team keeps.
std::int64_t team_bytes(const ir::Kernel& k, const NestFacts& n, const Mapping& m,
                        const std::int64_t* params);
// Leaves the largest locals of a team in scratch, so that the others fit so many bytes.
void keep_within(const ir::Kernel& k, const NestFacts& n, Mapping& m, std::int64_t bytes,
                 const std::int64_t* params);
// Bytes of shared memory that a team exchanges values in.
int exchange_bytes(const ir::Kernel& k, const Mapping& m);

// Elements of a product's block for each thread: 16, 32, or 64 if there are more.
int largest_tile(const ir::Kernel& k, const Extents& e);
// Whether some index, loop count or byte offset may pass 31 bits.
bool needs_wide(const ir::Kernel& k, const NestFacts& n, const Extents& e);
// Iterations of a loop, for the extents of a call; -1 when they are known on the device only.
std::int64_t trips(const ir::Kernel& k, std::int32_t loop, const Extents& e);
// Iterations of the flattened loop.
std::int64_t iterations(const ir::Kernel& k, const NestFacts& n, const Extents& e);

}  // namespace plait::mapping
