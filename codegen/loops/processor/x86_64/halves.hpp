#pragma once
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace plait::loops::PLAIT_TIER {

#ifdef __F16C__
inline constexpr int kHalvesAtOnce = 8;
PLAIT_INLINE void widen_at_once(const char* from, float* to) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(load<__m128i>(from)));
}
PLAIT_INLINE void round_at_once(const float* from, char* to) {
  store(to, _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}
#else
inline constexpr int kHalvesAtOnce = 0;
inline void widen_at_once(const char*, float*) {}
inline void round_at_once(const float*, char*) {}
#endif

}  // namespace plait::loops::PLAIT_TIER
