// Computes the nodes of one region in a loop nest. One class, by concern in three files beside
// lower.cpp (regions: which loops a root gets): lower_values.cpp (a node at an index),
// lower_reductions.cpp, recomputation.cpp (what is computed too often).
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nest.hpp"

namespace plait::fusion {

class Lowering : Nest {
 public:
  Lowering(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out)
      : Nest(in, out), region_(region) {}
  std::vector<Demand> run();

 private:
  // regions
  void guard_one_shape();
  void map();
  void store_unrolled(Index& idx, const std::vector<int>& unrolled, const Dims& shape,
                      std::int32_t ctx);
  bool contains_reduction(std::int32_t id) const;
  void store_root(std::int32_t r, const Index& idx, std::int32_t ctx);
  // Splits the widest reduced axis into chunks; each grid iteration folds one chunk into its own
  // row of the partials.
  void blocked();
  void part_by_walk(const std::vector<int>& reduced);
  // A product in blocks of rows, packed in scratch with what stands before it; what stands after it
  // reads the block of the product (lower_product.cpp).
  void product();
  bool keeps_rows(const tracer::Node& product) const;
  bool reads_product(std::int32_t id) const;
  void pack_rows(std::int32_t operand, Val first, Val last, std::int32_t ctx);
  void multiply_columns(std::int32_t operand, Val rows, std::int32_t ctx);
  void store_rows(Val first, Val last, std::int32_t ctx);
  Val tile_element(std::int32_t id, const Index& idx);
  std::int32_t local(ExprId count, std::int32_t home);
  bool is_root(std::int32_t id) const;
  void demand(std::int32_t id, const char* why);

  // values
  Val emit(std::int32_t id, const Index& idx, std::int32_t ctx);
  // What an earlier loop over the same row computed at some cost is kept for this one (the
  // exponentials of a softmax).
  Val row_buffer(std::int32_t id, const tracer::Node& n, const Index& idx, std::int32_t ctx);
  Val compute_node(std::int32_t id, const GNode& gn, const tracer::Node& n, const Index& idx,
                   std::int32_t ctx);
  // A view of a value that is not in memory reads it at the mapped index.
  Val through_view(std::int32_t id, const GNode& gn, const tracer::Node& n, const Index& idx,
                   std::int32_t ctx);
  Val gathered(std::int32_t id, const GNode& gn, const tracer::Node& n, const Index& idx,
               std::int32_t ctx);
  // False when the value has to be in memory, because the region grows by it.
  bool note_emission(std::int32_t id, const Index& idx);

  // reductions
  // Opened under the loop that binds the index, wherever it was asked for.
  Val reduction(std::int32_t id, const tracer::Node& n, const Index& idx);
  Val reduce_at(std::int32_t id, const tracer::Node& n, std::int32_t operand, const Index& idx,
                std::int32_t at);
  // NumPy's sums start from +0.0, the folds of the loop IR from -0.0: a sum of negative zeros shows
  // it.
  Val from_zero(std::int32_t id, Val v);
  // Products start from 1, as the folds of the loop IR do: 1 * (nan + 0j) is nan + nanj.
  Val from_one(const tracer::Node& n, Val v);
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
  Val fold_terms(const tracer::Node& n, const std::vector<Val>& t, bool pairwise);
  // NumPy sums pairwise along the axis of the smallest stride, and row by row along the others.
  bool pairwise_axis(const tracer::Node& n, std::int32_t operand, int d) const;

  // recomputation
  // Where a node is computed: how often altogether, loops side by side over one range counted once.
  struct Emissions {
    std::set<std::vector<std::int64_t>> ranges;
    double computed = 0;
  };
  // Elementwise nodes computed more often than they have elements, when that costs more than a trip
  // through memory.
  void check_recomputation();
  bool stored_cheaper(std::int32_t id, const Emissions& e) const;
  double node_cost(std::int32_t id) const;
  double node_cost(std::int32_t id, std::set<std::int32_t>& counted, int depth) const;
  std::vector<std::int64_t> range_of(const Index& idx) const;

  struct Memo {
    Val value;
    std::int32_t loop;
  };
  // The block of a product.
  struct Tile {
    Index batch;                                    // the index in front of rows and columns
    std::int32_t a = -1, c = -1;                    // locals
    ExprId a_row = 0, c_row = 0;                    // elements from row to row
    std::int64_t height = 0, width = 0, depth = 0;  // of a block, of columns, of sums
    bool whole = false;                             // has all columns
    std::int32_t rows = -1;                         // the loop over them that reads the product
    std::int32_t columns = -1;
    Val first_row = kNone, first_column = kNone;
  };
  Tile tile_;
  const RegionSpec& region_;
  std::map<std::pair<std::int32_t, Index>, std::vector<Memo>> memo_;
  std::map<std::int32_t, Emissions> emissions_;
  std::map<Val, std::int32_t> rows_;  // value -> the local its row is kept in
  std::vector<Demand> demands_;
  bool loops_only_ = false;  // no unrolling inside the block that is being summed
  Val split_begin_ = kNone, split_end_ = kNone, arg_extreme_ = kNone;
};

}  // namespace plait::fusion
