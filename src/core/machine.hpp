// What a machine does in how long: the table that planning, predictions and thresholds read. Rough
// figures of one thread; what matters is how they stand to each other.
#pragma once
#include <cstdint>

#include "dtype.hpp"

namespace plait {

// Memory that data of at most so many bytes stays in, and the seconds of a byte of it.
struct MemoryLevel {
  std::int64_t bytes;
  double byte;
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
  // Of a multiplication and addition: of Float32 in a tile and by a BLAS (wider types cost by their
  // size), of any other type in a loop.
  double tile_product = 8e-12, blas_product = 12e-12, loop_product = 0.4e-9;
  // A step of a fold in order: alone, and of one of several that are taken side by side.
  double ordered = 1.2e-9, abreast = 0.4e-9;
  double block = 20e-9;  // of a block of a product in a region, beyond its multiplications
  int tile_lanes = 16;   // of Float32: a tile of a single column uses one of them

  // Of an element that an index names, out of what lies in the nearest memory and of anything
  // larger.
  double near_element = 0.5e-9, far_element = 2e-9;

  // Of an element that another index of a scatter by itself writes, likewise.
  double near_write = 2e-9, far_write = 20e-9;

  // Of an operation by itself, whatever its size.
  double operation = 0.25e-6;
  // A team: asking a helper that spins, and one that sleeps, and the end of a loop; how long one
  // that sleeps takes to come; the shortest loop that is worth looking for help.
  double ask_awake = 0.3e-6, ask_asleep = 2e-6, join = 1.5e-6, wake = 8e-6, least_shared = 10e-6;
  // Planning of a node and what its kernels need before they run; compiling a kernel, and the first
  // one, which loads the compiler.
  double plan_node = 30e-6, compile = 0.5e-3, first_compile = 4e-3;
};

// Threads of a GPU that take an iteration together: lanes of a warp, or a block. In steps.
struct GpuTeam {
  int threads;
  double element;  // of an element: the shorter the runs of memory that are read side by side, the
                   // more
  double wait;     // from the last element to the joined result
  double join;     // of all its threads together, which others wait for meanwhile
};

// A GPU. What a kernel takes is counted in steps: an element of a thread that finds its neighbours'
// memory beside its own. No figure was measured: they say from which extents on one way of
// spreading a kernel over threads is taken instead of another.
struct GpuMachine {
  int arch = 90;  // compute capability: 80 is 8.0, 90 is 9.0, 100 is 10.0
  int multiprocessors = 132;
  int shared_bytes = 227 * 1024;  // of a block, at most
  int threads = 2048;             // of a multiprocessor, at most
  int busy = 512;                 // of a multiprocessor: so many hide what memory takes
  int local_elements = 32;        // of a thread's own, that registers hold
  double step = 20e-9;            // seconds, while not more threads than those are there
  // Where rows are plenty, those of 128, 1024 and 32768 elements are the longest of each team but
  // the last; where they are few, those of 256 and 8192.
  GpuTeam teams[4] = {
      {8, 1.4538, 0.6, 4.8}, {32, 1.2421, 1, 32}, {256, 1.0234, 9.93, 256}, {1024, 1, 34.68, 1024}};
  // An element that lies apart from those of the neighbouring threads: in memory, and where each
  // thread walks over a row of its own, whose lines it finds in the cache again.
  double apart = 8, own_row = 2.2;
  // An element that is copied to shared memory, one that is read there, and the threads of a block
  // waiting for each other.
  double copy = 2, shared = 0.125, barrier = 2;
  // An element of several that one access moves.
  double packed = 0.941;
  double unshared_row = 1;  // more of an element, where a row that is read again has no place there
};

inline constexpr Machine kMachine{};
// This one, with the sizes of its caches, at the tier that the process may use.
const Machine& host_machine();

}  // namespace plait
