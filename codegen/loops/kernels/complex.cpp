// Complex arithmetic by NumPy's formulas: Smith's division, lexicographic order; products stand in
// complex_multiply.cpp, moduli in math_trig.cpp, functions in complex_math.cpp.
#include <cmath>
#include <limits>

#include "codegen/loops/complex_arithmetic.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
PLAIT_INLINE bool is_nan(Z<T> a) {
  return (a.re != a.re) | (a.im != a.im);
}
template <class T>
PLAIT_INLINE bool greater(Z<T> a, Z<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im > b.im);
}
template <class T>
PLAIT_INLINE bool greater_equal(Z<T> a, Z<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im >= b.im);
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

struct Equal {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return (a.re == b.re) & (a.im == b.im);
  }
};
struct NotEqual {
  static constexpr bool kTurns = true;
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
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return nonzero(a) & nonzero(b);
  }
};
struct Or {
  static constexpr bool kTurns = true;
  template <class T>
  static bool f(Z<T> a, Z<T> b) {
    return nonzero(a) | nonzero(b);
  }
};
struct Xor {
  static constexpr bool kTurns = true;
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
    case OpId::Negative:
      return unary_of<Negative>(t);
    case OpId::Positive:
      return unary_of<Positive>(t);
    case OpId::Conjugate:
      return unary_of<Conjugate>(t);
    case OpId::Reciprocal:
      return unary_of<Reciprocal>(t);
    case OpId::Rint:
      return unary_of<Rint>(t);
    case OpId::Real:
      return real_of<Real>(t);
    case OpId::Imag:
      return real_of<Imag>(t);
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
      return baseline::complex_math_loop(op, t);  // libm's, at any tier
  }
}

}  // namespace plait::loops::PLAIT_TIER
