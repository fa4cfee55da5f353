// argmin and argmax: the first extreme, the first NaN before all. Contiguous numbers go block by
// block: the extreme of a block by vectors, its place only when it beats what was found before.
// Columns that lie side by side go together, one a lane.
#include <algorithm>
#include <bit>
#include <limits>

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

// Where the first `value`, or NaN, stands; there is one.
template <class T>
PLAIT_INLINE std::int64_t place(const T* a, std::int64_t n, T value) {
  typedef T V __attribute__((vector_size(kVectorBytes)));
  constexpr int lanes = Native<T>::lanes;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V x = load<V>(a + i);
    const auto hit = (x == value) | (x != x);
    const int lane = first_set(hit);
    if (lane < lanes) return i + lane;
  }
  while (!(a[i] == value || is_nan(a[i]))) ++i;
  return i;
}

template <class T, bool kMax>
void arg(void* acc, std::int64_t* index, const void* in, std::int64_t stride, std::int64_t n,
         std::int64_t base) {
  const QuietFlags quiet;
  auto* p = static_cast<const char*>(in);
  constexpr std::int64_t kBlock = 4096 / sizeof(T), kSmall = kVectorBytes / sizeof(T);
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
        const std::int64_t i = begin + place(a + begin, count, extreme);
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

// Of booleans the first that is true, or false, is the answer.
template <bool kMax>
void arg_bool(void* acc, std::int64_t* index, const void* in, std::int64_t stride, std::int64_t n,
              std::int64_t base) {
  auto* p = static_cast<const unsigned char*>(in);
  if (n <= 0 || (*index >= 0 && load<std::uint8_t>(acc) == kMax)) return;
  const unsigned char* hit = nullptr;
  if (stride == 1) {
    hit = static_cast<const unsigned char*>(std::memchr(p, kMax, std::size_t(n)));
  } else {
    for (std::int64_t i = 0; i < n && !hit; ++i)
      if (p[i * stride] == kMax) hit = p + i * stride;
  }
  if (!hit && *index >= 0) return;
  store<std::uint8_t>(acc, hit ? kMax : !kMax);
  *index = base + (!hit || hit == p ? 0 : (hit - p) / stride);
}

// One vector of columns. Rows are counted in lanes of the elements' width, as far as those reach.
template <class T, bool kMax, int kBytes>
PLAIT_INLINE void column_tile(const char* in, std::int64_t stride, std::int64_t rows, char* index,
                              std::int64_t index_stride) {
  using I =
      std::conditional_t<sizeof(T) == 1, signed char,
                         std::conditional_t<sizeof(T) == 2, short,
                                            std::conditional_t<sizeof(T) == 4, int, long long>>>;
  typedef T V __attribute__((vector_size(kBytes)));
  typedef I VI __attribute__((vector_size(kBytes)));
  constexpr int lanes = kBytes / sizeof(T);
  constexpr std::int64_t kReach = std::numeric_limits<I>::max();
  const auto better = [](V x, V best) -> VI {
    return (VI)(((kMax ? x > best : x < best) | (x != x)) & (best == best));
  };
  V best = load<V>(in);
  std::int64_t found[lanes] = {};
  for (std::int64_t begin = 0; begin < rows; begin += kReach) {
    const I count = I(std::min(kReach, rows - begin));
    const char* p = in + begin * stride;
    VI at = I(-1) - VI{};
    for (I i = 0; i < count; ++i, p += stride) {
      const V x = load<V>(p);
      const VI take = better(x, best);
      best = take ? x : best;
      at = take ? i - VI{} : at;
    }
    for (int k = 0; k < lanes; ++k)
      if (at[k] >= 0) found[k] = begin + at[k];
  }
  for (int k = 0; k < lanes; ++k) store<std::int64_t>(index + k * index_stride, found[k]);
}

template <class T, bool kMax>
void columns(const void* in, std::int64_t stride, std::int64_t rows, std::int64_t count,
             void* index, std::int64_t index_stride) {
  const QuietFlags quiet;
  auto* p = static_cast<const char*>(in);
  auto* out = static_cast<char*>(index);
  // Tiles of one width cover what is at least as wide, the last of them again some of what was
  // done.
  const auto tiles = [&]<int kBytes>(std::integral_constant<int, kBytes>) {
    constexpr std::int64_t lanes = kBytes / sizeof(T);
    if (count < lanes) return false;
    for (std::int64_t j = 0; j < count; j += lanes) {
      const std::int64_t at = std::min(j, count - lanes);
      column_tile<T, kMax, kBytes>(p + at * std::int64_t(sizeof(T)), stride, rows,
                                   out + at * index_stride, index_stride);
    }
    return true;
  };
  if (kVectorBytes >= 64 && tiles(std::integral_constant<int, 64>{})) return;
  if (kVectorBytes >= 32 && tiles(std::integral_constant<int, 32>{})) return;
  if (tiles(std::integral_constant<int, 16>{}) || tiles(std::integral_constant<int, 8>{})) return;
  for (std::int64_t j = 0; j < count; ++j) {
    T best = load<T>(p + j * std::int64_t(sizeof(T)));
    std::int64_t found = 0;
    scan<T, kMax>(&best, &found, p + j * std::int64_t(sizeof(T)), stride, rows, 0);
    store<std::int64_t>(out + j * index_stride, found);
  }
}

template <class T>
ArgReduceFn of(ReduceKind kind) {
  if (kind == ReduceKind::ArgMin) return &arg<T, false>;
  if (kind == ReduceKind::ArgMax) return &arg<T, true>;
  return nullptr;
}

template <class... Ts>
ArgColumnsFn columns_of(Types<Ts...>, ReduceKind kind, DType t) {
  ArgColumnsFn fn = nullptr;
  const bool max = kind == ReduceKind::ArgMax;
  ((t == dtype_of<Ts>() ? void(fn = max ? &columns<Ts, true> : &columns<Ts, false>) : void()), ...);
  return fn;
}

}  // namespace

ArgReduceFn arg_reduce(ReduceKind kind, DType t) {
  switch (t) {
    case DType::Bool:
      return kind == ReduceKind::ArgMax ? &arg_bool<true> : &arg_bool<false>;
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

ArgColumnsFn arg_columns(ReduceKind kind, DType t) {
  if (t == DType::Bool) t = DType::UInt8;
  return is_float(t) ? columns_of(Floats{}, kind, t) : columns_of(Ints{}, kind, t);
}

}  // namespace plait::loops::PLAIT_TIER
