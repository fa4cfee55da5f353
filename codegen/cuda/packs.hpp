// Packs: a thread takes up to 16 bytes of neighbours along the innermost flattened loop and moves
// them by one access. What lies at no multiple of a pack, and the ends of rows, goes by elements,
// which a launch decides from addresses and strides.
#pragma once
#include "program.hpp"

namespace plait::cuda {

// Marks the accesses of the nest's innermost loop that packs move; sets Nest::pack.
void find_packs(const ir::Kernel& k, Nest& n);

// How rows are cut into packs in one launch. The first pack starts `lead` elements before the row,
// so that the results are stored at multiples of a pack; bit i of `aligned` says that the i-th
// packed access is, too.
struct Packs {
  std::int64_t in_row, lead, aligned;
};
Packs cut_into_packs(const Program& p, const ir::CallArgs& args, std::int64_t begin,
                     std::int64_t end);

}  // namespace plait::cuda
