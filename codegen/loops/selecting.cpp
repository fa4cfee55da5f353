#include "selecting.hpp"

namespace plait::loops {

#define PLAIT_DECLARE(tier)     \
  namespace tier {              \
  const Selecting& selecting(); \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

const Selecting& selecting(CpuTier tier) { PLAIT_AT_TIER(tier, selecting()); }

}  // namespace plait::loops
