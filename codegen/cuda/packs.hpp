#pragma once
#include "program.hpp"

namespace plait::cuda {

// How rows are cut into packs in one launch. The first pack starts `lead` elements before the row,
// so that the results are stored at multiples of a pack; bit i of `aligned` says that the i-th
// packed access is, too. Where some are not, packs of long rows are spread: element k of a thread's
// lies 32 k beyond the first, so that a warp reads and writes neighbours by elements. Each 32 packs
// of a row are a warp's then, and `lead` is up to where a warp's results begin.
struct Packs {
  std::int64_t in_row, lead, aligned, spread;
};
Packs cut_into_packs(const Program& p, const ir::CallArgs& args, std::int64_t begin,
                     std::int64_t end);

}  // namespace plait::cuda
