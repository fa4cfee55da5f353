// Kept rows: what several of a team's loops load of the same row (a standardise reads it three
// times) stays in shared memory from the first of them on, like a row buffer of the region's own.
#pragma once
#include "mapping.hpp"

namespace plait::cuda {

// Rows that loops under the chain load at the same addresses, iteration by iteration.
std::vector<KeptRow> find_rows(const ir::Kernel& k, const Nest& n);
// The kernel with those rows in locals: the first load of each stores to it, the others read it.
ir::Kernel keep_rows(ir::Kernel k, const Nest& n);

}  // namespace plait::cuda
