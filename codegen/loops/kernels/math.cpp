// The transcendental functions of float32 and float64.
#include <cmath>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

#define PLAIT_LIBM1(Name, fn)                         \
  struct Name {                                       \
    template <class T>                                \
    static T f(T a) {                                 \
      return static_cast<T>(fn(static_cast<f64>(a))); \
    }                                                 \
  };
PLAIT_LIBM1(Exp, std::exp)
PLAIT_LIBM1(Exp2, std::exp2)
PLAIT_LIBM1(Expm1, std::expm1)
PLAIT_LIBM1(Log, std::log)
PLAIT_LIBM1(Log2, std::log2)
PLAIT_LIBM1(Log10, std::log10)
PLAIT_LIBM1(Log1p, std::log1p)
PLAIT_LIBM1(Sin, std::sin)
PLAIT_LIBM1(Cos, std::cos)
PLAIT_LIBM1(Tan, std::tan)
PLAIT_LIBM1(Arcsin, std::asin)
PLAIT_LIBM1(Arccos, std::acos)
PLAIT_LIBM1(Arctan, std::atan)
PLAIT_LIBM1(Sinh, std::sinh)
PLAIT_LIBM1(Cosh, std::cosh)
PLAIT_LIBM1(Tanh, std::tanh)
PLAIT_LIBM1(Arcsinh, std::asinh)
PLAIT_LIBM1(Arccosh, std::acosh)
PLAIT_LIBM1(Arctanh, std::atanh)
PLAIT_LIBM1(Cbrt, std::cbrt)
#undef PLAIT_LIBM1
struct Power {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(std::pow(f64(a), f64(b)));
  }
};
struct Hypot {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(std::hypot(f64(a), f64(b)));
  }
};
struct Arctan2 {
  template <class T>
  static T f(T a, T b) {
    return static_cast<T>(std::atan2(f64(a), f64(b)));
  }
};
struct Logaddexp {
  template <class T>
  static T f(T a, T b) {
    const f64 x = a, y = b, d = x - y;
    if (x == y) return T(x + M_LN2);
    return T(d > 0 ? x + std::log1p(std::exp(-d)) : d <= 0 ? y + std::log1p(std::exp(d)) : d);
  }
};
struct Logaddexp2 {
  template <class T>
  static T f(T a, T b) {
    const f64 x = a, y = b, d = x - y;
    if (x == y) return T(x + 1);
    return T(d > 0    ? x + M_LOG2E * std::log1p(std::exp2(-d))
             : d <= 0 ? y + M_LOG2E * std::log1p(std::exp2(d))
                      : d);
  }
};

template <class Op>
LoopFn one(DType t) {
  return pick_unary<Op>(Floats{}, t);
}
template <class Op>
LoopFn two(DType t) {
  return pick_binary<Op>(Floats{}, t);
}

}  // namespace

LoopFn math_loop(OpId op, DType t) {
  switch (op) {
    case OpId::Exp:
      return one<Exp>(t);
    case OpId::Exp2:
      return one<Exp2>(t);
    case OpId::Expm1:
      return one<Expm1>(t);
    case OpId::Log:
      return one<Log>(t);
    case OpId::Log2:
      return one<Log2>(t);
    case OpId::Log10:
      return one<Log10>(t);
    case OpId::Log1p:
      return one<Log1p>(t);
    case OpId::Sin:
      return one<Sin>(t);
    case OpId::Cos:
      return one<Cos>(t);
    case OpId::Tan:
      return one<Tan>(t);
    case OpId::Arcsin:
      return one<Arcsin>(t);
    case OpId::Arccos:
      return one<Arccos>(t);
    case OpId::Arctan:
      return one<Arctan>(t);
    case OpId::Sinh:
      return one<Sinh>(t);
    case OpId::Cosh:
      return one<Cosh>(t);
    case OpId::Tanh:
      return one<Tanh>(t);
    case OpId::Arcsinh:
      return one<Arcsinh>(t);
    case OpId::Arccosh:
      return one<Arccosh>(t);
    case OpId::Arctanh:
      return one<Arctanh>(t);
    case OpId::Cbrt:
      return one<Cbrt>(t);
    case OpId::Power:
    case OpId::FloatPower:
      return two<Power>(t);
    case OpId::Hypot:
      return two<Hypot>(t);
    case OpId::Arctan2:
      return two<Arctan2>(t);
    case OpId::Logaddexp:
      return two<Logaddexp>(t);
    case OpId::Logaddexp2:
      return two<Logaddexp2>(t);
    default:
      return nullptr;
  }
}

VectorFn vector_function(OpId, DType) { return {nullptr, 0}; }

}  // namespace plait::loops::PLAIT_TIER
