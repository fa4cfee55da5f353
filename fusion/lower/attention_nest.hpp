// An attention as a region: the grid runs over blocks of rows, as a product's does. A block of
// scores after another is multiplied into scratch; the rows of the second product and the folds of
// the scores are carried from block to block, and rescaled where a maximum grows. Deferred factors
// of the rows come last.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fusion/schedule/attention.hpp"
#include "product_block.hpp"

namespace plait::fusion {

class AttentionNest : public ProductBlock {
 public:
  AttentionNest(Nest& nest, Values& values, const RegionSpec& region)
      : ProductBlock(nest, values, region), of_(*region.attention) {}
  void build();
  Val value(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  bool changes(std::int32_t id) const override;

 private:
  // Of a fold its value, and of first ones the next.
  struct Fold {
    std::int32_t value = -1, next = -1;
  };
  // Of a shift the row value that is subtracted, what is subtracted in its place where that is
  // -inf, and the factor of a growth.
  struct Shift {
    std::int32_t row = -1, subtracted = -1, factor = -1;
  };
  enum Stage : std::uint8_t { Compare, Rescale, Weigh, Hidden, Finish };

  void add_block(std::int32_t ctx);
  void start_rows(std::int32_t ctx);
  // The folds of a block along its rows, of those that come first or of the others; these with the
  // weights.
  void fold_block(bool first, std::int32_t ctx);
  void rescale_rows(std::int32_t ctx);
  // The rows of the second product, by their factors; from zero at the start.
  void scale_rows(std::int32_t ctx, bool start);
  void multiply_queries(std::int32_t ctx);
  void multiply_weights(std::int32_t product, std::int32_t ctx);
  // Rows that are in scratch, by the lines of an operand, at these sums; from zero where they are
  // the first.
  void multiply_rows(const ir::Panels& rows, std::int32_t operand, DType as,
                     const AxisTile& columns, int columns_at, const AxisTile& sums, int sums_at,
                     std::int32_t to, ExprId row, Val first, std::int32_t ctx);
  void finish_rows(std::int32_t ctx);

  // Row values.
  Val load_row(std::int32_t local);  // of the row whose loops are open
  void store_row(std::int32_t local, Val v);
  Val shift_of(Val maximum);
  Val growth(const Attention::Scaling& of, Val v);
  Val not_a_number(const Attention::Scaling& of, Val v);
  // Of a fold, or of a product at an index.
  Val with_deferred(const Attention::Scaling& of, Val v, std::int32_t product = -1,
                    const Index& at = {});
  Val hidden_sum(Val shown, std::int32_t product, const Index& at, DType t);
  Val finished(Val sum, std::int32_t product, const Index& at) override;

  // The index of the values between the products, at the row, and the key, whose loops are open.
  const Index& between();
  // Where a row value is that of the row whose loops are open.
  Index row_index(std::int32_t id);
  bool at_index(std::int32_t id, const Index& idx, const Index& whole) const;
  ir::Access place_of_score();
  // What is between the products, and row values; kNone for anything else.
  Val block_value(std::int32_t id, const Index& idx, std::int32_t ctx);

  // Of a single row (single_query.cpp).
  void score_keys(std::int32_t ctx);
  void add_values(std::int32_t product, std::int32_t ctx);

  // Which blocks a mask leaves out (mask.cpp).
  using IndicesSummed = std::map<std::int32_t, std::optional<std::pair<int, int>>>;
  void add_masked_blocks(std::int32_t ctx);
  Val counts_at_once(std::int32_t ctx);
  Val any_infinite(const AxisTile& keys, std::int32_t ctx);
  Val fill_counts(const AxisTile& rows, std::int32_t ctx);
  Val may_be(std::int32_t id, bool wanted, std::int32_t ctx);
  Val at_corners(std::int32_t id, bool wanted, std::int32_t ctx);
  Val any_in_block(std::int32_t id, bool wanted, AxisTile rows, AxisTile keys, std::int32_t ctx);
  Val any(Val v, const std::vector<std::int32_t>& loops);
  Val either(Val a, Val b);
  std::optional<std::pair<int, int>> indices_summed(std::int32_t id, IndicesSummed& known) const;

  const Attention& of_;
  std::int32_t scores_ = -1;   // the local of a block of them
  std::int32_t weights_ = -1;  // the same one, where their dtype is its
  ExprId score_row_ = 0;       // elements from row to row of both
  AxisTile rows_, keys_;
  Packed queries_;
  // The index of what is between the products, where the loops over rows are those.
  Index own_;
  std::int32_t own_rows_ = -1;
  // There is one row: nothing to share, keys and values are read where they lie.
  bool single_query_ = false;
  // What is carried of each row from block to block, in locals.
  std::vector<Fold> folds_;
  std::vector<Shift> shifts_;
  std::vector<std::int32_t> shown_;  // whether masks have shown any of the row
  Stage stage_ = Compare;
};

}  // namespace plait::fusion
