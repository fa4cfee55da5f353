#pragma once
#include <arm_neon.h>

namespace plait::loops::PLAIT_TIER {

inline constexpr int kHalvesAtOnce = 4;
PLAIT_INLINE void widen_at_once(const char* from, float* to) {
  vst1q_f32(to, vcvt_f32_f16(load<float16x4_t>(from)));
}
PLAIT_INLINE void round_at_once(const float* from, char* to) {
  store(to, vcvt_f16_f32(vld1q_f32(from)));
}

}  // namespace plait::loops::PLAIT_TIER
