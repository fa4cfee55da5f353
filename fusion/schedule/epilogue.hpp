// Contraction + epilogue: `a @ b + bias` and `a @ b + c` as one library call, where the target has
// such a call.
#pragma once
#include <vector>

#include "fusion/graph/plan_graph.hpp"
#include "fusion/lower/lower.hpp"

namespace plait::fusion {

// A sum that is computed by the library call of the matrix product which it alone reads.
struct Epilogue {
  std::int32_t product = -1, addend = -1;  // the MatMul is never in memory
  bool whole = false;                      // the addend lies as the product; else it is a vector
  explicit operator bool() const { return product >= 0; }
};

// One a node. The addend runs along the product's last axis and is the same for every row and
// batch; or it is whole: it lies in memory as the product would, and would do so anyway. (One that
// is computed for the sum alone is better computed by the kernel that adds it.)
std::vector<Epilogue> find_epilogues(const PlanGraph& g, const Target& target);

}  // namespace plait::fusion
