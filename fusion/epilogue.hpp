// Contraction + epilogue: `a @ b + bias` as one library call, where the target has such a call.
#pragma once
#include <vector>

#include "graph.hpp"
#include "lower.hpp"

namespace plait::fusion {

// A sum that is computed by the library call of the matrix product which it alone reads.
struct Epilogue {
  std::int32_t product = -1, bias = -1;  // the MatMul, which is never in memory; the vector
  explicit operator bool() const { return product >= 0; }
};

// One a node. The bias runs along the product's last axis and is the same for every row and batch.
std::vector<Epilogue> find_epilogues(const Graph& g, const Target& target);

}  // namespace plait::fusion
