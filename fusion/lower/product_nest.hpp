// A product as a region. The grid runs over blocks of its rows, and of its columns where a block
// has some of them. The lines of either operand that a block reads are placed in scratch: at the
// block, with all that is summed, or at a block of the sums; with what stands before them.
// Fragments sum into the block of the product, which what stands after it reads.
#pragma once
#include <optional>

#include "product_block.hpp"

namespace plait::fusion {

class ProductNest : public ProductBlock {
 public:
  ProductNest(Nest& nest, Values& values, const RegionSpec& region)
      : ProductBlock(nest, values, region) {}
  void build();

 private:
  Val finished(Val sum, std::int32_t, const Index&) override { return sum; }
  bool keeps_rows(const Node& product) const;
  bool reads_once() const;
  bool reads_product(std::int32_t id) const;
  std::int32_t first_product() const;
  void size_block(AxisTile& rows, AxisTile& columns);
  std::int32_t open_blocks(std::int32_t parent, ExprId extent, std::int64_t most);
  void multiply(std::int32_t product, const std::optional<Packed>& a,
                const std::optional<Packed>& b, const AxisTile& rows, const AxisTile& columns,
                std::int32_t ctx, bool adds);
  void start_block(std::int32_t local, std::int32_t value, const AxisTile& rows,
                   const AxisTile& columns, std::int32_t ctx);
  // Of few rows (few_rows.cpp).
  bool streams(std::int32_t product) const;
  void multiply_streamed(std::int32_t product, const AxisTile& rows, const AxisTile& columns,
                         std::int32_t ctx, bool adds);
};

}  // namespace plait::fusion
