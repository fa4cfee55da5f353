// The absolute value of complex numbers by the formula of NumPy's vector loops, and with their
// bits: the larger part times sqrt(1 + ratio^2), rounded after each step but the square. Like
// NumPy's it raises no flag where it overflows.
#pragma once
#include <limits>

#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {

typedef int vi_half __attribute__((vector_size(kVectorBytes / 2)));
PLAIT_INLINE bool any(vi_half m) { return any(__builtin_convertvector(m, vl)); }

// What is not finite, or might overflow.
template <class T>
PLAIT_COLD T large_modulus(T re, T im) {
  re = std::abs(re), im = std::abs(im);
  constexpr T inf = std::numeric_limits<T>::infinity();
  if (re == inf || im == inf) return inf;
  if (re != re || im != im) return std::numeric_limits<T>::quiet_NaN();
  const T larger = re > im ? re : im, ratio = (re > im ? im : re) / larger;
  const T half = std::sqrt(std::fma(ratio, ratio, T(1))) * (larger / 2);
  return half > std::numeric_limits<T>::max() / 2 ? inf : half * 2;
}

template <class V>
PLAIT_INLINE V modulus(V re, V im) {
  using T = std::remove_reference_t<decltype(re[0])>;
  using I = std::conditional_t<sizeof(T) == 4, int, long long>;
  typedef I Bits __attribute__((vector_size(sizeof(V))));
  constexpr I kMagnitude = std::numeric_limits<I>::max();
  constexpr I kLarge = __builtin_bit_cast(I, std::numeric_limits<T>::max() / 2);
  const Bits a = (Bits)re & kMagnitude, b = (Bits)im & kMagnitude;
  const Bits most = a > b ? a : b, least = a > b ? b : a;
  const Bits special = (Bits)(most > kLarge);
  const V one = T(1) - V{};
  const V larger = special ? one : (V)most, divisor = (Bits)(most == 0) ? one : larger;
  const V ratio = (special ? V{} : (V)least) / divisor;
  V result = sqrt(fma(ratio, ratio, one)) * larger;
  if (any(special)) [[unlikely]]
    for (unsigned k = 0; k < sizeof(V) / sizeof(T); ++k)
      if (special[k]) result[k] = large_modulus<T>(re[k], im[k]);
  return result;
}

// Of two parts, as a vector function.
struct Modulus {
  static PLAIT_INLINE vd f(vd re, vd im) { return modulus(re, im); }
  struct Float {
    static PLAIT_INLINE vd f(vd re, vd im) { return widen(modulus(narrow(re), narrow(im))); }
  };
};

// Of complex numbers whose parts are T.
template <class T>
void modulus_loop(Args args, Strides s, std::int64_t n) {
  using V = std::conditional_t<sizeof(T) == 4, vf, vd>;
  using Bits = std::conditional_t<sizeof(T) == 4, vi, vl>;
  constexpr int lanes = kVectorBytes / sizeof(T);
  auto* in = static_cast<const char*>(args[0]);
  auto* out = static_cast<char*>(args[1]);
  std::int64_t i = 0;
  if (s[0] == 2 * sizeof(T) && s[1] == sizeof(T)) {
    Bits even;
    for (int k = 0; k < lanes; ++k) even[k] = 2 * k;
    for (; i + lanes <= n; i += lanes) {
      const V x = load<V>(in + i * s[0]), y = load<V>(in + i * s[0] + sizeof(V));
      store<V>(out + i * s[1],
               modulus(__builtin_shuffle(x, y, even), __builtin_shuffle(x, y, even + 1)));
    }
  }
  for (; i < n; i += lanes) {
    const std::int64_t count = n - i < lanes ? n - i : lanes;
    V re, im;
    for (int k = 0; k < lanes; ++k) {
      const char* z = in + (i + (k < count ? k : 0)) * s[0];
      re[k] = load<T>(z);
      im[k] = load<T>(z + sizeof(T));
    }
    const V r = modulus(re, im);
    for (int k = 0; k < count; ++k) store<T>(out + (i + k) * s[1], r[k]);
  }
}

}  // namespace plait::loops::PLAIT_TIER
