// Complex arithmetic by NumPy's formulas: Smith's division, lexicographic order; products stand in
// complex_multiply.cpp, moduli in math_trig.cpp. The transcendental functions are C99's.
#include <cmath>
#include <complex>
#include <limits>

#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
using Z = Complex<T>;
template <class T>
PLAIT_INLINE bool is_nan(Z<T> a) {
  return (a.re != a.re) | (a.im != a.im);
}
template <class T>
PLAIT_INLINE bool nonzero(Z<T> a) {
  return (a.re != 0) | (a.im != 0);
}
template <class T>
PLAIT_INLINE bool greater(Z<T> a, Z<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im > b.im);
}
template <class T>
PLAIT_INLINE bool greater_equal(Z<T> a, Z<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im >= b.im);
}
template <class T>
PLAIT_INLINE std::complex<T> std_of(Z<T> a) {
  return {a.re, a.im};
}
template <class T>
PLAIT_INLINE Z<T> of_std(std::complex<T> a) {
  return {a.real(), a.imag()};
}

struct Add {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct Subtract {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return {a.re - b.re, a.im - b.im};
  }
};
// Rounded after each step, as in powers and folds.
struct Product {
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
struct Negative {
  template <class T>
  static Z<T> f(Z<T> a) {
    return {-a.re, -a.im};
  }
};
struct Positive {
  template <class T>
  static Z<T> f(Z<T> a) {
    return a;
  }
};
struct Conjugate {
  template <class T>
  static Z<T> f(Z<T> a) {
    return {a.re, -a.im};
  }
};
struct Reciprocal {
  template <class T>
  static Z<T> f(Z<T> a) {
    if (std::abs(a.im) <= std::abs(a.re)) {
      const T r = a.im / a.re, d = a.re + a.im * r;
      return {T(1) / d, -r / d};
    }
    const T r = a.re / a.im, d = a.re * r + a.im;
    return {r / d, T(-1) / d};
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
struct Rint {
  template <class T>
  static Z<T> f(Z<T> a) {
    return {std::rint(a.re), std::rint(a.im)};
  }
};
struct Real {
  template <class T>
  static T f(Z<T> a) {
    return a.re;
  }
};
struct Imag {
  template <class T>
  static T f(Z<T> a) {
    return a.im;
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

struct Equal {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return (a.re == b.re) & (a.im == b.im);
  }
};
struct NotEqual {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return (a.re != b.re) | (a.im != b.im);
  }
};
struct Less {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return greater(b, a);
  }
};
struct LessEqual {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return greater_equal(b, a);
  }
};
struct Greater {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return greater(a, b);
  }
};
struct GreaterEqual {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return greater_equal(a, b);
  }
};
struct And {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return nonzero(a) & nonzero(b);
  }
};
struct Or {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return nonzero(a) | nonzero(b);
  }
};
struct Xor {
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return nonzero(a) ^ nonzero(b);
  }
};
struct Not {
  template <class T>
  static bool f(Z<T> a) {
    return !nonzero(a);
  }
};
struct Isfinite {
  template <class T>
  static bool f(Z<T> a) {
    return std::isfinite(a.re) && std::isfinite(a.im);
  }
};
struct Isinf {
  template <class T>
  static bool f(Z<T> a) {
    return std::isinf(a.re) || std::isinf(a.im);
  }
};
struct Isnan {
  template <class T>
  static bool f(Z<T> a) {
    return is_nan(a);
  }
};

struct Maximum {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return is_nan(a) || greater_equal(a, b) ? a : b;
  }
};
struct Minimum {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return is_nan(a) || greater_equal(b, a) ? a : b;
  }
};
struct Fmax {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return is_nan(b) || greater_equal(a, b) ? a : b;
  }
};
struct Fmin {
  template <class T>
  static Z<T> f(Z<T> a, Z<T> b) {
    return is_nan(b) || greater_equal(b, a) ? a : b;
  }
};

template <class Op, class R1, class R2>
LoopFn one(DType t) {
  return t == DType::Complex64 ? &unary_loop<Op, c64, R1> : &unary_loop<Op, c128, R2>;
}
template <class Op, class T, class R>
void quiet_unary(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  unary_loop<Op, T, R>(args, s, n);
}
template <class Op, class T, class R>
void quiet_binary(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  binary_loop<Op, T, R>(args, s, n);
}
template <class Op>
LoopFn unary_of(DType t) {
  return one<Op, c64, c128>(t);
}
template <class Op>
LoopFn real_of(DType t) {
  return one<Op, f32, f64>(t);
}
template <class Op>
LoopFn binary_of(DType t) {
  return t == DType::Complex64 ? &binary_loop<Op, c64> : &binary_loop<Op, c128>;
}
template <class Op>
LoopFn test_of(DType t) {
  return t == DType::Complex64 ? &quiet_unary<Op, c64, std::uint8_t>
                               : &quiet_unary<Op, c128, std::uint8_t>;
}
template <class Op>
LoopFn comparison_of(DType t) {
  return t == DType::Complex64 ? &quiet_binary<Op, c64, std::uint8_t>
                               : &quiet_binary<Op, c128, std::uint8_t>;
}
template <class Op>
LoopFn extremum_of(DType t) {
  return t == DType::Complex64 ? &quiet_binary<Op, c64, c64> : &quiet_binary<Op, c128, c128>;
}
template <class T>
void clip(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  ternary<T, T, T, T>(args, s, n, [](T x, T low, T high) {
    const T raised = is_nan(x) || greater_equal(x, low) ? x : low;
    return is_nan(raised) || greater_equal(high, raised) ? raised : high;
  });
}

template <class T>
void product_fold(void* acc, const void* in, std::int64_t stride, std::int64_t n) {
  T a = load<T>(acc);
  auto* p = static_cast<const char*>(in);
  for (std::int64_t i = 0; i < n; ++i) a = Product::f(a, load<T>(p + i * stride));
  store<T>(acc, a);
}

}  // namespace

ReduceFn complex_product_fold(DType t) {
  return t == DType::Complex64 ? &product_fold<c64> : &product_fold<c128>;
}

LoopFn complex_loop(OpId op, DType t) {
  switch (op) {
    case OpId::Add:
      return binary_of<Add>(t);
    case OpId::Subtract:
      return binary_of<Subtract>(t);
    case OpId::Divide:
      return binary_of<Divide>(t);
    case OpId::Multiply:  // as folds have it
      return binary_of<Product>(t);
    case OpId::Power:
    case OpId::FloatPower:
      return binary_of<Power>(t);
    case OpId::Negative:
      return unary_of<Negative>(t);
    case OpId::Positive:
      return unary_of<Positive>(t);
    case OpId::Conjugate:
      return unary_of<Conjugate>(t);
    case OpId::Reciprocal:
      return unary_of<Reciprocal>(t);
    case OpId::Sign:
      return unary_of<Sign>(t);
    case OpId::Rint:
      return unary_of<Rint>(t);
    case OpId::Real:
      return real_of<Real>(t);
    case OpId::Imag:
      return real_of<Imag>(t);
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
    case OpId::Equal:
      return comparison_of<Equal>(t);
    case OpId::NotEqual:
      return comparison_of<NotEqual>(t);
    case OpId::Less:
      return comparison_of<Less>(t);
    case OpId::LessEqual:
      return comparison_of<LessEqual>(t);
    case OpId::Greater:
      return comparison_of<Greater>(t);
    case OpId::GreaterEqual:
      return comparison_of<GreaterEqual>(t);
    case OpId::LogicalAnd:
      return comparison_of<And>(t);
    case OpId::LogicalOr:
      return comparison_of<Or>(t);
    case OpId::LogicalXor:
      return comparison_of<Xor>(t);
    case OpId::LogicalNot:
      return test_of<Not>(t);
    case OpId::Isfinite:
      return test_of<Isfinite>(t);
    case OpId::Isinf:
      return test_of<Isinf>(t);
    case OpId::Isnan:
      return test_of<Isnan>(t);
    case OpId::Maximum:
      return extremum_of<Maximum>(t);
    case OpId::Minimum:
      return extremum_of<Minimum>(t);
    case OpId::Fmax:
      return extremum_of<Fmax>(t);
    case OpId::Fmin:
      return extremum_of<Fmin>(t);
    case OpId::Clip:
      return t == DType::Complex64 ? &clip<c64> : &clip<c128>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
