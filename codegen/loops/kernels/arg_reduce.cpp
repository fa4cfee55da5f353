// argmin and argmax: the first extreme, the first NaN before all. Contiguous numbers go block by
// block: the extreme of a block by vectors, its place only when it beats what was found before.
// Columns that lie side by side go together, one a lane.
#include <algorithm>
#include <bit>
#include <limits>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// The best of a vector's lanes, halves against halves.
template <class V, class F>
PLAIT_INLINE auto best_lane(V v, F merge) {
  using T = std::remove_reference_t<decltype(v[0])>;
  if constexpr (sizeof(V) > 16) {
    typedef T Half __attribute__((vector_size(sizeof(V) / 2)));
    Half low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return best_lane(merge(low, high), merge);
  } else {
    typedef T One __attribute__((vector_size(sizeof(T))));
    One best = {v[0]};
    for (unsigned k = 1; k < sizeof(V) / sizeof(T); ++k) best = merge(best, One{v[k]});
    return T(best[0]);
  }
}

}  // namespace

template <class T, bool kMax>
T contiguous_extreme(const T* a, std::int64_t n, T best) {
  constexpr int lanes = Native<T>::lanes, kChains = 4;
  std::int64_t i = 0;
  if (n >= lanes) {
    typedef T V __attribute__((vector_size(kVectorBytes)));
    const auto merge = [](auto acc, auto x) {
      if constexpr (std::is_floating_point_v<T>)
        return ((kMax ? x > acc : x < acc) | (x != x)) ? x : acc;
      else
        return (kMax ? x > acc : x < acc) ? x : acc;
    };
    V acc[kChains] = {best - V{}, best - V{}, best - V{}, best - V{}};
    for (; i + kChains * lanes <= n; i += kChains * lanes)
      for (int k = 0; k < kChains; ++k) acc[k] = merge(acc[k], load<V>(a + i + k * lanes));
    for (; i + lanes <= n; i += lanes) acc[0] = merge(acc[0], load<V>(a + i));
    acc[1] = merge(acc[1], load<V>(a + n - lanes));  // again some that were seen
    return best_lane(merge(merge(acc[0], acc[1]), merge(acc[2], acc[3])), merge);
  }
  for (; i < n; ++i)
    if (Propagating<T, kMax>::better(a[i], best)) best = a[i];
  return best;
}
#define PLAIT_EXTREMES(T)                                             \
  template T contiguous_extreme<T, false>(const T*, std::int64_t, T); \
  template T contiguous_extreme<T, true>(const T*, std::int64_t, T);
PLAIT_EXTREMES(std::int8_t)
PLAIT_EXTREMES(std::uint8_t)
PLAIT_EXTREMES(std::int16_t)
PLAIT_EXTREMES(std::uint16_t)
PLAIT_EXTREMES(std::int32_t)
PLAIT_EXTREMES(std::uint32_t)
PLAIT_EXTREMES(std::int64_t)
PLAIT_EXTREMES(std::uint64_t)
PLAIT_EXTREMES(f32)
PLAIT_EXTREMES(f64)
#undef PLAIT_EXTREMES

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

// Where the first `value`, or NaN, stands; there is one.
template <class T>
[[gnu::noinline]] std::int64_t place(const T* a, std::int64_t n, T value) {
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

// Integers of one width are equal alike.
template <class T>
PLAIT_INLINE std::int64_t place_of(const T* a, std::int64_t n, T value) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return place<U>(reinterpret_cast<const U*>(a), n, U(value));
  } else {
    return place<T>(a, n, value);
  }
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
        const std::int64_t i = begin + place_of(a + begin, count, extreme);
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

// What exclusive or with makes the maximum of signed integers or floats of other orders: minima and
// unsigned integers share its loops.
template <class T, bool kMax>
constexpr auto flip() {
  if constexpr (std::is_integral_v<T>) {
    using S = std::make_signed_t<T>;
    constexpr S sign = std::is_signed_v<T> ? S(0) : std::numeric_limits<S>::min();
    return S(kMax ? sign : S(~sign));
  } else {
    using S = std::conditional_t<sizeof(T) == 4, int, long long>;
    return kMax ? S(0) : std::numeric_limits<S>::min();
  }
}
template <class T>
PLAIT_INLINE auto quietly_better(T x, T best) {
  return ((x > best) | (x != x)) & (best == best);
}

// One vector of columns. Rows are counted in lanes of the elements' width, as far as those reach.
template <class T, class I, int kBytes>
PLAIT_INLINE void column_tile(const char* in, std::int64_t stride, std::int64_t rows, char* index,
                              std::int64_t index_stride, I flipped) {
  typedef T V __attribute__((vector_size(kBytes)));
  typedef I VI __attribute__((vector_size(kBytes)));
  constexpr int lanes = kBytes / sizeof(T);
  constexpr std::int64_t kReach = std::numeric_limits<I>::max();
  V best = (V)(load<VI>(in) ^ flipped);
  std::int64_t found[lanes] = {};
  for (std::int64_t begin = 0; begin < rows; begin += kReach) {
    const I count = I(std::min(kReach, rows - begin));
    const char* p = in + begin * stride;
    VI at = I(-1) - VI{};
    for (I i = 0; i < count; ++i, p += stride) {
      const V x = (V)(load<VI>(p) ^ flipped);
      const VI take = (VI)quietly_better(x, best);
      best = take ? x : best;
      at = take ? i - VI{} : at;
    }
    for (int k = 0; k < lanes; ++k)
      if (at[k] >= 0) found[k] = begin + at[k];
  }
  for (int k = 0; k < lanes; ++k) store<std::int64_t>(index + k * index_stride, found[k]);
}

template <class T, class I>
[[gnu::noinline]] void columns_by(const void* in, std::int64_t stride, std::int64_t rows,
                                  std::int64_t count, void* index, std::int64_t index_stride,
                                  I flipped) {
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
      column_tile<T, I, kBytes>(p + at * std::int64_t(sizeof(T)), stride, rows,
                                out + at * index_stride, index_stride, flipped);
    }
    return true;
  };
  if constexpr (kVectorBytes >= 64)
    if (tiles(std::integral_constant<int, 64>{})) return;
  if constexpr (kVectorBytes >= 32)
    if (tiles(std::integral_constant<int, 32>{})) return;
  if (tiles(std::integral_constant<int, 16>{}) || tiles(std::integral_constant<int, 8>{})) return;
  for (std::int64_t j = 0; j < count; ++j) {
    const auto at = [&](std::int64_t i) {
      const I bits = load<I>(p + j * std::int64_t(sizeof(T)) + i * stride) ^ flipped;
      return __builtin_bit_cast(T, bits);
    };
    T best = at(0);
    std::int64_t found = 0;
    for (std::int64_t i = 1; i < rows; ++i)
      if (const T x = at(i); quietly_better(x, best)) best = x, found = i;
    store<std::int64_t>(out + j * index_stride, found);
  }
}
template <class T, bool kMax>
void columns(const void* in, std::int64_t stride, std::int64_t rows, std::int64_t count,
             void* index, std::int64_t index_stride) {
  constexpr auto flipped = flip<T, kMax>();
  using I = std::remove_const_t<decltype(flipped)>;
  using Key = std::conditional_t<std::is_integral_v<T>, I, T>;
  columns_by<Key, I>(in, stride, rows, count, index, index_stride, flipped);
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
    default:
      return nullptr;
  }
}

ArgColumnsFn arg_columns(ReduceKind kind, DType t) {
  if (t == DType::Bool) t = DType::UInt8;
  return is_float(t) ? columns_of(Floats{}, kind, t) : columns_of(Ints{}, kind, t);
}

}  // namespace plait::loops::PLAIT_TIER
