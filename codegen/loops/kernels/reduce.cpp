// Folds other than sums.
#include <cmath>

#include "codegen/loops/half_blocks.hpp"
#include "codegen/loops/orders.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T, class F>
PLAIT_INLINE void fold(void* acc, const void* in, std::int64_t stride, std::int64_t n, F f) {
  T a = load<T>(acc);
  if (stride == sizeof(T)) {
    auto* p = static_cast<const T*>(in);
    for (std::int64_t i = 0; i < n; ++i) a = f(a, p[i]);
  } else {
    auto* p = static_cast<const char*>(in);
    for (std::int64_t i = 0; i < n; ++i) a = f(a, load<T>(p + i * stride));
  }
  store<T>(acc, a);
}

// In order, one at a time, as NumPy multiplies.
template <class T>
void product(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  fold<T>(acc, in, stride, n, [](T a, T b) -> T {
    if constexpr (sizeof(T) == 2)
      return T(std::uint32_t(a) * std::uint32_t(b));
    else
      return T(a * b);
  });
}
// Rounded once, as in NumPy's loop.
void half_product(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  float product = half_to_float(load<std::uint16_t>(acc));
  auto* p = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < n; ++i)
    product *= half_to_float(load<std::uint16_t>(p + i * stride));
  store<std::uint16_t>(acc, float_to_half(product));
}

template <class T, class Order>
void ordered_fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  const QuietFlags quiet;
  fold<T>(acc, in, stride, n, [](T a, T b) { return Order::better(b, a) ? b : a; });
}
template <class T, bool kMax>
void extreme(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  if (stride != sizeof(T)) return ordered_fold<T, Propagating<T, kMax>>(acc, in, stride, n);
  const QuietFlags quiet;
  store<T>(acc, contiguous_extreme<T, kMax>(static_cast<const T*>(in), n, load<T>(acc)));
}
template <class Order>
void half_fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  using H = std::uint16_t;
  const QuietFlags quiet;
  fold<H>(acc, in, stride, n,
          [](H a, H b) { return Order::better(half_to_float(b), half_to_float(a)) ? b : a; });
}

template <class T>
bool truth(T a) {
  if constexpr (requires { a.re; })
    return (a.re != 0) | (a.im != 0);
  else
    return a != 0;
}
// The accumulator is a Bool byte whatever is tested. Bytes are tested in lanes of bytes.
template <class T, bool kAny>
void truth_fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  using Lane = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint32_t>;
  constexpr std::int64_t kBlock = 2048 / static_cast<std::int64_t>(sizeof(T));
  auto* p = static_cast<const char*>(in);
  bool found = load<std::uint8_t>(acc) != (kAny ? 0 : 1);
  for (std::int64_t begin = 0; begin < n && !found; begin += kBlock) {
    const std::int64_t end = begin + kBlock < n ? begin + kBlock : n;
    Lane any = 0;
    if (stride == sizeof(T)) {
      auto* a = static_cast<const T*>(in);
      for (std::int64_t i = begin; i < end; ++i) any |= static_cast<Lane>(truth(a[i]) == kAny);
    } else {
      for (std::int64_t i = begin; i < end; ++i)
        any |= static_cast<Lane>(truth(load<T>(p + i * stride)) == kAny);
    }
    found = any != 0;
  }
  store<std::uint8_t>(acc, found == kAny);
}
// A half is false only as 0 or -0.
template <bool kAny>
void half_truth_fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  auto* p = static_cast<const char*>(in);
  std::uint8_t a = load<std::uint8_t>(acc);
  for (std::int64_t i = 0; i < n; ++i) {
    const bool t = (load<std::uint16_t>(p + i * stride) & 0x7fff) != 0;
    a = kAny ? a | t : a & t;
  }
  store<std::uint8_t>(acc, a);
}

template <class T>
void bit_and(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  fold<T>(acc, in, stride, n, [](T a, T b) { return T(a & b); });
}
template <class T>
void bit_or(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  fold<T>(acc, in, stride, n, [](T a, T b) { return T(a | b); });
}
template <class T>
void bit_xor(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  fold<T>(acc, in, stride, n, [](T a, T b) { return T(a ^ b); });
}

template <class T>
ReduceFn bitwise(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      return &product<T>;
    case ReduceKind::Any:
      return &truth_fold<T, true>;
    case ReduceKind::All:
      return &truth_fold<T, false>;
    case ReduceKind::BitAnd:
      return &bit_and<T>;
    case ReduceKind::BitOr:
      return &bit_or<T>;
    case ReduceKind::BitXor:
      return &bit_xor<T>;
    default:
      return nullptr;
  }
}
template <class T>
ReduceFn integer(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Min:
    case ReduceKind::FMin:
      return &extreme<T, false>;
    case ReduceKind::Max:
    case ReduceKind::FMax:
      return &extreme<T, true>;
    default:
      return bitwise<std::make_unsigned_t<T>>(kind);
  }
}
template <class T>
ReduceFn inexact(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      if constexpr (requires(T a) { a.re; })
        return complex_product_fold(dtype_of<T>());
      else
        return &product<T>;
    case ReduceKind::FMin:
      return &ordered_fold<T, Ignoring<T, false>>;
    case ReduceKind::FMax:
      return &ordered_fold<T, Ignoring<T, true>>;
    case ReduceKind::Any:
      return &truth_fold<T, true>;
    case ReduceKind::All:
      return &truth_fold<T, false>;
    case ReduceKind::Min:
      if constexpr (std::is_floating_point_v<T>) return &extreme<T, false>;
      return &ordered_fold<T, Propagating<T, false>>;
    case ReduceKind::Max:
      if constexpr (std::is_floating_point_v<T>) return &extreme<T, true>;
      return &ordered_fold<T, Propagating<T, true>>;
    default:
      return nullptr;
  }
}
ReduceFn half(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      return &half_product;
    case ReduceKind::Min:
      return &half_fold<Propagating<float, false>>;
    case ReduceKind::Max:
      return &half_fold<Propagating<float, true>>;
    case ReduceKind::FMin:
      return &half_fold<Ignoring<float, false>>;
    case ReduceKind::FMax:
      return &half_fold<Ignoring<float, true>>;
    case ReduceKind::Any:
      return &half_truth_fold<true>;
    case ReduceKind::All:
      return &half_truth_fold<false>;
    default:
      return nullptr;
  }
}
// On Bool + and the larger is or, * and the smaller is and.
ReduceFn boolean(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum:
    case ReduceKind::Max:
    case ReduceKind::FMax:
    case ReduceKind::BitOr:
      return bitwise<std::uint8_t>(ReduceKind::Any);
    case ReduceKind::Prod:
    case ReduceKind::Min:
    case ReduceKind::FMin:
    case ReduceKind::BitAnd:
      return bitwise<std::uint8_t>(ReduceKind::All);
    default:
      return integer<std::uint8_t>(kind);
  }
}

}  // namespace

ReduceFn reduce(ReduceKind kind, DType t) {
  if (kind == ReduceKind::Sum && t != DType::Bool) return sum(t);
  switch (t) {
    case DType::Bool:
      return boolean(kind);
    case DType::Int8:
      return integer<std::int8_t>(kind);
    case DType::UInt8:
      return integer<std::uint8_t>(kind);
    case DType::Int16:
      return integer<std::int16_t>(kind);
    case DType::UInt16:
      return integer<std::uint16_t>(kind);
    case DType::Int32:
      return integer<std::int32_t>(kind);
    case DType::UInt32:
      return integer<std::uint32_t>(kind);
    case DType::Int64:
      return integer<std::int64_t>(kind);
    case DType::UInt64:
      return integer<std::uint64_t>(kind);
    case DType::Float16:
      return half(kind);
    case DType::Float32:
      return inexact<f32>(kind);
    case DType::Float64:
      return inexact<f64>(kind);
    case DType::Complex64:
      return inexact<c64>(kind);
    case DType::Complex128:
      return inexact<c128>(kind);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
