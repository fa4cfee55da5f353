// Arithmetic, comparisons and extrema of every dtype that has them. Comparisons and extrema follow
// NumPy on NaN.
namespace np {

template <class T>
PLAIT_INLINE T floor(T a) {
  if constexpr (is_real<T>)
    return real_floor(a);
  else
    return a;
}
template <class T>
PLAIT_INLINE T ceil(T a) {
  if constexpr (is_real<T>)
    return real_ceil(a);
  else
    return a;
}
template <class T>
PLAIT_INLINE T trunc(T a) {
  if constexpr (is_real<T>)
    return real_trunc(a);
  else
    return a;
}
template <class T>
PLAIT_INLINE T positive(T a) {
  return a;
}
template <class T>
PLAIT_INLINE T conjugate(T a) {
  return a;
}
template <class T>
PLAIT_INLINE T absolute(T a) {
  if constexpr (is_real<T>)
    return fabs(a);
  else if constexpr (is_integer<T>)
    return a < T(0) ? negative(a) : a;
  else
    return a;
}
template <class T>
PLAIT_INLINE T reciprocal(T a) {
  if constexpr (is_integer<T>)
    return convert<T>(1.0 / double(a));
  else
    return T(1) / a;
}
template <class T>
PLAIT_INLINE T sign(T a) {
  return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a;
}
template <class T>
PLAIT_INLINE T degrees(T a) {
  return a * (T(180) / T(3.14159265358979323846));
}
template <class T>
PLAIT_INLINE T radians(T a) {
  return a * (T(3.14159265358979323846) / T(180));
}
template <class T>
PLAIT_INLINE T rad2deg(T a) {
  return degrees(a);
}
template <class T>
PLAIT_INLINE T deg2rad(T a) {
  return radians(a);
}
template <class T>
PLAIT_INLINE T heaviside(T a, T b) {
  return a > 0 ? T(1) : a < 0 ? T(0) : a == 0 ? b : a;
}
// The distance to the next number away from zero, with the sign of a. For a zero it is positive.
template <class T>
PLAIT_INLINE T spacing(T a) {
  const T inf = infinity(T());
  if (fabs(a) == inf) return not_a_number(T());
  if (a == 0) return nextafter(T(0), T(1));
  return nextafter(a, copysign(inf, a)) - a;
}

template <class T>
PLAIT_INLINE T power(T a, T b) {
  if constexpr (is_integer<T>)
    return integer_power(a, b);
  else
    return real_power(a, b);
}
template <class T>
PLAIT_INLINE T float_power(T a, T b) {
  return power(a, b);
}
// NumPy's npy_divmod.
template <class T>
PLAIT_INLINE T fmod(T a, T b) {
  if constexpr (is_integer<T>)
    return integer_fmod(a, b);
  else
    return real_fmod(a, b);
}
template <class T>
PLAIT_INLINE T remainder(T a, T b) {
  if constexpr (is_integer<T>) {
    return integer_remainder(a, b);
  } else {
    const T mod = real_fmod(a, b);
    if (b == 0) return mod;
    if (mod == 0) return copysign(T(0), b);
    return (b < 0) != (mod < 0) ? mod + b : mod;
  }
}
template <class T>
PLAIT_INLINE T floor_divide(T a, T b) {
  if constexpr (is_integer<T>) {
    return integer_floor_divide(a, b);
  } else {
    if (b == 0) return a / b;
    const T mod = real_fmod(a, b);
    T div = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
    if (div == 0) return copysign(T(0), a / b);
    const T down = real_floor(div);
    return div - down > T(0.5) ? down + 1 : down;
  }
}
template <class T>
PLAIT_INLINE T logaddexp(T x, T y) {
  if (x == y) return x + T(0.693147180559945309417);
  const T d = x - y;
  if (d > 0) return x + log1p(exp(-d));
  return d <= 0 ? y + log1p(exp(d)) : d;
}
template <class T>
PLAIT_INLINE T logaddexp2(T x, T y) {
  constexpr T log2e = T(1.44269504088896340736);
  if (x == y) return x + 1;
  const T d = x - y;
  if (d > 0) return x + log2e * log1p(exp2(-d));
  return d <= 0 ? y + log2e * log1p(exp2(d)) : d;
}

template <class T>
PLAIT_INLINE bool equal(T a, T b) {
  return a == b;
}
template <class T>
PLAIT_INLINE bool not_equal(T a, T b) {
  return a != b;
}
template <class T>
PLAIT_INLINE bool less(T a, T b) {
  return a < b;
}
template <class T>
PLAIT_INLINE bool less_equal(T a, T b) {
  return a <= b;
}
template <class T>
PLAIT_INLINE bool greater(T a, T b) {
  return a > b;
}
template <class T>
PLAIT_INLINE bool greater_equal(T a, T b) {
  return a >= b;
}
template <class T>
PLAIT_INLINE bool logical_and(T a, T b) {
  return convert<bool>(a) & convert<bool>(b);
}
template <class T>
PLAIT_INLINE bool logical_or(T a, T b) {
  return convert<bool>(a) | convert<bool>(b);
}
template <class T>
PLAIT_INLINE bool logical_xor(T a, T b) {
  return convert<bool>(a) != convert<bool>(b);
}
template <class T>
PLAIT_INLINE bool logical_not(T a) {
  return !convert<bool>(a);
}
template <class T>
PLAIT_INLINE bool isnan(T a) {
  return a != a;
}
template <class T>
PLAIT_INLINE bool isinf(T a) {
  if constexpr (is_real<T>)
    return fabs(a) == infinity(T());
  else
    return false;
}
template <class T>
PLAIT_INLINE bool isfinite(T a) {
  if constexpr (is_real<T>)
    return fabs(a) < infinity(T());
  else
    return true;
}
// The first operand wins ties (of zeros) and NaN.
template <class T>
PLAIT_INLINE T maximum(T a, T b) {
  return greater_equal(a, b) | isnan(a) ? a : b;
}
template <class T>
PLAIT_INLINE T minimum(T a, T b) {
  return less_equal(a, b) | isnan(a) ? a : b;
}
template <class T>
PLAIT_INLINE T fmax(T a, T b) {
  return greater_equal(a, b) | isnan(b) ? a : b;
}
template <class T>
PLAIT_INLINE T fmin(T a, T b) {
  return less_equal(a, b) | isnan(b) ? a : b;
}
template <class T>
PLAIT_INLINE T clip(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}
PLAIT_INLINE float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
PLAIT_INLINE double fma(double x, double y, double z) { return ::fma(x, y, z); }

}  // namespace np
