// How a loop nest is spread over the threads of a grid: the outer loops are flattened into one,
// whose iterations the threads take in grid strides; a thread runs all that stands below by itself.
#pragma once
#include <vector>

#include "codegen/ir/ir.hpp"
#include "cuda.hpp"

namespace plait::cuda {

// What does not depend on extents.
struct Nest {
  std::vector<std::int32_t> chain;  // loops that are flattened, outermost first; chain[0] is 0
  bool computed_index = false;      // an address depends on a value that no extent bounds
};
Nest analyse_nest(const ir::Kernel& k);

// Whether some index, loop count or byte offset may pass 31 bits.
bool needs_wide(const ir::Kernel& k, const Nest& n, const Extents& e);
// Iterations of the flattened loop.
std::int64_t iterations(const ir::Kernel& k, const Nest& n, const Extents& e);

bool is_tree(const ir::Kernel& k, const ir::Reduction& r);  // a float sum in NumPy's order
bool is_arg(const ir::Reduction& r);

}  // namespace plait::cuda
