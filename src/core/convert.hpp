// NumPy's unsafe cast of one value, for every pair of native types. C++ leaves float-to-integer
// conversion undefined outside the target's range; here it is what x86's truncating conversions
// give, which is what NumPy's loops give there: 64-bit and 32-bit conversions yield the smallest
// integer, narrower targets keep the low bits of the 32-bit one.
#pragma once
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "half.hpp"

namespace plait {

template <class T>
inline constexpr bool is_complex_type = false;
template <class T>
inline constexpr bool is_complex_type<std::complex<T>> = true;

namespace detail {

template <class I, class F>
I truncate(F x) {
  constexpr F limit = -static_cast<F>(std::numeric_limits<I>::min());  // 2^31 or 2^63, exact
  // Written so that NaN takes the second branch.
  return x >= -limit && x < limit ? static_cast<I>(x) : std::numeric_limits<I>::min();
}
// Between -2^31 - 1 and -2^31 a double truncates into range.
inline std::int32_t truncate32(double x) {
  return x > -2147483649.0 && x < 2147483648.0 ? static_cast<std::int32_t>(x)
                                               : std::numeric_limits<std::int32_t>::min();
}
inline std::int32_t truncate32(float x) { return truncate<std::int32_t>(x); }

}  // namespace detail

template <class To, class From>
To convert(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, Half>) {
    if constexpr (std::is_same_v<To, bool>)
      return (v.bits & 0x7fffu) != 0;
    else
      return convert<To>(half_to_float(v.bits));
  } else if constexpr (is_complex_type<From>) {
    if constexpr (std::is_same_v<To, bool>)
      return v.real() != 0 || v.imag() != 0;
    else if constexpr (is_complex_type<To>)
      return To(static_cast<typename To::value_type>(v.real()),
                static_cast<typename To::value_type>(v.imag()));
    else
      return convert<To>(v.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(v), 0);
  } else if constexpr (std::is_same_v<To, Half>) {
    if constexpr (std::is_same_v<From, double>)
      return Half{double_to_half(v)};
    else
      return Half{float_to_half(static_cast<float>(v))};
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      constexpr From top = static_cast<From>(9223372036854775808.0);
      if (v < top || v != v) return static_cast<std::uint64_t>(detail::truncate<std::int64_t>(v));
      // x86 conversion code of the upper half; past 2^64 it wraps the smallest integer to 0.
      return static_cast<std::uint64_t>(detail::truncate<std::int64_t>(v - top)) ^ (1ull << 63);
    } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, std::uint32_t>) {
      return static_cast<To>(detail::truncate<std::int64_t>(v));
    } else {
      return static_cast<To>(detail::truncate32(v));
    }
  } else {
    return static_cast<To>(v);
  }
}

}  // namespace plait
