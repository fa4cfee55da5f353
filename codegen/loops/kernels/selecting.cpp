// Masks in words of eight elements; with AVX-512 the selected ones of a word move to its front in
// one instruction.
#include "codegen/loops/selecting.hpp"

#include <bit>
#include <cstring>
#ifdef __AVX512BW__
#include <immintrin.h>
#endif

#include "core/fixed_size.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

std::uint64_t word(const std::byte* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
constexpr std::uint64_t kAll = 0x0101010101010101;

// each(i, k) for every true place i, the k-th one.
template <class F>
void for_each_true(const std::byte* mask, std::int64_t n, F&& each) {
  std::int64_t i = 0, k = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t w = word(mask + i);
    if (w == kAll) {
      for (std::int64_t j = 0; j < 8; ++j) each(i + j, k + j);
      k += 8;
      continue;
    }
    for (; w != 0; w &= w - 1) each(i + std::countr_zero(w) / 8, k++);
  }
  for (; i < n; ++i)
    if (mask[i] != std::byte{0}) each(i, k++);
}

std::int64_t count(const std::byte* mask, std::int64_t n) {
  std::int64_t c = 0, i = 0;
  for (; i + 8 <= n; i += 8) c += std::popcount(word(mask + i));
  for (; i < n; ++i) c += mask[i] != std::byte{0};
  return c;
}

#ifdef __AVX512BW__
// Writes no more than it selects: what follows may be another thread's.
std::int64_t compress_quads(const std::byte* mask, std::int64_t n, const std::byte* values,
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
  for (; i < n; ++i)
    if (mask[i] != std::byte{0}) std::memcpy(out + 4 * k++, values + i * 4, 4);
  return k;
}

template <class Values>
std::int64_t compress_octets(const std::byte* mask, std::int64_t n, Values&& values,
                             std::byte* out) {
  std::int64_t i = 0, k = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i m = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(mask + i));
    const auto on = static_cast<__mmask8>(_mm_test_epi8_mask(m, m));
    const int some = std::popcount(static_cast<unsigned>(on));
    const __m512i v = _mm512_maskz_compress_epi64(on, values(i));
    _mm512_mask_storeu_epi64(out + k * 8, static_cast<__mmask8>((1U << some) - 1), v);
    k += some;
  }
  return k;
}
#endif

void compress(std::size_t item, const std::byte* mask, std::int64_t n, const std::byte* values,
              std::byte* out) {
#ifdef __AVX512BW__
  if (item == 4) {
    compress_quads(mask, n, values, out);
    return;
  }
  if (item == 8) {
    const std::int64_t whole = n & ~std::int64_t{7};
    const std::int64_t k = compress_octets(
        mask, whole, [&](std::int64_t i) { return _mm512_loadu_si512(values + i * 8); }, out);
    out += k * 8;
    mask += whole;
    values += whole * 8;
    n -= whole;
  }
#endif
  with_fixed_size(item, [=](auto bytes) {
    for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) {
      std::memcpy(out + k * static_cast<std::int64_t>(bytes),
                  values + i * static_cast<std::int64_t>(bytes), bytes);
    });
  });
}

void expand(std::size_t item, const std::byte* mask, std::int64_t n, std::byte* values,
            const std::byte* from) {
  with_fixed_size(item, [=](auto bytes) {
    for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) {
      std::memcpy(values + i * static_cast<std::int64_t>(bytes),
                  from + k * static_cast<std::int64_t>(bytes), bytes);
    });
  });
}

void places(const std::byte* mask, std::int64_t n, std::int64_t first, std::int64_t* out) {
#ifdef __AVX512BW__
  const std::int64_t whole = n & ~std::int64_t{7};
  const __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const std::int64_t done = compress_octets(
      mask, whole,
      [&](std::int64_t i) { return _mm512_add_epi64(lanes, _mm512_set1_epi64(first + i)); },
      reinterpret_cast<std::byte*>(out));
  out += done;
  mask += whole;
  first += whole;
  n -= whole;
#endif
  for_each_true(mask, n, [=](std::int64_t i, std::int64_t k) { out[k] = first + i; });
}

}  // namespace

const Selecting& selecting() {
  static constexpr Selecting all{count, compress, expand, places};
  return all;
}

}  // namespace plait::loops::PLAIT_TIER
