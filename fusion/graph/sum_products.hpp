// Sums of products whose operands step evenly through the same two arrays, as a loop over the
// places of a filter writes them: `y = y + einsum(p[:, :, i:i+h, j:j+w], f[:, :, i, j])`. They are
// one product that sums over more axes; nothing is stored between the steps.
#pragma once
#include "graph.hpp"

namespace plait::fusion {

// Turns the additions at the top of such sums into products, in place. Returns whether there were
// any: the graph then has to be walked again.
bool sum_products(Graph& g);

}  // namespace plait::fusion
