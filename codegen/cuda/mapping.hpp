// How a loop nest is spread over the threads of a grid. The outer loops are flattened into one,
// whose iterations are taken in grid strides, in one of two ways:
//
//  * A thread an iteration: it runs all that stands below by itself. For elementwise work, for
//    nests whose memory is contiguous along the outer loops (sums over columns), whose inner loops
//    are short, which reduce within a reduction, or whose iterations all read the same (k-means).
//  * A team an iteration: 8 or 32 lanes of a warp, or a block, take the iterations of the inner
//    loops side by side and join reductions. For rows: softmax, standardise, row sums. Row buffers,
//    and rows that several loops read, are in shared memory where they fit.
//
// Only speed depends on the choice, never bits: sums follow NumPy's tree in both.
#pragma once
#include <vector>

#include "cuda.hpp"
#include "facts.hpp"

namespace plait::cuda {

enum class Tile : std::uint8_t { None, Whole, Rows };  // tiles.hpp

// A row that several loops load (rows.hpp).
struct KeptRow {
  std::int32_t loop;                                // the first of them
  Val first;                                        // its load
  std::vector<std::pair<std::int32_t, Val>> later;  // the others, and theirs
  DType dtype;
  ir::Coeff count;
  std::int32_t local;  // of the region, in which it can wait; -1 when it needs memory of its own
};

// What does not depend on extents.
struct Nest {
  std::vector<std::int32_t> chain;  // loops that are flattened, outermost first; chain[0] is 0
  std::vector<char> shared;         // of each loop: a team takes its iterations side by side
  std::vector<char> in_thread;      // of each loop: it is shared, or stands in one that is
  bool shareable = false;           // a team has something to share
  bool nested_below = false;        // loops within loops under the chain
  int along_chain = 0;              // accesses below the chain that are contiguous along it ...
  int along_inner = 0;              // ... and along a loop below
  bool own_rows = false;            // an iteration has a row, or part of one, that others have not
  int pack = 1;                     // neighbours that an access can move at most (packs.hpp)
  std::vector<char> packed;         // of each instruction: an access that packs move
  std::vector<Tile> tiles;          // of each buffer: how it may be kept in shared memory
  std::vector<std::int32_t> streams;  // loops that tiles may come in pieces along, outer ones first
  std::int32_t turned_loop = -1;      // the loop that ...
  std::vector<char> turned;           // ... these loads are contiguous along (turns.hpp)
  std::vector<KeptRow> kept;          // what a team may keep of its row
  bool computed_index = false;        // an address depends on a value that no extent bounds
};
Nest analyse_nest(const ir::Kernel& k);

struct Mapping {
  bool wide = false;           // 64-bit indices
  int team = 1;                // threads that share an iteration: 1, 8, 32 or a block's
  int pack = 1;                // elements a thread takes at once
  bool turned = false;         // some operands are read across the grain, through shared memory
  bool whole_tiles = false;    // what all threads read alike is in shared memory
  bool row_tiles = false;      // so are the rows that each thread reads one of
  int row_threads = 128;       // of a block that has row tiles
  std::int32_t streamed = -1;  // the loop along which tiles come in pieces
  bool rows_shared = false;    // the team's locals are in shared memory, else in global scratch
  bool keeps_rows = false;     // so are the rows that several loops read
  bool operator==(const Mapping&) const = default;
  bool uses_shared_memory() const { return team > 1 || whole_tiles || row_tiles || turned; }
  // All threads of a block take every iteration together, those beyond the end too.
  bool in_step() const { return row_tiles || streamed >= 0; }
  int threads() const { return team > 32 ? team : row_tiles ? row_threads : 256; }  // of a block
};
// Shared memory of each of several blocks on a multiprocessor, which has a KiB more than one block
// may ask for, and keeps one a block for itself.
inline std::int64_t shared_bytes(const Target& t, int blocks) {
  return (t.shared_bytes + 1024) / blocks - 1024;
}
// For these extents. Extents of a kind give one mapping, so that a new shape rarely compiles.
Mapping choose(const ir::Kernel& k, const Nest& n, const Target& t, const Extents& e);

// Where a local lives.
enum class Home : std::uint8_t {
  Registers,  // a short array of each thread
  Team,       // one a team
  Thread,     // one a thread, in global scratch: elements of neighbouring threads lie side by side
};
Home home_of(const ir::Local& l, const Nest& n, const Mapping& m);
// Bytes of one of a team's locals, and of all of them: a multiple of 16.
std::int64_t row_bytes(const ir::Local& l, const std::int64_t* params);
std::int64_t team_bytes(const ir::Kernel& k, const Nest& n, const Mapping& m,
                        const std::int64_t* params);
// Bytes of shared memory that a team exchanges values in.
int exchange_bytes(const ir::Kernel& k, const Mapping& m);

// Whether some index, loop count or byte offset may pass 31 bits.
bool needs_wide(const ir::Kernel& k, const Nest& n, const Extents& e);
// Iterations of a loop, for the extents of a call; -1 when they are known on the device only.
std::int64_t trips(const ir::Kernel& k, std::int32_t loop, const Extents& e);
// Iterations of the flattened loop.
std::int64_t iterations(const ir::Kernel& k, const Nest& n, const Extents& e);

bool is_tree(const ir::Kernel& k, const ir::Reduction& r);  // a float sum in NumPy's order
bool is_arg(const ir::Reduction& r);
// A loop of sums in NumPy's order that has a copy of its body for each accumulator; others are
// larger, or sum real and complex numbers side by side.
bool is_light_sum(const ir::Kernel& k, std::int32_t loop);
int body_size(const ir::Kernel& k, std::int32_t loop);  // about how many instructions
// What a fold keeps of its values: float16 sums and comparisons happen in float32.
DType kept_type(const ir::Reduction& r, DType t);

}  // namespace plait::cuda
