// The block of a product that a grid iteration computes: the grid over blocks, operands that are
// packed for it in scratch, fragments, and the roots that read it. Which blocks there are and when
// they are multiplied is for those that derive from it (product_nest.hpp, attention_nest.hpp).
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "axis_tile.hpp"
#include "values.hpp"

namespace plait::fusion {

class ProductBlock : public BlockValues, protected NestPart {
 public:
  Val value(std::int32_t id, const Index& idx, std::int32_t ctx) override;
  bool changes(std::int32_t) const override { return false; }

 protected:
  // Lines of an operand in scratch: elements from line to line, and from sum to sum.
  struct Packed {
    std::int32_t local = -1;
    ExprId line = 1, sum = 1;
  };
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
    AxisTile across;
  };

  ProductBlock(Nest& nest, Values& values, const RegionSpec& region)
      : NestPart(nest), values_(values), region_(region) {}

  // A row of the product as its readers find it, of what the fragments have summed.
  virtual Val finished(Val sum, std::int32_t product, const Index& at) = 0;

  // Of a root: whether it folds rows, so that a block has to have them whole.
  bool folds_rows(std::int32_t root) const;
  ExprId row_padding(DType t) const;
  AxisTile lines_of_sums(std::int32_t product, int operand);

  // The grid counts blocks of columns, if there are several, then of rows, then what stands in
  // front of them: each axis that a block has one index of is a loop of one iteration. Returns the
  // innermost of these loops.
  std::int32_t open_block(AxisTile& rows, AxisTile* columns);
  void close_grid(std::int32_t ctx);
  // The loops over the rows of a block, at whose index its readers stand; those over its columns
  // are opened for whoever reads them.
  std::vector<std::int32_t> open_rows_of(const AxisTile& rows, const AxisTile& columns,
                                         std::int32_t ctx);
  std::vector<std::int32_t> open_columns_of_block();
  void own_index(const AxisTile& l, const std::vector<std::int32_t>& loops);
  ir::Access place_in_block();
  // The roots, from the block of the product.
  void store_block(const AxisTile& rows, const AxisTile& columns, std::int32_t ctx);

  // Operands (pack.cpp).
  // Whether the elements of different lines lie closest in memory, not those of one.
  bool lines_inside(std::int32_t operand, int lines_at, int lines, int sums_at, int sums) const;
  // What an operand of a product is packed as.
  DType multiplied(std::int32_t product, int operand) const;
  // Lines of an operand and what is summed of each into scratch, as that type.
  Packed pack_lines(std::int32_t operand, DType as, const AxisTile& l, int lines_at,
                    const AxisTile& s, int sums_at, std::int32_t ctx, bool repeated);
  // The loops over these, and the index in front of them.
  std::pair<Index, std::vector<CutLoops::Level>> levels_of_lines(std::int32_t operand,
                                                                 const AxisTile& l, int lines_at,
                                                                 ExprId line, const AxisTile& s,
                                                                 int sums_at, ExprId sum,
                                                                 bool lines_inside);
  ir::Panels panels(const Packed& p, ir::Access from = {}, bool columns = false);
  void push_product(const ir::Fragment& m, Val rows, Val columns, Val sums, std::int32_t ctx);
  void count_fragments(const Node& product);

  Values& values_;
  const RegionSpec& region_;
  Tile tile_;

 private:
  std::int32_t stored(std::int32_t root) const;
  std::optional<Dims> axes_in_product(std::int32_t root) const;
  void store_along(std::int32_t root, std::int32_t ctx);
  Val tile_element(std::int32_t id, const Index& idx);
  bool joins(std::int32_t operand, int axis, int behind, ExprId extent);
};

}  // namespace plait::fusion
