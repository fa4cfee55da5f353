// Sums. Floats follow NumPy's pairwise tree bit for bit: below 8 elements in order from -0.0, to
// 128 eight accumulators, above that halves cut at a multiple of 8. Eight accumulators are one
// vector, so that the order of the tree costs nothing.
#include <algorithm>

#include "codegen/loops/half_blocks.hpp"
#include "core/summation_tree.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
struct Eight {
  typedef T type __attribute__((vector_size(8 * sizeof(T)), aligned(alignof(T)), may_alias));
};

template <class T>
T strided_leaf(const char* p, std::int64_t stride, std::int64_t n) {
  const auto at = [p, stride](std::int64_t i) { return load<T>(p + i * stride); };
  std::int64_t i = 0;
  T result = T(-0.0);
  if (n >= 8) {
    T r[8];
    for (int k = 0; k < 8; ++k) r[k] = at(k);
    for (i = 8; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += at(i + k);
    result = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) result += at(i);
  return result;
}
template <class T>
T dense_leaf(const char* p, std::int64_t n) {
  using V = typename Eight<T>::type;
  auto* a = reinterpret_cast<const T*>(p);
  std::int64_t i = 0;
  T result = T(-0.0);
  if (n >= 8) {
    V r = *reinterpret_cast<const V*>(a);
    for (i = 8; i + 8 <= n; i += 8) r += *reinterpret_cast<const V*>(a + i);
    result = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; ++i) result += a[i];
  return result;
}

template <class T>
T pairwise(const char* p, std::int64_t stride, std::int64_t n) {
  if (n <= 128) return stride == sizeof(T) ? dense_leaf<T>(p, n) : strided_leaf<T>(p, stride, n);
  const std::int64_t half = RealTree::left(n);
  return pairwise<T>(p, stride, half) + pairwise<T>(p + half * stride, stride, n - half);
}

template <class T>
void sum(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  if (n > 0) store<T>(acc, load<T>(acc) + pairwise<T>(static_cast<const char*>(in), stride, n));
}

// Complex values: the tree counts parts, real and imaginary ones alternate over the accumulators.
template <class T>
Complex<T> complex_pairwise(const char* p, std::int64_t stride, std::int64_t n) {
  using Z = Complex<T>;
  const auto at = [p, stride](std::int64_t i) { return load<Z>(p + i * stride); };
  const auto add = [](Z a, Z b) { return Z{a.re + b.re, a.im + b.im}; };
  if (n > 64) {
    // NumPy halves the number of parts and cuts that at a multiple of 8: 4 values.
    const std::int64_t half = ComplexTree::left(n);
    return add(complex_pairwise<T>(p, stride, half),
               complex_pairwise<T>(p + half * stride, stride, n - half));
  }
  Z result{T(-0.0), T(-0.0)};
  std::int64_t i = 0;
  if (n >= 4) {
    Z r[4] = {at(0), at(1), at(2), at(3)};
    for (i = 4; i < n - n % 4; i += 4)
      for (int k = 0; k < 4; ++k) r[k] = add(r[k], at(i + k));
    result = add(add(r[0], r[1]), add(r[2], r[3]));
  }
  for (; i < n; ++i) result = add(result, at(i));
  return result;
}
template <class T>
void complex_sum(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  if (n <= 0) return;
  const auto a = load<Complex<T>>(acc);
  const auto b = complex_pairwise<T>(static_cast<const char*>(in), stride, n);
  store<Complex<T>>(acc, {a.re + b.re, a.im + b.im});
}

float half_pairwise(const char* p, std::int64_t stride, std::int64_t n) {
  if (n <= 128) {
    float block[128];
    widen_halves(p, stride, block, n);
    return dense_leaf<float>(reinterpret_cast<const char*>(block), n);
  }
  const std::int64_t half = RealTree::left(n);
  return half_pairwise(p, stride, half) + half_pairwise(p + half * stride, stride, n - half);
}
void half_sum(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  if (n > 0)
    store<float>(acc, load<float>(acc) + half_pairwise(static_cast<const char*>(in), stride, n));
}

template <class T>
void integer_sum(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  T total = load<T>(acc);
  if (stride == sizeof(T)) {
    auto* a = static_cast<const T*>(in);
    for (std::int64_t i = 0; i < n; ++i) total = T(total + a[i]);
  } else {
    auto* p = static_cast<const char*>(in);
    for (std::int64_t i = 0; i < n; ++i) total = T(total + load<T>(p + i * stride));
  }
  store<T>(acc, total);
}

}  // namespace

ReduceFn sum(DType t) {
  switch (as_unsigned(t)) {
    case DType::UInt8:
      return t == DType::Bool ? nullptr : &integer_sum<std::uint8_t>;
    case DType::UInt16:
      return &integer_sum<std::uint16_t>;
    case DType::UInt32:
      return &integer_sum<std::uint32_t>;
    case DType::UInt64:
      return &integer_sum<std::uint64_t>;
    case DType::Float16:
      return &half_sum;
    case DType::Float32:
      return &sum<f32>;
    case DType::Float64:
      return &sum<f64>;
    case DType::Complex64:
      return &complex_sum<f32>;
    case DType::Complex128:
      return &complex_sum<f64>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
