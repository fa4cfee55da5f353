// Complex numbers, an operation at a time, rounded after each step.
#pragma once
#include <cmath>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {

template <class T>
using Z = Complex<T>;
template <class T>
PLAIT_INLINE bool nonzero(Z<T> a) {
  return (a.re != 0) | (a.im != 0);
}

// Rounded after each step, as in powers and folds.
struct Product {
  static constexpr One kOne = One::Right;
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct Divide {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    const T re = std::abs(b.re), im = std::abs(b.im);
    if (re >= im) {
      if (re == 0 && im == 0) return {a.re / re, a.im / re};
      const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
};

}  // namespace plait::loops::PLAIT_TIER
