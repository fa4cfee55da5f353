// Matrix products: which tiles multiply which operands.
#include "codegen/loops/product.hpp"

#include "codegen/loops/panels.hpp"
#include "codegen/loops/panels_of_groups.hpp"
#if defined(__AVX512F__)
#include "codegen/loops/processor/x86_64/panels_of_tiles.hpp"
#endif
#include "core/config.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T, class From>
constexpr Packing kPacking{pack<T, From>, gather<T, From>};

template <class T, class A = T, class B = T>
constexpr Product kFused{kRows,
                         kWidth<T>* kVectors,
                         1,
                         sizeof(T),
                         kProductDepth,
                         false,
                         block<Fused<T>>,
                         std::is_same_v<A, T>&& std::is_same_v<B, T> ? strided<Fused<T>> : nullptr,
                         kPacking<T, A>,
                         kPacking<T, B>};

// Signed or not: what wraps is the same.
template <class T, class From = T>
constexpr Product kWrapping{
    kRows, kWidth<T>* kVectors,  1,       sizeof(T),         kProductDepth,
    false, block<WholeWords<T>>, nullptr, kPacking<T, From>, kPacking<T, From>};

template <class A, class B>
constexpr Product kPairs{kRows,
                         kWidth<int>* kVectors,
                         2,
                         4,
                         2 * kProductDepth,
                         false,
                         block<Pairs>,
                         nullptr,
                         kPackingOfPairs<Pairs, A>,
                         kPackingOfPairs<Pairs, B>};

#if defined(__AVX512F__)
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
                         kPackingOfTiles<By, false>,
                         kPackingOfTiles<By, true>};
#endif

template <class A, class B>
const Product* bytes() {
#if defined(__AVX512F__)
  if (has_matrix_tiles()) return &kTiled<ByteTiles<A, B>>;
  if (__builtin_cpu_supports("avx512vnni")) return &kQuads<A, B>;
#endif
  return &kPairs<A, B>;
}
template <class A>
const Product* times_bytes(DType b) {
  if (b == DType::Int8) return bytes<A, std::int8_t>();
  return b == DType::UInt8 ? bytes<A, std::uint8_t>() : nullptr;
}

const Product* brains() {
#if defined(__AVX512F__)
  if (has_matrix_tiles()) return &kTiled<BrainTiles>;
  if (__builtin_cpu_supports("avx512bf16")) return &kBrainPairs;
#endif
  return &kFused<float, BFloat16, BFloat16>;
}

}  // namespace

const Product* product(DType a, DType b) {
  if (a == DType::Int8) return times_bytes<std::int8_t>(b);
  if (a == DType::UInt8) return times_bytes<std::uint8_t>(b);
  if (a == DType::Float16 && b == DType::Float32) return &kFused<float, Half, float>;
  if (a == DType::Float32 && b == DType::Float16) return &kFused<float, float, Half>;
  if (a == DType::BFloat16 && b == DType::Float32) return &kFused<float, BFloat16, float>;
  if (a == DType::Float32 && b == DType::BFloat16) return &kFused<float, float, BFloat16>;
  if (a != b) return nullptr;
  switch (a) {
    case DType::Float16:
      return &kFused<float, Half, Half>;
    case DType::BFloat16:
      return brains();
    case DType::Float32:
      return &kFused<float>;
    case DType::Float64:
      return &kFused<double>;
    case DType::Int16:
      return &kPairs<std::int16_t, std::int16_t>;
    case DType::UInt16:
      return &kWrapping<int, std::uint16_t>;
    case DType::Int32:
    case DType::UInt32:
      return &kWrapping<int>;
    case DType::Int64:
    case DType::UInt64:
      return &kWrapping<long long>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
