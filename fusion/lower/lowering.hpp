// Computes the nodes of one region in a loop nest. One class, a file for each concern: lower.cpp
// (which loops a root gets), values.cpp (a node at an index), reductions.cpp, scan.cpp,
// scatter.cpp, product.cpp, lines.cpp, attention.cpp, mask.cpp, single_query.cpp, and
// recomputation.cpp (what is computed too often).
#pragma once
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cut_loops.hpp"
#include "fusion/graph/walk.hpp"
#include "fusion/schedule/attention.hpp"

namespace plait::fusion {

// Some neighbouring axes [first, last) of a node, as a block has them: [begin, end) of the axis
// `split`, all of those behind it, and one index of each in front of it.
struct Lines {
  std::int32_t of = -1;
  int first = 0, split = 0, last = 0;
  ExprId inner = 1, most = 1;      // lines of an index of `split`; indices of it in a block
  Val begin = kNone, end = kNone;  // kNone: all of the axis
  double trips = 1;                // indices of it, altogether
  Index at = {};                   // those in front of it
};
// Lines of an operand in scratch: elements from line to line, and from sum to sum.
struct Packed {
  std::int32_t local = -1;
  ExprId line = 1, sum = 1;
};
// The block of a product.
struct Tile {
  Index batch;  // the index in front of rows and columns
  // The locals of products, and of sums of them, which are laid out alike.
  std::map<std::int32_t, std::int32_t> locals = {};
  ExprId row = 0;          // elements from row to row
  bool whole = false;      // has all columns
  std::int32_t rows = -1;  // the loop over them that reads the product
  std::int32_t columns = -1;
  // The index that its readers have, where its rows are in the local, and its columns.
  Index own;
  ir::Access at;
  Lines across;
};
// That of an attention: the scores, and of each row what is carried from block to block, in locals.
struct BlockFolds {
  Attention of;
  std::int32_t scores = -1;  // and the weights: the same local, where their dtype is its
  std::int32_t weights = -1;
  ExprId score_row = 0;  // elements from row to row of both
  Lines rows, keys;
  Packed queries;
  // The index of what is between the products, where the loops over rows are those.
  Index own;
  std::int32_t own_rows = -1;
  bool lone = false;  // there is one row: nothing to share, keys and values are read where they lie
  // Of each fold its value, and of first ones the next; of each shift the row value that is
  // subtracted, what is subtracted in its place where that is -inf, and the factor of a growth.
  struct Fold {
    std::int32_t value = -1, next = -1;
  };
  struct Shift {
    std::int32_t row = -1, subtracted = -1, factor = -1;
  };
  std::vector<Fold> folds;
  std::vector<Shift> shifts;
  std::vector<std::int32_t> shown;  // whether masks have shown any of the row
  enum Stage : std::uint8_t { Compare, Rescale, Weigh, Hidden, Finish } stage = Compare;
};

class Lowering : Nest {
 public:
  // Without `builds` the walk alone.
  Lowering(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out, bool builds)
      : Nest(in, out, builds), region_(region), emitted_(in.graph.nodes.size()) {
    if (!builds && node(region.roots[0]).kind == tracer::NodeKind::Update)
      overwrite(in.graph[region.roots[0]].in[0]);
  }
  void run();
  const std::vector<Need>& needs() const { return needs_; }

 private:
  // regions
  void map();
  void store_unrolled(Index& idx, const std::vector<int>& unrolled, const Numbers& shape,
                      std::int32_t ctx);
  // Whether it holds of a node that `id` is made of, down to what is in memory.
  template <class Holds>
  bool any_behind(std::int32_t id, Holds&& holds) const {
    return walk_inputs(
        g_, in_.canon, {id}, [&](std::int32_t i) { return !in_.in_memory[i]; }, holds);
  }
  void store_root(std::int32_t r, const Index& idx, std::int32_t ctx);
  // Splits the widest reduced axis into chunks; each grid iteration folds one chunk into its own
  // row of the partials.
  void blocked();
  void part_by_walk(const std::vector<int>& reduced);
  // What the grid iteration has of the axis that is cut.
  std::pair<Val, Val> chunk();
  // Rows combined into the rows of tables that indices name (lower/scatter.cpp).
  void scatter();
  void start_table(std::int32_t root, std::int32_t table, ExprId outputs);
  void scatter_row(std::int32_t root, std::int32_t table, const Ix& row, Val at);
  bool lanes_along_rows() const;
  // A product in blocks of rows, packed in scratch with what stands before it; what stands after it
  // reads the block of the product (lower/product.cpp).
  void product();
  bool keeps_rows(const Node& product) const;
  std::int32_t stored(std::int32_t root) const;
  std::optional<Dims> axes_in_product(std::int32_t root) const;
  bool folds_rows(std::int32_t root) const;
  bool computes_columns() const;
  bool reads_once();
  bool reads_product(std::int32_t id) const;
  std::int32_t first_product() const;
  using Level = CutLoops::Level;
  void pack(std::int32_t operand, const Index& idx, const std::vector<Level>& levels,
            std::int32_t local, std::int32_t ctx, bool repeated = false);
  CutLoops cut_loops();
  template <class Run>
  void with_cuts(CutLoops& cuts, Run&& run) {
    cuts_ = &cuts;
    run();
    cuts_ = nullptr;
  }
  std::int32_t open_blocks(std::int32_t parent, ExprId extent, std::int64_t most);
  void close_all(const std::vector<std::int32_t>& loops);
  ir::Panels panels(const Packed& p, ir::Access from = {}, bool columns = false);
  void push_product(const ir::Fragment& m, Val rows, Val columns, Val sums, std::int32_t ctx);
  void count_fragments(const Node& product);
  bool at_index(std::int32_t id, const Index& idx, const Index& whole) const;
  Val tile_element(std::int32_t id, const Index& idx);
  // The lines of a product, of its operands and of what it sums (lower/lines.cpp).
  ExprId extent_of(const Lines& l, int axis) { return ex_.source({l.of, Field::Shape, axis}); }
  Lines lines(std::int32_t of, int first, int count);
  Lines block_of_lines(std::int32_t of, int first, int count, std::int64_t most);
  Lines lines_of_sums(std::int32_t product, int operand);
  ExprId lines_in_block(const Lines& l);
  Val lines_now(const Lines& l);
  ExprId lines_from(const Lines& l, int axis);
  Val first_line(const Lines& l);
  std::pair<Val, Val> range_of_block(Val block, ExprId most, ExprId extent);
  void set_block(Lines& l, Val number_of_block);
  void size_block(Lines& rows, Lines& columns);
  std::int32_t open_block(Lines& rows, Lines* columns);
  std::int32_t open_blocks(Lines& l, std::int32_t ctx, std::vector<std::int32_t>& opened);
  std::int32_t open_lines(const Lines& l, std::int32_t ctx, std::vector<std::int32_t>& opened);
  void add_terms(ir::Access& a, const Lines& l, const Index& idx, ExprId stride);
  bool joins(std::int32_t operand, int axis, int behind, ExprId extent);
  bool lines_inside(std::int32_t operand, int lines_at, int lines, int sums_at, int sums) const;
  DType multiplied(std::int32_t product, int operand) const;
  Packed pack_lines(std::int32_t operand, DType as, const Lines& l, int lines_at, const Lines& s,
                    int sums_at, std::int32_t ctx, bool repeated);
  std::pair<Index, std::vector<Level>> levels_of_lines(std::int32_t operand, const Lines& l,
                                                       int lines_at, ExprId line, const Lines& s,
                                                       int sums_at, ExprId sum, bool lines_inside);
  // Of few rows (lower/few_rows.cpp).
  bool streams(std::int32_t product);
  void multiply_streamed(std::int32_t product, const Lines& rows, const Lines& columns,
                         std::int32_t ctx, bool adds);
  void multiply(std::int32_t product, const std::optional<Packed>& a,
                const std::optional<Packed>& b, const Lines& rows, const Lines& columns,
                std::int32_t ctx, bool adds);
  void start_block(std::int32_t local, std::int32_t value, const Lines& rows, const Lines& columns,
                   std::int32_t ctx);
  std::vector<std::int32_t> open_rows_of(const Lines& rows, const Lines& columns, std::int32_t ctx);
  std::vector<std::int32_t> open_columns_of_block();
  void own_index(const Lines& l, const std::vector<std::int32_t>& loops);
  ir::Access place_in_block();
  void store_block(const Lines& rows, const Lines& columns, std::int32_t ctx);
  void store_along(std::int32_t root, std::int32_t ctx);
  void close_grid(std::int32_t ctx);
  // Two products and folds of the rows between them, blocks of columns by blocks of columns:
  // scores, what is folded so far, and rows of the second product are a block's scratch
  // (lower/attention.cpp).
  void attention();
  void add_block(std::int32_t ctx);
  void add_masked_blocks(std::int32_t ctx);
  // Of a single row (lower/single_query.cpp).
  void score_keys(std::int32_t ctx);
  void add_values(std::int32_t product, std::int32_t ctx);
  // Which blocks a mask leaves out (lower/mask.cpp).
  Val counts_at_once(std::int32_t ctx);
  Val any_infinite(const Lines& keys, std::int32_t ctx);
  Val fill_counts(Lines rows, std::int32_t ctx);
  Val may_be(std::int32_t id, bool wanted, std::int32_t ctx);
  Val at_corners(std::int32_t id, bool wanted, std::int32_t ctx);
  Val any_in_block(std::int32_t id, bool wanted, Lines rows, Lines keys, std::int32_t ctx);
  Val any(Val v, const std::vector<std::int32_t>& loops);
  Val either(Val a, Val b);
  using IndicesSummed = std::map<std::int32_t, std::optional<std::pair<int, int>>>;
  std::optional<std::pair<int, int>> indices_summed(std::int32_t id, IndicesSummed& known) const;
  Val shift_of(Val maximum);
  void start_rows(std::int32_t ctx);
  // The folds of a block along its rows, of those that come first or of the others; these with the
  // weights.
  void fold_block(bool first, std::int32_t ctx);
  void rescale_rows(std::int32_t ctx);
  Val growth(const Attention::Scaling& of, Val v);
  void multiply_queries(std::int32_t ctx);
  void multiply_weights(std::int32_t product, std::int32_t ctx);
  void multiply_rows(const ir::Panels& rows, std::int32_t operand, DType as, const Lines& columns,
                     int columns_at, const Lines& sums, int sums_at, std::int32_t to, ExprId row,
                     Val first, std::int32_t ctx);
  void finish_rows(std::int32_t ctx);
  Val not_a_number(const Attention::Scaling& of, Val v);
  // Of a fold, or of a product at an index.
  Val with_deferred(const Attention::Scaling& of, Val v, std::int32_t product = -1,
                    const Index& at = {});
  Val hidden_sum(Val shown, std::int32_t product, const Index& at, DType t);
  const Index& between();
  Index row_index(std::int32_t id);
  bool is_row_value(std::int32_t id) const;
  // What a block of an attention has in scratch; kNone for anything else.
  Val block_value(std::int32_t id, const Index& idx, std::int32_t ctx);
  ir::Access place_of_score();
  void scale_rows(std::int32_t ctx, bool start);
  Val finished(Val v, std::int32_t product, const Index& at);
  // Of the row whose loops are open.
  Val load_row(std::int32_t local);
  void store_row(std::int32_t local, Val v);
  Val load_local(std::int32_t local, ir::Access at, std::int32_t ctx);
  std::int32_t access(ir::Access a) {
    k_.accesses.push_back(std::move(a));
    return static_cast<std::int32_t>(k_.accesses.size() - 1);
  }
  bool is_root(std::int32_t id) const;
  // Asked for by a survey; a region that is lowered has it.
  void need(std::int32_t id, const char* why);

  // values
  Val emit(std::int32_t id, const Index& idx, std::int32_t ctx);
  // What an earlier loop over the same row computed at some cost is kept for this one (the
  // exponentials of a softmax).
  Val row_buffer(std::int32_t id, const Node& n, const Index& idx, std::int32_t ctx);
  Val compute_node(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                   std::int32_t ctx);
  // A view of a value that is not in memory reads it at the mapped index.
  Val through_view(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                   std::int32_t ctx);
  Val gathered(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
               std::int32_t ctx);
  // Of a survey. False when the value has to be in memory, because the region grows by it.
  bool note_emission(std::int32_t id, const Index& idx);

  // scans (lower/scan.cpp)
  // Which scans the roots read, and how far ahead of their own index; refuses what no loop of the
  // region scans.
  bool plan_scans(const Numbers& shape);
  bool find_scans(std::int32_t id, ExprId shift);
  bool refuse_scan(std::int32_t id);
  bool contains_scan(std::int32_t id) const;
  int looped_axis(std::int32_t id) const;
  bool in_groups(std::int32_t id);
  Val running(std::int32_t id, const Node& n, const Index& idx);
  Val carried(DType t, ReduceKind kind);
  Val window_value(std::int32_t id, const Index& idx);
  void scan_windows(Index& idx, ExprId extent, std::int32_t ctx);

  // reductions
  // Opened under the loop that binds the index, wherever it was asked for.
  Val reduction(std::int32_t id, const Node& n, const Index& idx);
  // Of a survey: whether it is worth reducing where it is asked for.
  bool reduced_here(std::int32_t id, const Node& n, const Index& idx, std::int32_t at);
  Val reduce_at(std::int32_t id, const Node& n, std::int32_t operand, const Index& idx,
                std::int32_t at);
  // NumPy's sums start from +0.0, the folds of the loop IR from -0.0: a sum of negative zeros shows
  // it.
  Val from_zero(std::int32_t id, Val v);
  // Products start from 1, as the folds of the loop IR do: 1 * (nan + 0j) is nan + nanj.
  Val from_one(const Node& n, Val v);
  // NumPy sums axes that are contiguous together as one: a short block is unrolled whole, a longer
  // one becomes loops that collapse into one.
  Val short_block(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t at);
  // Folds the operand over those axes; `split`: the outermost of them runs over the current chunk.
  Val fold(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::int32_t ctx,
           bool split);
  // Whether stepping through those axes, widest first, is one walk through memory for all that the
  // value of `id` loads.
  bool one_walk(std::int32_t id, const std::vector<int>& axes) const;
  // The loops of fold() from axis reduced[i] on.
  Val reduce_loops(std::int32_t id, Index& oi, const std::vector<int>& reduced, std::size_t i,
                   std::int32_t ctx, bool split);
  Val operand_value(std::int32_t id, const Index& oi, std::int32_t ctx);
  // An arg-reduction looks through the monotone root in front of a non-negative value.
  Val arg_value(std::int32_t id, const Index& oi, std::int32_t ctx, bool& guarded);
  Val fold_terms(const Node& n, const std::vector<Val>& t, bool pairwise);
  // NumPy sums pairwise along the axis of the smallest stride, and row by row along the others.
  bool pairwise_axis(const Node& n, std::int32_t operand, int d) const;

  // recomputation
  // Where a node is computed: how often altogether, loops side by side over one range counted once.
  struct Emissions {
    std::set<std::vector<std::int64_t>> ranges;
    double computed = 0;
  };
  // Of a survey: elementwise nodes computed more often than they have elements, when that costs
  // more than a trip through memory.
  void check_recomputation();
  bool stored_cheaper(std::int32_t id, const Emissions& e) const;
  double node_cost(std::int32_t id) const;
  double node_cost(std::int32_t id, std::set<std::int32_t>& counted, int depth) const;
  std::vector<std::int64_t> range_of(const Index& idx) const;

  struct Memo {
    Val value;
    std::int32_t loop;
  };
  Tile tile_;
  std::optional<BlockFolds> folds_;
  CutLoops* cuts_ = nullptr;  // the loops that are open, if they may be cut
  const RegionSpec& region_;
  struct Scans {
    std::map<std::int32_t, std::set<ExprId>> shifts;  // of each scan: how far ahead it is read
    std::int32_t first = -1;
    int axis = -1;
    bool windows = false;                            // read further along the axis
    std::map<std::int32_t, std::int32_t> window_of;  // complete ones: their locals
    // The loops of a block that scan, and that read.
    std::int32_t loop = -1, reader = -1;
    Val base = kNone;  // of a block: an index of the axis and this is one of a window
  } scans_;
  std::set<std::pair<std::int32_t, ExprId>> seen_reads_;
  struct At {
    std::int32_t node;
    Index idx;
    bool operator==(const At&) const = default;
  };
  struct HashAt {
    std::size_t operator()(const At& a) const {
      std::size_t h = static_cast<std::size_t>(a.node);
      for (const Ix& x : a.idx) {
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.loop);
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.step);
        h = h * 0x9e3779b97f4a7c15u + static_cast<std::size_t>(x.start);
      }
      return h ^ h >> 32;
    }
  };
  std::unordered_map<At, std::vector<Memo>, HashAt> memo_;
  std::vector<bool> emitted_;  // nodes that were computed, somewhere
  std::map<std::int32_t, Emissions> emissions_;
  mutable std::unordered_map<std::int32_t, double> node_costs_;
  std::map<Val, std::int32_t> rows_;  // value -> the local its row is kept in
  std::vector<Need> needs_;
  bool loops_only_ = false;  // no unrolling inside the block that is being summed
  Val split_begin_ = kNone, split_end_ = kNone, arg_extreme_ = kNone;
};

}  // namespace plait::fusion
