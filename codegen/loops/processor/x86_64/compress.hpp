#pragma once
#if !defined(__AVX512BW__)
#include "../no_compress.hpp"
#else
#include <immintrin.h>

#include <bit>

namespace plait::loops::PLAIT_TIER {
namespace {

Compressed compress_quads(const std::byte* mask, std::int64_t n, const std::byte* values,
                          std::byte* out) {
  std::int64_t i = 0, k = 0;
  for (; i + 16 <= n; i += 16) {
    const __m128i m = _mm_loadu_si128(reinterpret_cast<const __m128i*>(mask + i));
    const auto on = static_cast<__mmask16>(_mm_test_epi8_mask(m, m));
    const int some = std::popcount(static_cast<unsigned>(on));
    const __m512i v = _mm512_maskz_compress_epi32(on, _mm512_loadu_si512(values + i * 4));
    _mm512_mask_storeu_epi32(out + k * 4, static_cast<__mmask16>((1U << some) - 1), v);
    k += some;
  }
  return {i, k};
}

template <class Values>
Compressed compress_octets(const std::byte* mask, std::int64_t n, Values&& values, void* out) {
  auto* to = static_cast<std::byte*>(out);
  std::int64_t i = 0, k = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i m = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(mask + i));
    const auto on = static_cast<__mmask8>(_mm_test_epi8_mask(m, m));
    const int some = std::popcount(static_cast<unsigned>(on));
    const __m512i v = _mm512_maskz_compress_epi64(on, values(i));
    _mm512_mask_storeu_epi64(to + k * 8, static_cast<__mmask8>((1U << some) - 1), v);
    k += some;
  }
  return {i, k};
}

Compressed compress_at_once(std::size_t item, const std::byte* mask, std::int64_t n,
                            const std::byte* values, std::byte* out) {
  if (item == 4) return compress_quads(mask, n, values, out);
  if (item != 8) return {};
  return compress_octets(
      mask, n, [&](std::int64_t i) { return _mm512_loadu_si512(values + i * 8); }, out);
}

Compressed places_at_once(const std::byte* mask, std::int64_t n, std::int64_t first,
                          std::int64_t* out) {
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  return compress_octets(
      mask, n,
      [&](std::int64_t i) { return _mm512_add_epi64(lanes, _mm512_set1_epi64(first + i)); }, out);
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
#endif
