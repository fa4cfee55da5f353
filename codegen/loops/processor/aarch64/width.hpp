#pragma once
#include <arm_neon.h>

namespace plait::loops::PLAIT_TIER {

inline constexpr int kVectorBytes = 16;
inline constexpr int kTileRows = 8;  // of products, by two registers
inline constexpr bool kManyRegisters = true;
inline constexpr bool kConvertsUnsigned = false;  // none that pays: 64-bit products are not there
inline constexpr bool kVectorCalls = true;        // offered to JIT kernels

}  // namespace plait::loops::PLAIT_TIER
