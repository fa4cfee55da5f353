// Folds in chunks: each grid iteration folds one chunk of the widest reduced axis into its own row
// of the partials.
#pragma once
#include "reductions.hpp"

namespace plait::fusion {

// What the grid iteration has of the axis that is cut.
Chunk chunk_of_grid(Nest& nest);

class ChunkedFolds : NestPart {
 public:
  ChunkedFolds(Nest& nest, Values& values, const RegionSpec& region, Reductions& reductions)
      : NestPart(nest), values_(values), region_(region), reductions_(reductions) {}
  void build();

 private:
  void part_by_walk(const std::vector<int>& reduced);

  Values& values_;
  const RegionSpec& region_;
  Reductions& reductions_;
};

}  // namespace plait::fusion
