// Where NumPy's pairwise sums are split, for every backend.
#pragma once
#include <cstdint>

namespace plait {

#include "summation_tree.def"

// The same, of a dtype that is known when it runs.
struct TreeShape {
  bool complex = false;
  constexpr int accumulators() const { return complex ? ComplexTree::ways : RealTree::ways; }
  constexpr std::int64_t leaf_limit() const { return complex ? ComplexTree::leaf : RealTree::leaf; }
  constexpr std::int64_t left(std::int64_t n) const {
    return complex ? ComplexTree::left(n) : RealTree::left(n);
  }
};

}  // namespace plait
