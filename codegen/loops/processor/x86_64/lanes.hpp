#pragma once
#if !defined(__AVX2__)
#include "../lanes_by_one.hpp"
#endif

namespace plait::loops::PLAIT_TIER {
namespace {

#if defined(__AVX512F__)
template <class T>
struct Lanes {
  __mmask16 mask;
  explicit Lanes(std::int64_t count) : mask(static_cast<__mmask16>((1U << count) - 1)) {}
  vf load(const float* p) const { return _mm512_maskz_loadu_ps(mask, p); }
  vd load(const double* p) const { return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p); }
  vf load_factors(const float* p) const { return load(p); }
  vd load_factors(const double* p) const { return load(p); }
  void store(float* p, vf v) const { _mm512_mask_storeu_ps(p, mask, v); }
  void store(double* p, vd v) const { _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), v); }
  vf multiply_add(vf a, vf b, vf c) const { return _mm512_mask3_fmadd_ps(a, b, c, mask); }
  vd multiply_add(vd a, vd b, vd c) const {
    return _mm512_mask3_fmadd_pd(a, b, c, static_cast<__mmask8>(mask));
  }
};
#elif defined(__AVX2__)
template <class T>
struct Lanes {
  __m256i mask;
  explicit Lanes(std::int64_t count) {
    alignas(32) static constexpr std::int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const auto words = count * static_cast<std::int64_t>(sizeof(T) / 4);
    mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones + 8 - words));
  }
  vf load(const float* p) const { return _mm256_maskload_ps(p, mask); }
  vd load(const double* p) const { return _mm256_maskload_pd(p, mask); }
  vf load_factors(const float* p) const {
    return _mm256_blendv_ps(_mm256_broadcast_ss(p), load(p), _mm256_castsi256_ps(mask));
  }
  vd load_factors(const double* p) const {
    return _mm256_blendv_pd(_mm256_broadcast_sd(p), load(p), _mm256_castsi256_pd(mask));
  }
  void store(float* p, vf v) const { _mm256_maskstore_ps(p, mask, v); }
  void store(double* p, vd v) const { _mm256_maskstore_pd(p, mask, v); }
  template <class V>
  V multiply_add(V a, V b, V c) const {
    return fma(a, b, c);
  }
};
#endif

// Panels hold halves as Float32.
PLAIT_INLINE vf load(const Half* p) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#else
  vf v;
  for (int i = 0; i < kFloatLanes; ++i) v[i] = half_to_float(p[i].bits);
  return v;
#endif
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
