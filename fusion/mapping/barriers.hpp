// Where threads of a block wait for each other.
#pragma once
#include "ir/ir.hpp"

namespace plait::mapping {

// Of a kernel whose loops say who takes them and whose locals say where they lie: a barrier stands
// before whatever touches what another thread may have written since the last one, or writes what
// another one may have read. Iterations of the grid follow each other in one block, and in one
// memory. Threads that take the iterations of a loop do not wait for each other in it, but those of
// a warp do where warps take them.
void place_barriers(ir::Kernel& k);

}  // namespace plait::mapping
