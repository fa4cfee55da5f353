// What a machine does in how long, in seconds: the table that planning, predictions and thresholds
// read, of the host or of a device. Rough figures of one thread, or of a device as a whole; what
// matters is how they stand to each other. No result's bits follow from them: what they depend on
// is decided by extents alone.
#pragma once
#include <cstdint>
#include <limits>

#include "dtype.hpp"
#include "op_table.hpp"

namespace plait {

// Memory that data of at most so many bytes stays in, and the seconds of a byte of it.
struct MemoryLevel {
  std::int64_t bytes;
  double byte;
};

// Of an operation of one of these costs.
struct CostOf {
  double cheap, medium, expensive;
  double operator()(Cost c) const {
    return c == Cost::Cheap ? cheap : c == Cost::Medium ? medium : expensive;
  }
};

// Of a multiplication and addition of a product of matrices, or a rate of them: of Float16, and of
// Float32; wider types cost by their size.
struct ProductCosts {
  double half, single;
};

// What the loops of machine code take, for one register of lanes or one scalar: in clock cycles of
// a recent x86 core, rough; passes/vectorize.cpp holds them against each other and nothing else.
struct CodeCosts {
  CostOf apply = {1, 10, 20};
  double access = 1, store = 1.5, scatter = 2.5;  // memory that lies as the lanes do
  double strided = 2.5;                           // times that: elements up to four apart
  double lane_apart = 1.5, lane_scattered = 2;    // a lane of elements further apart
  double other = 0.5;                             // an instruction without memory; scratch
  double loop = 4, tail = 2;  // to enter a loop; its last lanes, where some are left over
  double folded = 1;          // of a fold in each iteration
  double fold_lanes = 12;     // the lanes of a fold to one value
  double fold_wait = 4;       // of an iteration for the one before; likewise for an
  double arg_wait = 8;        // arg-reduction, which compares and selects
  double take_lane = 1;       // out of one register into another
};

// What a tile of the interpreter takes, in seconds, rough: passes/tile.cpp holds them against each
// other.
struct InterpreterCosts {
  double instruction = 10e-9, fold = 15e-9, loop = 20e-9;  // whatever the tile
  CostOf apply = {0.15e-9, 0.7e-9, 3e-9};                  // an element
  double element = 0.1e-9;                                 // of any other instruction
  // An element of a load or store that is not contiguous: within a cache line, beyond, and where a
  // tile's lines fall into few of the cache's sets.
  double copied = 0.8e-9, far = 1.6e-9, aliased = 4e-9;
  // An element that is folded: in any order, in NumPy's tree, by an arg-reduction, in order.
  double folded = 0.15e-9, tree = 0.4e-9, arg = 0.8e-9, ordered = 1.3e-9;
  // Where the rows of a tile lie apart: each row, and each element, of a load or store.
  double row = 4e-9, moved = 0.1e-9;
};

struct Machine {
  // The nearest first; the last one has no end.
  MemoryLevel memory[3] = {
      {1 << 20, 0.03e-9}, {std::int64_t{32} << 20, 0.05e-9}, {INT64_MAX, 0.08e-9}};
  // Of a unit of the operations' Cost, for an element, in a loop over vectors; times `interpreted`
  // (all of a region) in the interpreter.
  double cycle = 0.08e-9, interpreted = 2;
  // Of an element that later loops read from memory instead of computing it: its store, and each
  // of its loads, in cycles; what takes no more cycles than that is always computed again.
  double store = 4, load = 1.5, recompute = 4;
  // Of a multiplication and addition: in tiles, of one product, of one whose rows are folded in the
  // block that computes them, of one of several axes, and of those of an attention with what stands
  // between them; by a BLAS; in a loop, of any type.
  ProductCosts tile_product = {8e-12, 8e-12}, rows_product = tile_product,
               axes_product = tile_product, attention_product = tile_product,
               blas_product = {std::numeric_limits<double>::infinity(), 12e-12};
  double loop_product = 0.4e-9;
  // Times that in tiles, of as many bytes of sums in Float32: of integers of a byte, and of others.
  double product_of_bytes = 0.3, product_of_integers = 2;
  // A step of a fold in order: alone, and of one of several that are taken side by side.
  double ordered = 1.2e-9, side_by_side = 0.4e-9;
  double block = 20e-9;  // of a block of a product in a region, beyond its multiplications
  int tile_lanes = 16;   // of Float32: a tile of a single column uses one of them
  // The largest value that a plan puts in memory only because that is faster.
  double most_stored = std::numeric_limits<double>::infinity();

  // Of an element that an index names, out of what lies in the nearest memory and of anything
  // larger.
  double near_element = 0.5e-9, far_element = 2e-9;

  // Of an element that another index of a scatter by itself writes, likewise.
  double near_write = 2e-9, far_write = 20e-9;

  // Of an element in an operation by itself: an index that is checked, one that is cut into its
  // coordinates (for each), one that is counted, a value that is placed between edges, and one that
  // is added to what an index names.
  double checked = 0.5e-9, divided = 5e-9, counted = 1e-9, placed = 1e-9, added = 1.5e-9;

  // Of an operation by itself, whatever its size.
  double operation = 0.25e-6;
  // A team: asking a helper that spins, and one that sleeps, and the end of a loop; how long one
  // that sleeps takes to come; the shortest loop that is worth looking for help.
  double ask_awake = 0.3e-6, ask_asleep = 2e-6, join = 1.5e-6, wake = 8e-6, least_shared = 10e-6;
  // Planning of a node and what its kernels need before they run; compiling a kernel, and the first
  // one, which loads the compiler.
  double plan_node = 30e-6, compile = 0.5e-3, first_compile = 4e-3;

  CodeCosts code;
  InterpreterCosts interpreter;
};

// Threads of a GPU that take an iteration together: lanes of a warp, or a block. In seconds.
struct GpuTeam {
  int threads;
  double element;  // of an element: the shorter the runs of memory that are read side by side, the
                   // more
  double wait;     // from the last element to the joined result
  double join;     // of all its threads together, which others wait for meanwhile
};

// Multiplications and additions of matrix products, of those that all lanes could do, one a cycle
// each: by cuBLASLt, and by regions as Machine has them. Measured on an H100 and an H200, whose
// cores are the same, but for two: cuBLASLt in float16 and a region's product in float16 are rough.
struct GpuProducts {
  ProductCosts library = {6, 0.77};
  ProductCosts tiles = {0.47, 0.47};
  ProductCosts rows = {0.08, 0.08};  // which fill the shared memory: one block of a multiprocessor
  ProductCosts axes = {0.19, 0.19};
  ProductCosts attention = {0.27, 0.19};
};

// A GPU. Seconds of a thread, from `element` on, were not measured: what matters is how many times
// one is another, which says from which extents on one way of spreading a kernel over threads is
// taken instead of another.
struct GpuMachine {
  int arch = 90;  // compute capability: 80 is 8.0, 90 is 9.0, 100 is 10.0
  // Published figures: cycles a second, bytes of the cache that all share, bytes a second of
  // memory. Of the last a copy has `copied`, measured.
  double clock = 1.755e9;
  std::int64_t cache_bytes = 50 << 20;
  double memory_rate = 3.35e12, copied = 0.9;
  GpuProducts products;
  double most_stored = 4e9;  // bytes, as in Machine
  int multiprocessors = 132;
  int shared_bytes = 227 * 1024;  // of a block, at most
  int threads = 2048;             // of a multiprocessor, at most
  int busy = 512;                 // of a multiprocessor: so many hide what memory takes
  int local_elements = 32;        // of a thread's own, that registers hold
  // Seconds of a thread for an element that lies beside its neighbours', while not more threads
  // than those are there.
  double element = 20e-9;
  // Where rows are plenty, those of 128, 1024 and 32768 elements are the longest of each team but
  // the last; where they are few, those of 256 and 8192.
  GpuTeam teams[4] = {{8, 29.076e-9, 12e-9, 96e-9},
                      {32, 24.842e-9, 20e-9, 640e-9},
                      {256, 20.468e-9, 198.6e-9, 5.12e-6},
                      {1024, 20e-9, 693.6e-9, 20.48e-6}};
  // An element that lies apart from those of the neighbouring threads: in memory, and where each
  // thread walks over a row of its own, whose lines it finds in the cache again.
  double apart = 160e-9, own_row = 44e-9;
  // An element that is copied to shared memory, one that is read there, and the threads of a block
  // waiting for each other.
  double copy = 40e-9, shared = 2.5e-9, barrier = 40e-9;
  // An element of several that one access moves.
  double packed = 18.82e-9;
  double unshared_row =
      20e-9;  // more of an element, where a row that is read again has no place there
};

// An AVX-512 core with usual caches: what tests plan for where no other table is named.
inline constexpr Machine kMachine{};
// This one, with the sizes of its caches, at the tier that the process may use; or the table that
// the configuration names.
const Machine& host_machine();
// The table that plans for a device are made by.
Machine device_machine(const GpuMachine& g);

}  // namespace plait
