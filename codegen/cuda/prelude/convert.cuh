// NumPy's unsafe casts. A float that an integer cannot hold gives what x86's truncating conversions
// give, as NumPy's loops do there.
template <class I, class F>
PLAIT_INLINE I truncate(F x) {
  constexpr F limit = -F(Unsigned<I>::smallest);  // 2^31 or 2^63, exact
  // Written so that NaN takes the second branch.
  return x >= -limit && x < limit ? I(x) : Unsigned<I>::smallest;
}
// Between -2^31 - 1 and -2^31 a double truncates into range.
PLAIT_INLINE int32 truncate32(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? int32(x) : Unsigned<int32>::smallest;
}
PLAIT_INLINE int32 truncate32(float x) { return truncate<int32>(x); }

template <class To, class From>
PLAIT_INLINE To convert(From v) {
  if constexpr (is_same<To, From>) {
    return v;
  } else if constexpr (is_narrow<From>) {
    return v.widened();
  } else if constexpr (is_narrow<To>) {
    return To::rounded(v);
  } else if constexpr (is_same<From, float16>) {
    if constexpr (is_bool<To>)
      return (v.bits & 0x7fffu) != 0;
    else
      return convert<To>(widen(v));
  } else if constexpr (is_complex<From>) {
    if constexpr (is_bool<To>)
      return v.re != 0 || v.im != 0;
    else if constexpr (is_complex<To>)
      return To{decltype(To::re)(v.re), decltype(To::re)(v.im)};
    else
      return convert<To>(v.re);
  } else if constexpr (is_complex<To>) {
    return To{decltype(To::re)(v), 0};
  } else if constexpr (is_same<To, float16>) {
    if constexpr (is_same<From, double>)
      return narrow(v);
    else
      return narrow(float(v));
  } else if constexpr (is_bool<To>) {
    return v != From(0);
  } else if constexpr (is_real<From> && is_integer<To>) {
    if constexpr (is_same<To, uint64>) {
      constexpr From top = From(9223372036854775808.0);
      if (v < top || v != v) return uint64(truncate<int64>(v));
      return uint64(truncate<int64>(v - top)) ^ (1ull << 63);
    } else if constexpr (sizeof(To) == 8 || is_same<To, uint32>) {
      return To(truncate<int64>(v));
    } else {
      return To(truncate32(v));
    }
  } else {
    return To(v);
  }
}
