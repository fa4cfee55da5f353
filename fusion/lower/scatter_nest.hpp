// Combining by index: one loop over the indices, in pieces, for all tables.
#pragma once
#include "recomputation.hpp"

namespace plait::fusion {

class ScatterNest : NestPart {
 public:
  ScatterNest(Nest& nest, Values& values, const RegionSpec& region, NodeCosts& costs)
      : NestPart(nest), values_(values), region_(region), costs_(costs) {}
  void build();

 private:
  void start_table(std::int32_t root, std::int32_t table, ExprId outputs);
  void scatter_row(std::int32_t root, std::int32_t table, const AxisIndex& row, Val at);
  bool lanes_along_rows() const;

  Values& values_;
  const RegionSpec& region_;
  NodeCosts& costs_;
};

}  // namespace plait::fusion
