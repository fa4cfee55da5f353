// Floating-point exceptions of what is computed with integers.
#pragma once
#include <cfenv>
#include <limits>

namespace plait::loops::PLAIT_TIER {

// By arithmetic, where the engine looks for them: in the vector unit. glibc's feraiseexcept raises
// overflow in the x87 unit.
inline void raise_flags(int flags) {
  if (flags & FE_OVERFLOW) {
    volatile float large = std::numeric_limits<float>::max();
    large = large * large;
  }
  if (flags & FE_UNDERFLOW) {
    volatile float small = std::numeric_limits<float>::min();
    small = small * small;
  }
  if (flags & (FE_INVALID | FE_DIVBYZERO)) std::feraiseexcept(flags & (FE_INVALID | FE_DIVBYZERO));
}

}  // namespace plait::loops::PLAIT_TIER
