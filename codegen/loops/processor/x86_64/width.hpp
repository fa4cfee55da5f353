#pragma once
#include <immintrin.h>

namespace plait::loops::PLAIT_TIER {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kTileRows = 14;  // of products, by two registers
inline constexpr bool kManyRegisters = true;
inline constexpr bool kConvertsUnsigned = true;  // between uint32 and floats
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kTileRows = 6;
inline constexpr bool kManyRegisters = false;
inline constexpr bool kConvertsUnsigned = false;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kTileRows = 4;
inline constexpr bool kManyRegisters = false;
inline constexpr bool kConvertsUnsigned = false;
#endif
// Vector functions are offered to JIT kernels; without fused multiply-add a call would not pay.
#if defined(__AVX2__)
inline constexpr bool kVectorCalls = true;
#else
inline constexpr bool kVectorCalls = false;
#endif

}  // namespace plait::loops::PLAIT_TIER
