#pragma once
#include <bit>
#include <cstdint>

namespace plait::loops::PLAIT_TIER {

PLAIT_INLINE vd fma(vd a, vd b, vd c) {
  return (vd)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
PLAIT_INLINE vf fma(vf a, vf b, vf c) {
  return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
PLAIT_INLINE vd sqrt(vd a) { return (vd)vsqrtq_f64((float64x2_t)a); }
PLAIT_INLINE vf sqrt(vf a) { return (vf)vsqrtq_f32((float32x4_t)a); }
PLAIT_INLINE bool any(vl m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
PLAIT_INLINE bool any(vi m) { return vmaxvq_u32((uint32x4_t)m) != 0; }
PLAIT_INLINE vf_half fma(vf_half a, vf_half b, vf_half c) {
  return (vf_half)vfma_f32((float32x2_t)c, (float32x2_t)a, (float32x2_t)b);
}
PLAIT_INLINE vf_half sqrt(vf_half a) { return (vf_half)vsqrt_f32((float32x2_t)a); }

// a * b - c in even lanes, a * b + c in odd ones, rounded once.
PLAIT_INLINE vd fma_alternating(vd a, vd b, vd c) {
  const vl sign = {static_cast<long long>(0x8000000000000000), 0};
  return fma(a, b, (vd)((vl)c ^ sign));
}
PLAIT_INLINE vf fma_alternating(vf a, vf b, vf c) {
  const vu sign = {0x80000000, 0, 0x80000000, 0};
  return fma(a, b, (vf)((vu)c ^ sign));
}

// Products of the low halves of 64-bit lanes.
PLAIT_INLINE vul low_products(vul a, vul b) {
  return (vul)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}

// table[index] of 32 floats, a lane.
PLAIT_INLINE vf look_up(const float (&table)[32], vi index) {
  return vf{table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
}
// What the low four bits of each lane select.
PLAIT_INLINE vd look_up(const double (&table)[16], vl index) {
  return vd{table[index[0] & 15], table[index[1] & 15]};
}

// The first lane that is set: four bits of each byte, side by side.
template <class V>
PLAIT_INLINE int first_set(V mask) {
  constexpr int size = sizeof(mask[0]);
  const uint8x8_t nibbles = vshrn_n_u16((uint16x8_t)mask, 4);
  return std::countr_zero(vget_lane_u64((uint64x1_t)nibbles, 0)) / (4 * size);
}

// Products of pairs of 16 bits, each pair added.
PLAIT_INLINE vi multiply_pairs(vi x, vi y) {
  const auto a = (int16x8_t)x, b = (int16x8_t)y;
  return (vi)vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
}

}  // namespace plait::loops::PLAIT_TIER
