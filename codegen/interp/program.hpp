// A prepared kernel: flat instructions over registers. A register is a pointer and a byte stride;
// it points to a tile, to a scalar (stride 0), or straight into a buffer. Whatever is uniform runs
// once, whatever varies along the vector loop runs once for all lanes of a tile.
#pragma once
#include <optional>
#include <vector>

#include "codegen/loops/fragment.hpp"
#include "codegen/loops/loops.hpp"
#include "interp.hpp"
#include "primitives.hpp"
#include "tree.hpp"

namespace plait::interp {

using RegId = std::int32_t;
inline constexpr RegId kNoReg = -1;

enum class Code : std::uint8_t { Call, Load, Gather, Store, Scatter, Iota, Loop, Fragment, Scan };
// Whether a load copies into its own tile or aliases the memory.
enum class CopyRule : std::uint8_t { Never, WhenStrided, Always };

struct Instr {
  Code code;
  bool tile = false;  // for every lane; otherwise once
  std::uint8_t inputs = 0;
  CopyRule copy = CopyRule::Never;  // Load
  std::uint8_t itemsize = 0;        // Load, Gather, Store
  // Gather: the index, its stride; Scatter: these and the value; Scan: value, fold
  RegId in[3] = {kNoReg, kNoReg, kNoReg};
  RegId out = kNoReg;
  std::int32_t access = -1;    // Call: writes there and not to `out`
  loops::LoopFn fn = nullptr;  // Call
  ScanFn scan = nullptr;
  ScatterFn scatter = nullptr;
  std::int32_t loop = -1;      // Loop
  std::int32_t fragment = -1;  // Fragment
};

enum class FoldKind : std::uint8_t {
  Combine,
  Tree,
  Arg,
  Running,  // an instruction of the body folds
  Last,     // what an iteration finds is what the one before has left
};

struct Fold {
  FoldKind kind;
  bool tile = false;  // serial loops: every lane folds for itself
  std::uint8_t itemsize = 0;
  // Serial loops: the first value starts the accumulator (the identity would not change it).
  bool starts_with_value = false;
  RegId value = kNoReg;
  // Serial loops: where `value` is computed when it is not computed straight into an accumulator.
  RegId own = kNoReg;
  RegId acc = kNoReg;    // Tree in a serial loop: the first of the accumulators
  RegId index = kNoReg;  // Arg
  RegId sums = kNoReg;   // Tree: the first of kMaxSums open left sums
  RegId init = kNoReg;   // Running, Last: what it starts from instead of the identity
  std::int32_t tree = -1;
  TreeShape shape;
  Scalar identity;
  loops::LoopFn combine = nullptr;          // joins two values
  loops::ReduceFn reduce = nullptr;         // vector loops
  loops::ArgReduceFn arg_reduce = nullptr;  // vector loops
  ArgTileFn arg_step = nullptr;             // serial loops
};

struct LoopCode {
  bool vector = false;
  bool by_tree = false;          // a vector loop whose tiles are subtrees of a pairwise sum
  std::optional<bool> stops_at;  // a vector loop's fold, once it is that value
  TreeShape shape;
  RegId begin = kNoReg, end = kNoReg;
  RegId var = kNoReg;                // an int64 scalar: the iteration, or the first of a tile
  std::int32_t first = 0, last = 0;  // instructions of the body
  std::int32_t first_fold = 0, last_fold = 0;
  std::int32_t row = -1;  // the vector loop whose tiles take several of this loop's iterations
};
// Loop `outer` does nothing but run the vector loop `row`, of `count` iterations.
struct SharedTiles {
  std::int32_t outer, row;
  ir::Coeff count;
};

struct AccessCode {
  bool local = false, per_lane = false;
  std::int32_t index = 0;  // of the buffer or local
  std::uint8_t itemsize = 0;
  ir::Coeff offset;
  std::int32_t first_term = 0, last_term = 0;
};
struct TermCode {
  RegId value;
  bool lane = false;  // the variable of the vector loop
  bool row = false;   // of the loop that it shares tiles with
  ir::Coeff stride;
};

struct FragmentCode {
  loops::FragmentFn fn;
  std::int32_t a, b, c;  // accesses
  RegId m, n, k, a_stride, a_step, b_stride, b_step, c_row, block;
  std::int32_t a_width, b_width;
};

enum class Home : std::uint8_t { None, Scalar, Tile, ColdTile, Param, Arg, Const };
struct RegCode {
  Home home = Home::None;
  std::int32_t index = 0;
  std::int64_t stride = 0;
};
struct LocalCode {
  ir::Coeff count;
  std::int64_t bytes = 0;  // an element's, over all lanes
};

// Where the parts of scratch memory begin.
struct Layout {
  std::size_t addresses, terms, trees, scalars, tiles, cold, locals;
};

class Sequential;

class Program {
 public:
  std::shared_ptr<const Sequential> sequential;  // of such a kernel, and nothing else
  std::vector<Instr> code;
  std::vector<LoopCode> loops;  // as in the kernel: [0] is the grid
  std::vector<Fold> folds;
  std::vector<AccessCode> accesses;
  std::vector<TermCode> terms;
  std::vector<FragmentCode> fragments;
  std::vector<RegCode> regs;
  std::vector<LocalCode> locals;
  std::vector<Scalar> consts;
  std::int32_t scalars = 0, tiles = 0, cold_tiles = 0, trees = 0;
  int lanes = 1;  // of a tile
  std::size_t tile_bytes = 0;
  Layout layout{};
  // The same kernel with rows of strided loads kept in scratch, for as long as they are short.
  std::shared_ptr<const Program> with_rows;
  std::vector<LocalCode> rows;  // what it keeps more
  // The same kernel with tiles of several rows, for rows that are short.
  std::shared_ptr<const Program> with_shared_tiles;
  std::vector<SharedTiles> shared;
};

// Which parts of scratch memory a run uses.
struct Reg {
  char* ptr;
  std::int64_t stride;
};
struct Address {
  char* base;
  std::int64_t lane_stride, row_stride;
  const struct Term* first;
  const struct Term* last;
};
struct Term {
  RegId value;
  std::int64_t stride;
};
struct Tree {
  TreeWalk walk;
  std::int64_t position;  // in the leaf
  int open;               // left sums
};
struct Frame {
  const Program& p;
  Reg* regs;
  Address* addresses;
  Tree* trees;
  const std::atomic<bool>& stop;
  std::int64_t row = 0;  // lanes of each row in a tile of several; 0: all are of one

  bool stopped() const { return stop.load(std::memory_order_relaxed); }
  std::int64_t integer(RegId r) const { return *reinterpret_cast<std::int64_t*>(regs[r].ptr); }
  char* address(std::int32_t access) const {
    const Address& a = addresses[access];
    char* at = a.base;
    for (const Term* t = a.first; t != a.last; ++t) at += integer(t->value) * t->stride;
    return at;
  }
};

}  // namespace plait::interp
