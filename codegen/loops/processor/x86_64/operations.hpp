#pragma once
#include <bit>
#include <cstdint>

namespace plait::loops::PLAIT_TIER {

#if defined(__AVX512F__)
PLAIT_INLINE vd fma(vd a, vd b, vd c) { return _mm512_fmadd_pd(a, b, c); }
PLAIT_INLINE vf fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
PLAIT_INLINE vd sqrt(vd a) { return _mm512_maskz_sqrt_pd(0xff, a); }
PLAIT_INLINE vf sqrt(vf a) { return _mm512_maskz_sqrt_ps(0xffff, a); }
PLAIT_INLINE bool any(vl m) { return _mm512_movepi64_mask((__m512i)m) != 0; }
PLAIT_INLINE bool any(vi m) { return _mm512_movepi32_mask((__m512i)m) != 0; }
#elif defined(__AVX2__)
PLAIT_INLINE vd fma(vd a, vd b, vd c) { return _mm256_fmadd_pd(a, b, c); }
PLAIT_INLINE vf fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
PLAIT_INLINE vd sqrt(vd a) { return _mm256_sqrt_pd(a); }
PLAIT_INLINE vf sqrt(vf a) { return _mm256_sqrt_ps(a); }
PLAIT_INLINE bool any(vl m) { return _mm256_movemask_pd((__m256d)m) != 0; }
PLAIT_INLINE bool any(vi m) { return _mm256_movemask_ps((__m256)m) != 0; }
#else
PLAIT_INLINE vd fma(vd a, vd b, vd c) {
  return vd{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
PLAIT_INLINE vf fma(vf a, vf b, vf c) {
  vf r;
  for (int i = 0; i < kFloatLanes; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
}
PLAIT_INLINE vd sqrt(vd a) { return vd{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
PLAIT_INLINE vf sqrt(vf a) { return _mm_sqrt_ps(a); }
PLAIT_INLINE bool any(vl m) { return (m[0] | m[1]) != 0; }
PLAIT_INLINE bool any(vi m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
#endif
#if defined(__AVX512F__)
PLAIT_INLINE vf_half fma(vf_half a, vf_half b, vf_half c) { return _mm256_fmadd_ps(a, b, c); }
PLAIT_INLINE vf_half sqrt(vf_half a) { return _mm256_sqrt_ps(a); }
#elif defined(__AVX2__)
PLAIT_INLINE vf_half fma(vf_half a, vf_half b, vf_half c) { return _mm_fmadd_ps(a, b, c); }
PLAIT_INLINE vf_half sqrt(vf_half a) { return _mm_sqrt_ps(a); }
#else
PLAIT_INLINE vf_half fma(vf_half a, vf_half b, vf_half c) {
  return vf_half{__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1])};
}
PLAIT_INLINE vf_half sqrt(vf_half a) {
  return vf_half{__builtin_sqrtf(a[0]), __builtin_sqrtf(a[1])};
}
#endif

// a * b - c in even lanes, a * b + c in odd ones, rounded once where the tier has fused
// multiply-add.
#if defined(__AVX512F__)
PLAIT_INLINE vd fma_alternating(vd a, vd b, vd c) { return _mm512_fmaddsub_pd(a, b, c); }
PLAIT_INLINE vf fma_alternating(vf a, vf b, vf c) { return _mm512_fmaddsub_ps(a, b, c); }
#elif defined(__AVX2__)
PLAIT_INLINE vd fma_alternating(vd a, vd b, vd c) { return _mm256_fmaddsub_pd(a, b, c); }
PLAIT_INLINE vf fma_alternating(vf a, vf b, vf c) { return _mm256_fmaddsub_ps(a, b, c); }
#else
PLAIT_INLINE vd fma_alternating(vd a, vd b, vd c) { return _mm_addsub_pd(a * b, c); }
PLAIT_INLINE vf fma_alternating(vf a, vf b, vf c) { return _mm_addsub_ps(a * b, c); }
#endif

// Products of the low halves of 64-bit lanes.
PLAIT_INLINE vul low_products(vul a, vul b) {
#if defined(__AVX512F__)
  return (vul)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (vul)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
  return (vul)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

// table[index] of 32 floats, a lane.
PLAIT_INLINE vf look_up(const float (&table)[32], vi index) {
#if defined(__AVX512F__)
  return _mm512_permutex2var_ps(_mm512_loadu_ps(table), (__m512i)index,
                                _mm512_loadu_ps(table + 16));
#elif defined(__AVX2__)
  const auto eighth = [&](int i) {
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8 * i), (__m256i)index);
  };
  const __m256 odd = (__m256)(index << 28), high = (__m256)(index << 27);
  return _mm256_blendv_ps(_mm256_blendv_ps(eighth(0), eighth(1), odd),
                          _mm256_blendv_ps(eighth(2), eighth(3), odd), high);
#else
  vf r;
  for (int i = 0; i < kFloatLanes; ++i) r[i] = table[index[i]];
  return r;
#endif
}

// What the low four bits of each lane select.
PLAIT_INLINE vd look_up(const double (&table)[16], vl index) {
#if defined(__AVX512F__)
  return _mm512_permutex2var_pd(_mm512_load_pd(table), (__m512i)index, _mm512_load_pd(table + 8));
#elif defined(__AVX2__)
  return _mm256_i64gather_pd(table, (__m256i)(index & 15), 8);
#else
  return vd{table[index[0] & 15], table[index[1] & 15]};
#endif
}

// The first lane that is set.
template <class V>
PLAIT_INLINE int first_set(V mask) {
  constexpr int size = sizeof(mask[0]);
#if defined(__AVX512F__)
  const auto m = (__m512i)mask;
  if constexpr (size == 1) return std::countr_zero(std::uint64_t(_mm512_movepi8_mask(m)));
  if constexpr (size == 2) return std::countr_zero(std::uint32_t(_mm512_movepi16_mask(m)));
  if constexpr (size == 4) return std::countr_zero(std::uint16_t(_mm512_movepi32_mask(m)));
  return std::countr_zero(std::uint8_t(_mm512_movepi64_mask(m)));
#elif defined(__AVX2__)
  return std::countr_zero(unsigned(_mm256_movemask_epi8((__m256i)mask))) / size;
#else
  return std::countr_zero(unsigned(_mm_movemask_epi8((__m128i)mask))) / size;
#endif
}

// Products of pairs of 16 bits, each pair added.
PLAIT_INLINE vi multiply_pairs(vi x, vi y) {
#if defined(__AVX512F__)
  return (vi)_mm512_madd_epi16((__m512i)x, (__m512i)y);
#elif defined(__AVX2__)
  return (vi)_mm256_madd_epi16((__m256i)x, (__m256i)y);
#else
  return (vi)_mm_madd_epi16((__m128i)x, (__m128i)y);
#endif
}

}  // namespace plait::loops::PLAIT_TIER
