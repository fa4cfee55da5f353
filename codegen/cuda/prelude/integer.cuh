// Integers wrap; division by zero gives 0; a shift by the width or more shifts everything out.
// On bool, + is or and * is and.
namespace np {

// Unsigned and at least 32 bits wide: no promotion to int, no overflow.
template <class T, bool wide = sizeof(T) == 8>
struct Wide {
  typedef uint32 type;
};
template <class T>
struct Wide<T, true> {
  typedef uint64 type;
};
template <class T>
using wide = typename Wide<T>::type;

template <class T>
PLAIT_INLINE T add(T a, T b) {
  if constexpr (is_bool<T>)
    return a | b;
  else if constexpr (is_integer<T>)
    return T(wide<T>(a) + wide<T>(b));
  else
    return a + b;
}
template <class T>
PLAIT_INLINE T subtract(T a, T b) {
  if constexpr (is_integer<T>)
    return T(wide<T>(a) - wide<T>(b));
  else
    return a - b;
}
template <class T>
PLAIT_INLINE T multiply(T a, T b) {
  if constexpr (is_bool<T>)
    return a & b;
  else if constexpr (is_integer<T>)
    return T(wide<T>(a) * wide<T>(b));
  else
    return a * b;
}
template <class T>
PLAIT_INLINE T negative(T a) {
  if constexpr (is_integer<T>)
    return T(0 - wide<T>(a));
  else
    return -a;
}
template <class T>
PLAIT_INLINE T square(T a) {
  return multiply(a, a);
}
// Of floats true division; of integers too, in float64.
template <class T>
PLAIT_INLINE auto divide(T a, T b) {
  if constexpr (is_integer<T>)
    return double(a) / double(b);
  else
    return a / b;
}

template <class T>
PLAIT_INLINE T integer_power(T base, T exponent) {
  wide<T> result = 1, b = wide<T>(base);
  for (auto e = typename Unsigned<T>::type(exponent); e; e >>= 1) {
    if (e & 1) result *= b;
    b *= b;
  }
  return T(result);
}
template <class T>
PLAIT_INLINE T integer_floor_divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (Unsigned<T>::is_signed) {
    if (b == T(-1)) return negative(a);
    const T q = T(a / b);
    return T(q - (((a < 0) != (b < 0)) & (T(q * b) != a)));
  } else {
    return T(a / b);
  }
}
template <class T>
PLAIT_INLINE T integer_fmod(T a, T b) {
  if (b == 0 || (Unsigned<T>::is_signed && b == T(-1))) return 0;
  return T(a % b);
}
template <class T>
PLAIT_INLINE T integer_remainder(T a, T b) {
  const T r = integer_fmod(a, b);
  if constexpr (Unsigned<T>::is_signed)
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
  else
    return r;
}
template <class T>
PLAIT_INLINE typename Unsigned<T>::type magnitude(T a) {
  typedef typename Unsigned<T>::type U;
  if constexpr (Unsigned<T>::is_signed)
    return a < 0 ? U(U(0) - U(a)) : U(a);
  else
    return a;
}
template <class T>
PLAIT_INLINE T gcd(T a, T b) {
  auto x = magnitude(a), y = magnitude(b);
  while (y != 0) {
    const auto r = x % y;
    x = y;
    y = decltype(y)(r);
  }
  return T(x);
}
template <class T>
PLAIT_INLINE T lcm(T a, T b) {
  typedef typename Unsigned<T>::type U;
  const U x = magnitude(a), y = magnitude(b), g = magnitude(gcd(x, y));
  return g ? T(U(x / g) * uint64(y)) : T(0);
}

template <class T>
PLAIT_INLINE T bitwise_and(T a, T b) {
  return T(a & b);
}
template <class T>
PLAIT_INLINE T bitwise_or(T a, T b) {
  return T(a | b);
}
template <class T>
PLAIT_INLINE T bitwise_xor(T a, T b) {
  return T(a ^ b);
}
template <class T>
PLAIT_INLINE T invert(T a) {
  if constexpr (is_bool<T>)
    return !a;
  else
    return T(~a);
}
template <class T>
PLAIT_INLINE T left_shift(T a, T b) {
  typedef typename Unsigned<T>::type U;
  constexpr U bits = sizeof(T) * 8;
  return U(b) < bits ? T(U(a) << U(b)) : T(0);
}
template <class T>
PLAIT_INLINE T right_shift(T a, T b) {
  typedef typename Unsigned<T>::type U;
  constexpr U bits = sizeof(T) * 8;
  return U(b) < bits ? T(a >> U(b)) : T(a < T(0) ? -1 : 0);
}
template <class T>
PLAIT_INLINE uint8 bitwise_count(T a) {
  return uint8(__popcll(magnitude(a)));
}

}  // namespace np
