#pragma once
#include "../lanes_by_one.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Panels hold halves as Float32.
PLAIT_INLINE vf load(const Half* p) {
  float16x4_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return (vf)vcvt_f32_f16(v);
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
