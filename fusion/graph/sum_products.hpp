// Sums of products whose operands step evenly through the same two arrays, as a loop over the
// places of a filter writes them: `y = y + einsum(p[:, :, i:i+h, j:j+w], f[:, :, i, j])`. They are
// one product that sums over more axes; nothing is stored between the steps.
// They may begin with something else, as a bias.
#pragma once
#include "graph.hpp"

namespace plait::fusion {

// For the addition at the top of each such sum, a product that has its value.
std::vector<Graph::Instead> sum_products(const Graph& g);

}  // namespace plait::fusion
