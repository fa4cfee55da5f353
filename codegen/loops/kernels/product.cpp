// Matrix products: which tiles multiply which operands.
#include "codegen/loops/product.hpp"

#include "codegen/loops/panels.hpp"
#include "codegen/loops/panels_of_groups.hpp"
#include "codegen/loops/processor/panels.hpp"

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

template <class A, class B>
const Product* bytes() {
  const Product* own = product_of_bytes<A, B>();
  return own ? own : &kPairs<A, B>;
}
template <class A>
const Product* times_bytes(DType b) {
  if (b == DType::Int8) return bytes<A, std::int8_t>();
  return b == DType::UInt8 ? bytes<A, std::uint8_t>() : nullptr;
}

const Product* brains() {
  const Product* own = product_of_brains();
  return own ? own : &kFused<float, BFloat16, BFloat16>;
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
