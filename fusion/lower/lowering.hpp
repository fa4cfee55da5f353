// Computes the nodes of one region in a loop nest. One class, a file for each concern: lower.cpp
// (which loops a root gets), values.cpp (a node at an index), reductions.cpp, scan.cpp,
// scatter.cpp, and recomputation.cpp (what is computed too often). Loops over blocks of a product
// are built by others (product_nest.hpp, attention_nest.hpp), which ask for values.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fusion/graph/walk.hpp"
#include "values.hpp"

namespace plait::fusion {

class Lowering : Nest, Values {
 public:
  // Without `builds` the walk alone.
  Lowering(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out, bool builds)
      : Nest(in, out, builds), region_(region), emitted_(in.graph.nodes.size()) {
    if (!builds && node(region.roots[0]).kind == tracer::NodeKind::Update)
      overwrite(in.graph[region.roots[0]].in[0]);
  }
  void run();
  const std::vector<StoreRequirement>& needs() const { return needs_; }

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
  void store_root(std::int32_t r, const Index& idx, std::int32_t ctx) override;
  // Splits the widest reduced axis into chunks; each grid iteration folds one chunk into its own
  // row of the partials.
  void blocked();
  void part_by_walk(const std::vector<int>& reduced);
  // What the grid iteration has of the axis that is cut.
  std::pair<Val, Val> chunk();
  // Rows combined into the rows of tables that indices name (lower/scatter.cpp).
  void scatter();
  void start_table(std::int32_t root, std::int32_t table, ExprId outputs);
  void scatter_row(std::int32_t root, std::int32_t table, const AxisIndex& row, Val at);
  bool lanes_along_rows() const;
  // Loops over blocks of a product, whose values what is computed there finds.
  template <class Block>
  void build(Block&& block) {
    block_ = &block;
    block.build();
    block_ = nullptr;
  }
  CutLoops cut_loops();
  template <class Run>
  void with_cuts(CutLoops& cuts, Run&& run) {
    cuts_ = &cuts;
    run();
    cuts_ = nullptr;
  }
  void fill(std::int32_t operand, const Index& idx, const std::vector<CutLoops::Level>& levels,
            std::int32_t ctx, bool repeated, CutLoops::Unroll unroll,
            const CutLoops::Put& put) override;
  bool is_root(std::int32_t id) const;
  void need(std::int32_t id, const char* why) override;

  // values
  Val emit(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  Val compute(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  // What an earlier loop over the same row computed at some cost is kept for this one (the
  // exponentials of a softmax).
  Val row_buffer(std::int32_t id, const Node& n, const Index& idx, std::int32_t ctx);
  // A view of a value that is not in memory reads it at the mapped index.
  Val through_view(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
                   std::int32_t ctx);
  Val gathered(std::int32_t id, const PlanNode& gn, const Node& n, const Index& idx,
               std::int32_t ctx);
  // Whether memory that has it is not to be read: the block at hand changes it still.
  bool changes(std::int32_t id) const { return block_ && block_->changes(id); }
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
  Val operand_value(std::int32_t id, const Index& oi, std::int32_t ctx) override;
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
  BlockValues* block_ = nullptr;  // of the block that is being computed
  CutLoops* cuts_ = nullptr;      // the loops that are open, if they may be cut
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
      for (const AxisIndex& x : a.idx) {
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
  std::vector<StoreRequirement> needs_;
  bool loops_only_ = false;  // no unrolling inside the block that is being summed
  Val split_begin_ = kNone, split_end_ = kNone, arg_extreme_ = kNone;
};

}  // namespace plait::fusion
