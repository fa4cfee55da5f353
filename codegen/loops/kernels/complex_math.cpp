// Powers, signs and functions of complex numbers: libm's, an element at a time, whatever the tier.
#include <cmath>
#include <complex>
#include <limits>

#include "codegen/loops/complex_arithmetic.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
PLAIT_INLINE std::complex<T> std_of(Z<T> a) {
  return {a.re, a.im};
}
template <class T>
PLAIT_INLINE Z<T> of_std(std::complex<T> a) {
  return {a.real(), a.imag()};
}

// Small integer exponents by repeated products, as NumPy does; the rest by cpow.
struct Power {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    if (!nonzero(b)) return {1, 0};
    if (!nonzero(a)) {
      if (b.re > 0) return {0, 0};
      volatile T inf = std::numeric_limits<T>::infinity();
      const T nan = inf - inf;
      return {nan, nan};
    }
    if (b.im == 0 && std::abs(b.re) < 100 && b.re == std::trunc(b.re)) {
      unsigned n = static_cast<unsigned>(std::abs(b.re));
      if (b.re == 1) return a;
      if (b.re == 2) return Product::f(a, a);
      if (b.re == 3) return Product::f(a, Product::f(a, a));
      Z<T> result{1, 0}, power = a;
      for (;;) {
        if (n & 1) result = Product::f(result, power);
        n >>= 1;
        if (n == 0) break;
        power = Product::f(power, power);
      }
      return b.re < 0 ? Divide::f(Z<T>{1, 0}, result) : result;
    }
    return of_std(std::pow(std_of(a), std_of(b)));
  }
};
struct Sign {
  template <class T>
  static Z<T> f(Z<T> a) {
    const T size = std::hypot(a.re, a.im);
    if (size != size) return {size, size};
    if (std::isinf(size)) {
      constexpr T nan = std::numeric_limits<T>::quiet_NaN();
      if (std::isinf(a.re) && std::isinf(a.im)) return {nan, nan};
      if (std::isinf(a.re)) return {std::copysign(T(1), a.re), 0};
      if (std::isinf(a.im)) return {0, std::copysign(T(1), a.im)};
    }
    if (size == 0) return {0, 0};
    return {a.re / size, a.im / size};
  }
};
#define PLAIT_C99(Name, fn)              \
  struct Name {                          \
    template <class T>                   \
    static Z<T> f(Z<T> a) {              \
      return of_std(std::fn(std_of(a))); \
    }                                    \
  };
PLAIT_C99(Sqrt, sqrt)
PLAIT_C99(Exp, exp)
PLAIT_C99(Log, log)
PLAIT_C99(Sin, sin)
PLAIT_C99(Cos, cos)
PLAIT_C99(Tan, tan)
PLAIT_C99(Arcsin, asin)
PLAIT_C99(Arccos, acos)
PLAIT_C99(Arctan, atan)
PLAIT_C99(Sinh, sinh)
PLAIT_C99(Cosh, cosh)
PLAIT_C99(Tanh, tanh)
PLAIT_C99(Arcsinh, asinh)
PLAIT_C99(Arccosh, acosh)
PLAIT_C99(Arctanh, atanh)
#undef PLAIT_C99
struct Exp2 {
  template <class T>
  static Z<T> f(Z<T> a) {
    return Exp::f(Z<T>{a.re * T(M_LN2), a.im * T(M_LN2)});
  }
};
struct Expm1 {
  template <class T>
  static Z<T> f(Z<T> a) {
    const T s = std::sin(a.im / 2);
    return {std::expm1(a.re) * std::cos(a.im) - 2 * s * s, std::exp(a.re) * std::sin(a.im)};
  }
};
struct Log2 {
  template <class T>
  static Z<T> f(Z<T> a) {
    const Z<T> l = Log::f(a);
    return {l.re * T(M_LOG2E), l.im * T(M_LOG2E)};
  }
};
struct Log10 {
  template <class T>
  static Z<T> f(Z<T> a) {
    const Z<T> l = Log::f(a);
    return {l.re * T(M_LOG10E), l.im * T(M_LOG10E)};
  }
};
struct Log1p {
  template <class T>
  static Z<T> f(Z<T> a) {
    return {std::log(std::hypot(a.re + 1, a.im)), std::atan2(a.im, a.re + 1)};
  }
};

template <class Op>
LoopFn unary_of(DType t) {
  return t == DType::Complex64 ? &unary_loop<Op, c64> : &unary_loop<Op, c128>;
}

}  // namespace

LoopFn complex_math_loop(OpId op, DType t) {
  switch (op) {
    case OpId::Power:
    case OpId::FloatPower:
      return t == DType::Complex64 ? &binary_loop<Power, c64> : &binary_loop<Power, c128>;
    case OpId::Sign:
      return unary_of<Sign>(t);
    case OpId::Sqrt:
      return unary_of<Sqrt>(t);
    case OpId::Exp:
      return unary_of<Exp>(t);
    case OpId::Exp2:
      return unary_of<Exp2>(t);
    case OpId::Expm1:
      return unary_of<Expm1>(t);
    case OpId::Log:
      return unary_of<Log>(t);
    case OpId::Log2:
      return unary_of<Log2>(t);
    case OpId::Log10:
      return unary_of<Log10>(t);
    case OpId::Log1p:
      return unary_of<Log1p>(t);
    case OpId::Sin:
      return unary_of<Sin>(t);
    case OpId::Cos:
      return unary_of<Cos>(t);
    case OpId::Tan:
      return unary_of<Tan>(t);
    case OpId::Arcsin:
      return unary_of<Arcsin>(t);
    case OpId::Arccos:
      return unary_of<Arccos>(t);
    case OpId::Arctan:
      return unary_of<Arctan>(t);
    case OpId::Sinh:
      return unary_of<Sinh>(t);
    case OpId::Cosh:
      return unary_of<Cosh>(t);
    case OpId::Tanh:
      return unary_of<Tanh>(t);
    case OpId::Arcsinh:
      return unary_of<Arcsinh>(t);
    case OpId::Arccosh:
      return unary_of<Arccosh>(t);
    case OpId::Arctanh:
      return unary_of<Arctanh>(t);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
