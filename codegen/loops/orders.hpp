// The order relations that extrema and arg-extrema use. `better(x, best)`: x replaces best.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "codegen/loops/drivers.hpp"
#include "core/half.hpp"

namespace plait::loops::PLAIT_TIER {

template <class T>
PLAIT_INLINE bool is_nan(T a) {
  if constexpr (std::is_integral_v<T>)
    return false;
  else if constexpr (requires { a.re; })
    return (a.re != a.re) | (a.im != a.im);
  else
    return a != a;
}
template <class T>
PLAIT_INLINE bool is_less(T a, T b) {
  if constexpr (requires { a.re; })
    return a.re < b.re || (a.re == b.re && a.im < b.im);
  else
    return a < b;
}

// A NaN is better than any number, and the first NaN stays.
template <class T, bool kMax>
struct Propagating {
  static bool better(T x, T best) {
    if (is_nan(best)) return false;
    return (kMax ? is_less(best, x) : is_less(x, best)) | is_nan(x);
  }
};
// Any number is better than NaN.
template <class T, bool kMax>
struct Ignoring {
  static bool better(T x, T best) {
    if (is_nan(x)) return false;
    return (kMax ? is_less(best, x) : is_less(x, best)) | is_nan(best);
  }
};

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif
template <class T>
struct Native {
  static constexpr int lanes = kVectorBytes / sizeof(T);
  typedef T type __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};

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

// The extreme of n contiguous numbers, starting from `best`, by the NaN-propagating order. Which of
// several equal values (zeros) it is stays open.
template <class T, bool kMax>
PLAIT_INLINE T contiguous_extreme(const T* a, std::int64_t n, T best) {
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

}  // namespace plait::loops::PLAIT_TIER
