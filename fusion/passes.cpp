#include "passes.hpp"

#include <algorithm>

namespace plait::fusion {

void run_passes(const LoweringInput& in, LoweredKernel& k) {
  eliminate_common(k.kernel);
  collapse(in, k);
  fuse_siblings(k);
  eliminate_common(k.kernel);
  if (in.target.lanes) {
    vectorize(in, k);
    tile(in, k);
    pack_loads(in, k);
  }
  compact(k.kernel);
  k.planned_grid = std::max<std::int64_t>(1, concrete(in, k.grid_extent));
  ir::verify(k.kernel);
}

}  // namespace plait::fusion
