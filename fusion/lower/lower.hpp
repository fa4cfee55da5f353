// Lowers one region to loop IR: the nest of its roots, with every node that is not in memory
// computed where it is needed. Values are emitted on demand and land in the outermost loop that
// binds their index, so reductions end up "at a level" and elementwise nodes inline without a
// separate placement step. What would be computed too often that way, or in no loop at all, a
// survey finds before: the walk through the region that the lowering takes, which builds nothing.
// Lowering itself is total.
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/machine.hpp"
#include "fusion/graph/budget.hpp"
#include "fusion/graph/facts.hpp"
#include "fusion/graph/plan_graph.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/schedule/placement.hpp"
#include "ir/ir.hpp"

namespace plait::fusion {

struct Attention;  // schedule/attention.hpp

// What a kernel's buffer parameter is bound to.
struct BufferSource {
  enum Kind : std::uint8_t { NodeMemory, Partial, ChunkTable } kind = NodeMemory;
  std::int32_t index = 0;  // node, or number of the partial
  bool operator<(const BufferSource& o) const {
    return kind != o.kind ? kind < o.kind : index < o.index;
  }
};

// A scratch result of a chunk or a table of what is combined by index: chunks x outputs values of
// `dtype`.
struct Partial {
  std::int32_t root;
  ReduceKind kind;
  DType dtype;
  ExprId outputs;
};

// A node's memory as a kernel reads it: `through` is a view of it, or the node itself.
struct Read {
  std::int32_t node, through;
  bool operator<(const Read& o) const {
    return node != o.node ? node < o.node : through < o.through;
  }
};

// What there is one of a value's scratch for.
enum class PlaceLevel : std::uint8_t {
  Row,
  Line,
  BlockOfIndices,
  BlockOfKeys,
  BlockOfLines,
  BlockOfRows,
  BlockOfRowsAndColumns,
  BlockOfRowsAndKeys,
  BlockOfSums,
};

// A value of a region that is neither in memory nor in registers alone: it is computed at a level
// of the nest, into scratch whose extent follows from what is read of it there.
struct Place {
  std::int32_t node;
  PlaceLevel level;
  const char* why;
  std::int32_t local = -1;
};

struct LoweredKernel {
  ir::Kernel kernel;
  std::vector<Place> places;  // in the order of the kernel's locals
  std::vector<BufferSource> buffers;
  std::set<Read> reads;
  std::vector<ExprId> params;
  std::vector<std::int32_t> scalars;  // Scalar nodes
  std::vector<ExprId> extents;        // a loop's trip count; the grid's is grid_extent
  ExprId grid_extent = 1;             // in pieces: iterations of the split loop
  bool scatters = false;
  bool pairwise_chunks = false;  // of chunks: they follow NumPy's summation tree
  std::vector<Partial> partials;
  std::vector<std::int32_t> kept;  // of chunks: the root's dimensions, as a partial's row has them
  std::int64_t bytes = 0;          // moved by one run at the extents it was planned with
  double work = 0;                 // rough operations of one run, at those extents
  double serial_seconds = 0;       // of its scans, a step after the other
  std::int64_t planned_grid = 1;   // grid extent then
  std::int64_t rounds = 1;         // steps of the caller's loop that it is a loop over (roll.hpp)
  // Nodes that are computed more often than they have elements: how often.
  std::map<std::int32_t, double> repeated;
};

// What a region is not lowered without: a node in memory, or, of a root, only roots that walk
// their operands in the same way beside it.
struct StoreRequirement {
  std::int32_t node;
  const char* why;
  std::optional<bool> one_walk = std::nullopt;
};

// A chain of additions whose terms are products, each read by its addition alone: they are summed
// in one block, one after another, as the additions go.
struct SummedProducts {
  std::int32_t sum = -1;               // the last addition
  std::int32_t start = -1;             // what they are added to; -1: the first product
  std::vector<std::int32_t> products;  // in order
  std::vector<std::int32_t> additions;
  bool operator==(const SummedProducts&) const = default;
};

// Loops over the roots' elements, or their outermost dimension, over pieces of what their folds go
// over, or over blocks of a product.
struct RegionSpec {
  FoldOrder order = FoldOrder::Whole;  // of the folds of the roots, or of the product
  std::vector<std::int32_t> roots;
  std::int32_t product = -1;  // a MatMul in blocks, with what stands before and after it
  // Others of its shape, of which each block is computed beside that of the first.
  std::vector<std::int32_t> beside = {};
  std::vector<SummedProducts> sums = {};  // of these products
  // Something stands before columns of them: blocks of columns are computed once then, for all rows
  // of a block, and the grid counts them.
  bool computes_columns = false;
  std::shared_ptr<const Attention> attention = {};  // Rescaled: that the product is the second of
  bool operator==(const RegionSpec&) const = default;
  std::vector<std::int32_t> products() const {
    std::vector<std::int32_t> all{product};
    all.insert(all.end(), beside.begin(), beside.end());
    return all;
  }
  bool over_elements() const { return product < 0 && !in_pieces(order); }
  bool multiplies(std::int32_t node) const {
    return node == product || std::find(beside.begin(), beside.end(), node) != beside.end();
  }
};

// What becomes of a value that is used more often than it has elements: by cost, or always the
// same, so that tests and benchmarks can hold the choice against both.
enum class Reuse : std::uint8_t { ByCost, Recompute, Store };

// Blocks of products that regions compute by fragments.
struct ProductBlocks {
  // Rows of a block, those where there are enough of them for any team, and the fewest; of an
  // attention's, the second of these at most.
  std::int64_t rows = 256, many_rows = 512, least_rows = 32;
  // Bytes in scratch: of the first operand and of the product, where it has all columns, of a strip
  // of columns, and of an attention's scores, queries and rows, beside which keys and values come
  // by.
  std::int64_t operand_bytes = 4 << 20, product_bytes = 1 << 20, strip_bytes = 2048;
  std::int64_t attention_bytes = 448 << 10;
  // Of a product of several axes: columns of a block, and bytes of an operand's lines.
  std::int64_t columns = 512, packed_bytes = 768 << 10;
  // Where columns are computed for so few rows that to read them takes longest: columns of a block,
  // at most and at least, and how deep one is.
  std::int64_t gemv_rows = 8, gemv_columns = 1024, least_columns = 128, gemv_depth = 16;
  // How deep a block of sums is that operands are packed for; 0: as a block of the product.
  std::int64_t depth = 0;
  // Operands are packed for a block of sums at a time, and columns are part of the grid.
  bool at_sums = false;
  // Bytes beyond a row in scratch, so that rows do not share the cache's sets, or memory's banks.
  std::int64_t row_padding = 64;
};

// What kernels are generated for, as far as planning has to know it.
struct Target {
  const Machine* machine = &kMachine;  // of what the plan is made for
  bool lanes = true;  // loops over vectors of lanes; else a thread runs single iterations
  // Dtypes, a bit each, whose matrix products add a vector along their last axis, or what lies as
  // they do, in the same call, with the bits that the two operations give (epilogue.hpp).
  std::uint32_t summed_products = 0;
  bool ordered_products = true;  // as ordered_product.hpp says; else rows and chunks are joined
  int workers = 2;               // that share a loop, at most: costs follow from it, no bits do
  // How deep a block of a product is that regions compute by fragments, which decides its bits, and
  // how many keys one of an attention has; 0: products are library calls.
  std::int64_t product_depth = 0;
  std::uint32_t fragments = ~0U;  // rows of ir::kFragmentTypes that kernels multiply by, a bit each
  ProductBlocks blocks = {};
  // The operands' types, as kernels multiply them: their own, or that of the sums, to which they
  // are widened where they are packed.
  ir::ProductTypes multiplied(ir::ProductTypes t) const {
    if (!has_row(t)) t.a = t.b = ir::fragment_sums(t);
    return t;
  }
  bool multiplies(const ir::ProductTypes& t) const { return has_row(multiplied(t)); }
  // Of a product by itself.
  std::int64_t depth_of_block() const { return blocks.depth > 0 ? blocks.depth : product_depth; }
  std::int64_t min_parallel_rows =
      kMinParallelRows;  // so many reductions, each by one worker, keep too few busy

  // Fewer rows than the workers that a target has, as far as a row's bits allow to share it.
  bool spreads(const Node& reduce, const Number& rows) const {
    return rows < kMinParallelRows || (rows < min_parallel_rows && chunks_keep_bits(reduce));
  }

 private:
  bool has_row(const ir::ProductTypes& t) const {
    const int row = ir::fragment_row(t);
    return row >= 0 && (fragments >> row & 1);
  }
};

struct LoweringInput {
  const PlanGraph& graph;
  Exprs& exprs;
  const std::vector<std::int32_t>& canon;  // equal sub-expressions -> their first occurrence
  const std::vector<bool>& non_negative;   // nonnegative.hpp
  const std::vector<bool>&
      in_memory;  // nodes that may be loaded here: leaves and roots of earlier regions
  Facts& facts;
  const Budget& budget;
  Reuse reuse = Reuse::ByCost;
  Target target = {};
  bool scans = false;  // some calls may be folds of loops (scan_region.hpp)
  std::span<const std::int32_t> memory_of = {};  // of each node: whose memory it has
  std::span<const Dims> layouts = {};            // those that are not as recorded (layouts.hpp)
};

struct Survey {
  std::vector<StoreRequirement> needs;
  // Memory that is read, work, what is repeated; of instructions those that a write to storage and
  // its old contents meet in.
  LoweredKernel walked;
};
Survey survey(const LoweringInput& in, const RegionSpec& region);
// Whether the graph shows that loops compute each value of the region about once an element: at the
// index of its roots, behind views of it, and along the axis of a fold that is its only root. Then
// there is nothing to ask.
bool computed_once(const LoweringInput& in, const RegionSpec& region);
// The loops of a region that needs nothing.
void lower(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out);

// The value of an expression for the graph being planned: costs may depend on it, code may not.
std::int64_t concrete(const LoweringInput& in, ExprId e);

bool is_root(const LoweringInput& in, const RegionSpec& region, std::int32_t id);

// Whether it holds of a node that `id` is made of, down to what is in memory.
template <class Holds>
bool any_computed(const LoweringInput& in, std::int32_t id, Holds&& holds) {
  return walk_inputs(
      in.graph, in.canon, {id}, [&](std::int32_t i) { return !in.in_memory[i]; }, holds);
}

}  // namespace plait::fusion
