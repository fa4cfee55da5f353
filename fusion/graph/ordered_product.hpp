// Products of floats are NumPy's to the bit: one factor after the other along the widest axes
// first, so that what overflows or vanishes on the way does so where it does in NumPy.
#pragma once
#include "plan_graph.hpp"

namespace plait::fusion {

// Whether the order of the factors shows.
bool multiplied_in_order(const Node& reduce);
// Whether one loop of the loop IR can go through the factors in that order, if they lie as the
// operand does: the reduced axes are one walk. A float16 product is rounded at the end of NumPy's
// innermost loop: that loop has to be all of it.
bool one_loop_multiplies(const Node& reduce);

}  // namespace plait::fusion
