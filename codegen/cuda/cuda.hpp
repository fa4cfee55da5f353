// The CUDA backend's generator: loop IR -> CUDA C++ that a person can read -> NVRTC -> a cubin.
// Nothing here needs a GPU, a driver or a toolkit header; the launch itself stands in
// src/engine/cuda.
//
// Bits: a kernel gives the same bits whatever its launch shape, and sums follow ir::Order, so they
// are the CPU's. Functions such as exp and sin are CUDA's (1 to 2 ULP in double, up to 4 in float).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fusion/mapping/mapping.hpp"
#include "ir/iterations.hpp"

namespace plait::cuda {

using Target = GpuMachine;
using mapping::Extents;

struct Launch {
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::size_t shared_bytes = 0;   // dynamic shared memory of a block
  std::size_t scratch_bytes = 0;  // global memory that pack_arguments wants; usually 0
};

// Source text and how the nest is spread over threads. Immutable, shared by threads.
class Program;
const std::string& source(const Program& p);
const std::string& entry(const Program& p);  // the one __global__ function, extern "C"

// True when the generator knows everything in the kernel; otherwise *why says what it lacks.
bool supports(const ir::Kernel& k, std::string* why);
// Pure; the text is deterministic. Extents decide how wide indices are and how threads share the
// loops: a program serves others of their kind, and kinds are few.
std::shared_ptr<const Program> generate(const ir::Kernel& k, const Target& t, const Extents& e);
// Of a sequential kernel: a thread runs an iteration. One program for all extents, whose grid is
// how many iterations there are.
bool supports(const ir::Kernel& k, const ir::Iterations& each, std::string* why);
std::shared_ptr<const Program> generate(const ir::Kernel& k, const ir::Iterations& each,
                                        const Target& t);
// Which of these programs, all of one kernel and target, generate() would give for these extents;
// -1 when it is none of them. Cheap; ask once a launch.
std::ptrdiff_t find(std::span<const std::shared_ptr<const Program>> programs, const Extents& e);
bool uses_shared_memory(const Program& p);
// How a program spreads the kernel over threads, and what else there was, with the seconds that the
// table gives for each: a line each.
std::string mapping_text(const Program& p, const Extents& e);
Launch launch_shape(const Program& p, const Extents& e);

// The kernel has one parameter, a structure passed by value. Fills `out` with its bytes;
// cuLaunchKernel's kernelParams is then {out.data()}. Buffers are device pointers in the kernel's
// order; scalars as in ir::CallArgs; [begin, end) are iterations of the grid loop; scratch holds
// Launch::scratch_bytes, aligned to 256.
void pack_arguments(const Program& p, const Launch& l, const ir::CallArgs& args, std::int64_t begin,
                    std::int64_t end, void* scratch, std::vector<std::byte>& out);

// Joins the partial results of a chunked region on the device, in the order that engine::Chunks
// describes, and writes them to the result. One program for each kind,
// dtype and order.
struct Join {
  ReduceKind kind;  // ArgMin/ArgMax: `dtype` is that of the extremes
  DType dtype;
  bool tree = false;             // tree_chunks, else even_chunks
  std::int64_t extent;           // of the split axis
  std::int64_t chunks, longest;  // how many, and elements of the longest
  std::int64_t outputs;          // values a row of partials
  Dims shape, strides;  // of the result in bytes, dimensions in the order of a partial's row
};
struct JoinBuffers {
  const void* rows;     // chunks x outputs values (arg: extremes)
  const void* indices;  // arg-reductions: chunks x outputs int64
  const void* bounds;   // the chunk table, chunks + 1 int64
  void* out;
};
std::shared_ptr<const Program> generate_join(ReduceKind kind, DType t, bool tree,
                                             const Target& target);
Launch join_shape(const Program& p, const Join& j);
void pack_join(const Join& j, const JoinBuffers& b, std::vector<std::byte>& out);

// c = a @ b (+ bias or residual) for every batch: c dense and row-major, batches one after another.
// Strides in bytes, of any size and sign. Sums run along k in order, in the type that NumPy's own
// loop sums in. Where so few results are summed over so long a k that most of the device would be
// idle, k is cut into chunks, whose sums go to scratch memory; the chunk sum, to be launched next
// with the same arguments, adds them in their order. One program of either a dtype.
struct Product {
  struct Factor {
    const void* at;
    std::int64_t row, column;
    Dims batch;
  };
  DType dtype;
  std::int64_t m, n, k;
  Dims batch;
  Factor a, b;
  const void* bias;      // n elements that are added to every row, or null
  const void* residual;  // as many as c has, which are added to it, or null; never both
  void* c;
};
std::shared_ptr<const Program> generate_product(DType t, const Target& target);
std::shared_ptr<const Program> generate_chunk_sum(DType t, const Target& target);
Launch product_shape(const Program& p, const Product& x);  // k is cut where this has scratch memory
Launch chunk_sum_shape(const Program& p, const Product& x);
void pack_product(const Program& p, const Product& x, void* scratch, std::vector<std::byte>& out);

struct Binary {
  std::string image;  // cubin, or PTX text when `ptx`
  bool ptx = false;   // the device is newer than this NVRTC knows
  std::string entry;
  int registers = 0, spill_bytes = 0, shared_bytes = 0;  // as ptxas reports; 0 for PTX
};
// Compiles for `arch`, or takes it from memory or the disk cache. Any thread, several at once.
// Throws CompileError with NVRTC's log and the source line it names, DeviceError when there is no
// NVRTC.
std::shared_ptr<const Binary> compile(const Program& p, int arch);
void forget_compiled();  // drops what memory holds: tests and benchmarks of the disk cache

// NVRTC, version 13 or 12, is opened at the first question; see search.hpp. *why says what was
// looked for and where.
bool nvrtc_available(std::string* why);
// From now on one that is no newer than a driver for this version of CUDA (12040: 12.4), where
// there is one: a driver loads what NVRTC of its own major version makes, and of older ones.
void nvrtc_for_driver(int version);
int nvrtc_version();                     // 13005 for 13.5; 0 without NVRTC
std::vector<int> nvrtc_architectures();  // those it makes cubins for

}  // namespace plait::cuda
