#include "small_matrices.hpp"

#include "core/replaceable.hpp"

namespace plait::loops {

#define PLAIT_DECLARE(tier)                     \
  namespace tier {                              \
  const SmallMatrices* small_matrices(DType t); \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

PLAIT_REPLACEABLE const SmallMatrices* small_matrices(DType t, CpuTier tier) {
  PLAIT_AT_TIER(tier, small_matrices(t));
}

}  // namespace plait::loops
