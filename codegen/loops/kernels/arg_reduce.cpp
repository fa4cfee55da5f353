// argmin and argmax: the first extreme, the first NaN before all. Contiguous numbers go block by
// block: the extreme of a block by vectors, its place only when it beats what was found before.
#include <algorithm>

#include "codegen/loops/orders.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

struct HalfBits {
  std::uint16_t bits;
};
template <class T>
PLAIT_INLINE auto value_of(T a) {
  if constexpr (std::is_same_v<T, HalfBits>)
    return half_to_float(a.bits);
  else
    return a;
}

template <class T, bool kMax>
PLAIT_INLINE void scan(void* acc, std::int64_t* index, const char* p, std::int64_t stride,
                       std::int64_t n, std::int64_t base) {
  T stored = load<T>(acc);
  auto best = value_of(stored);
  std::int64_t i = 0, found = *index;
  if (found < 0 && n > 0) {
    stored = load<T>(p);
    best = value_of(stored);
    found = base;
    i = 1;
  }
  for (; i < n; ++i) {
    const T s = load<T>(p + i * stride);
    const auto x = value_of(s);
    if (Propagating<decltype(best), kMax>::better(x, best)) {
      stored = s;
      best = x;
      found = base + i;
    }
  }
  store<T>(acc, stored);
  *index = found;
}

template <class T, bool kMax>
void arg(void* acc, std::int64_t* index, const void* in, std::int64_t stride, std::int64_t n,
         std::int64_t base) {
  const QuietFlags quiet;
  auto* p = static_cast<const char*>(in);
  constexpr std::int64_t kBlock = 512, kSmall = 4 * kVectorBytes / sizeof(T);
  if constexpr (std::is_arithmetic_v<T>) {
    if (stride == sizeof(T) && n >= kSmall) {
      auto* a = static_cast<const T*>(in);
      std::int64_t found = *index;
      T best = found < 0 ? a[0] : load<T>(acc);
      if (found < 0) found = base;
      for (std::int64_t begin = 0; begin < n && !is_nan(best); begin += kBlock) {
        const std::int64_t count = std::min(kBlock, n - begin);
        const T extreme = contiguous_extreme<T, kMax>(a + begin, count, best);
        if (!Propagating<T, kMax>::better(extreme, best)) continue;
        std::int64_t i = begin;
        while (!(a[i] == extreme || is_nan(a[i]))) ++i;
        best = a[i];
        found = base + i;
      }
      store<T>(acc, best);
      *index = found;
      return;
    }
  }
  scan<T, kMax>(acc, index, p, stride, n, base);
}

template <class T>
ArgReduceFn of(ReduceKind kind) {
  if (kind == ReduceKind::ArgMin) return &arg<T, false>;
  if (kind == ReduceKind::ArgMax) return &arg<T, true>;
  return nullptr;
}

}  // namespace

ArgReduceFn arg_reduce(ReduceKind kind, DType t) {
  switch (t) {
    case DType::Bool:
    case DType::UInt8:
      return of<std::uint8_t>(kind);
    case DType::Int8:
      return of<std::int8_t>(kind);
    case DType::Int16:
      return of<std::int16_t>(kind);
    case DType::UInt16:
      return of<std::uint16_t>(kind);
    case DType::Int32:
      return of<std::int32_t>(kind);
    case DType::UInt32:
      return of<std::uint32_t>(kind);
    case DType::Int64:
      return of<std::int64_t>(kind);
    case DType::UInt64:
      return of<std::uint64_t>(kind);
    case DType::Float16:
      return of<HalfBits>(kind);
    case DType::Float32:
      return of<f32>(kind);
    case DType::Float64:
      return of<f64>(kind);
    case DType::Complex64:
      return of<c64>(kind);
    case DType::Complex128:
      return of<c128>(kind);
  }
  return nullptr;
}

}  // namespace plait::loops::PLAIT_TIER
