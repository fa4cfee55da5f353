// NumPy's order of the elements of each dtype: NaN last, complex numbers by their real part first.
#pragma once
#include <complex>
#include <type_traits>

#include "core/half.hpp"

namespace plait::engine {

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// Whether `a` stands in front of `b`; neither does where NumPy takes them for equal.
template <class T>
bool precedes(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Half>) {
    return precedes(half_to_float(a.bits), half_to_float(b.bits));
  } else if constexpr (kIsComplex<T>) {
    const auto ar = a.real(), ai = a.imag(), br = b.real(), bi = b.imag();
    if (ar < br) return ai == ai || bi != bi;
    if (ar > br) return bi != bi && ai == ai;
    if (ar == br || (ar != ar && br != br)) return ai < bi || (bi != bi && ai == ai);
    return br != br;
  } else if constexpr (std::is_floating_point_v<T>) {
    return a < b || (b != b && a == a);
  } else {
    return a < b;
  }
}

template <class T>
bool is_nan(const T& a) {
  if constexpr (std::is_same_v<T, Half>)
    return (a.bits & 0x7fff) > 0x7c00;
  else if constexpr (kIsComplex<T>)
    return a.real() != a.real() || a.imag() != a.imag();
  else
    return a != a;
}

}  // namespace plait::engine
