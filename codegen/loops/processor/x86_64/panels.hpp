#pragma once
#if !defined(__AVX512F__)
#include "../no_panels.hpp"
#else
#include "core/config.hpp"
#include "panels_of_tiles.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Unsigned bytes times signed ones. An instruction that the tier does not imply: the flags have it
// not, and product() asks the processor.
struct Quads : Panelled<int> {
  using Element = std::int8_t;
  static constexpr std::int64_t kGroup =
      fragment_shape(FragmentUnit::Lane, DType::UInt8, DType::Int8)->k;
  static constexpr bool kLastFirst = false;
  static constexpr bool kStarts = true;
  PLAIT_INLINE static vi whole(vi x, vi y, vi s) {
    asm("vpdpbusd %2, %1, %0" : "+v"(s) : "v"(x), "v"(y));
    return s;
  }
};
// Of bfloat16, as their bits. The instruction adds the product of the upper halves of its words
// first and rounds after each, so that sums are those of float32 where the first element along k is
// the upper one; but subnormal numbers count as zero.
struct BrainPairs : Panelled<float> {
  using Element = std::int16_t;
  static constexpr std::int64_t kGroup =
      fragment_shape(FragmentUnit::Lane, DType::BFloat16, DType::BFloat16)->k;
  static constexpr bool kLastFirst = true;
  PLAIT_INLINE static vf whole(vf x, vf y, vf s) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(s) : "v"(x), "v"(y));
    return s;
  }
};

// Quads multiply unsigned bytes of A by signed ones of B: a = a' - 128 where A is signed, and
// b = b' + 128 where B is not. So a sum of a * b is that of a' * b', less 128 times the sum of b'
// of its column, and 128 times the sum of a of its row, which panels start with.
template <bool kSigned, bool kTimesUnsigned>
struct BytesOfA {
  template <class By>
  static void finish(int* out, std::int64_t k, std::int64_t width) {
    finish_bytes(
        out, (k + 3) / 4, width,
        [](vi& v, vi sum, bool) {
          const vi ones = vi{} + 0x01010101;
          if constexpr (kTimesUnsigned)
            sum = kSigned ? By::whole(ones, v, sum) : By::whole(v, ones, sum);
          if constexpr (kSigned) v ^= static_cast<int>(0x80808080);
          return sum;
        },
        128);
  }
  template <class Change>
  static void finish_bytes(int* out, std::int64_t words, std::int64_t width, Change change,
                           int factor) {
    constexpr std::int64_t n = kWidth<int>;
    for (std::int64_t w = 0; w < width; w += n) {
      const Lanes<int> lanes(std::min(n, width - w));
      vi sum{};
      for (std::int64_t q = 0; q < words; ++q) {
        int* at = out + (q + 1) * width + w;
        vi v = lanes.load(at);
        sum = change(v, sum, q == words - 1);
        lanes.store(at, v);
      }
      lanes.store(out + w, (vi)((vu)sum * static_cast<unsigned>(factor)));
    }
  }
};
template <bool kSigned, bool kTimesSigned>
struct BytesOfB {
  template <class By>
  static void finish(int* out, std::int64_t k, std::int64_t width) {
    // What pads the last word stays zero, whatever A has there.
    const int there = k % 4 == 0 ? -1 : static_cast<int>((1U << k % 4 * 8) - 1);
    BytesOfA<false, false>::finish_bytes(
        out, (k + 3) / 4, width,
        [there](vi& v, vi sum, bool last) {
          if constexpr (!kSigned) v = (v ^ static_cast<int>(0x80808080)) & (last ? there : -1);
          if constexpr (kTimesSigned) sum = By::whole(vi{} + 0x01010101, v, sum);
          return sum;
        },
        -128);
  }
};

template <class From, class Finish>
constexpr Packing kPackingOfQuads{pack_groups<Quads, From, Finish>,
                                  gather_groups<Quads, From, Finish>};

// As deep as Float32's: the same sums.
constexpr Product kBrainPairs{kRows,
                              kWidth<float>* kVectors,
                              2,
                              4,
                              kProductDepth,
                              false,
                              block<BrainPairs>,
                              nullptr,
                              kPackingOfPairs<BrainPairs, std::uint16_t>,
                              kPackingOfPairs<BrainPairs, std::uint16_t>};

template <class A, class B>
constexpr Product kQuads{kRows,
                         kWidth<int>* kVectors,
                         4,
                         4,
                         4 * kProductDepth,
                         true,
                         block<Quads>,
                         nullptr,
                         kPackingOfQuads<A, BytesOfA<std::is_signed_v<A>, !std::is_signed_v<B>>>,
                         kPackingOfQuads<B, BytesOfB<std::is_signed_v<B>, std::is_signed_v<A>>>};

// Deep blocks, as sums come and go by whole tiles: those of a panel take half as long as it does at
// a quarter of this depth.
template <class By>
constexpr Product kTiled{kPanelLines,
                         kPanelLines,
                         By::kGroup,
                         kTileBytes,
                         32 * By::kGroup,
                         false,
                         block_of_tiles<By>,
                         nullptr,
                         kPackingOfTiles<typename By::Packed, false>,
                         kPackingOfTiles<typename By::Packed, true>};

template <class A, class B>
const Product* product_of_bytes() {
  if (has_matrix_tiles()) return &kTiled<ByteTiles<A, B>>;
  return __builtin_cpu_supports("avx512vnni") ? &kQuads<A, B> : nullptr;
}
const Product* product_of_brains() {
  if (has_matrix_tiles()) return &kTiled<BrainTiles>;
  return __builtin_cpu_supports("avx512bf16") ? &kBrainPairs : nullptr;
}

}  // namespace
}  // namespace plait::loops::PLAIT_TIER
#endif
