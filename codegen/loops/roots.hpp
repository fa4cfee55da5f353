// Square roots with a tail.
#pragma once
#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

PLAIT_INLINE Pair root(Pair a) {
  const vd g = sqrt(a.h);
  const vd divisor = select((vl)(g == 0.0), splat(1.0), g);
  return {g, (fma(-g, g, a.h) + a.l) * (0.5 / divisor)};
}

}  // namespace plait::loops::PLAIT_TIER
