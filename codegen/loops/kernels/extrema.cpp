// Extrema, sign, heaviside and clip. Quiet, as comparisons are.
#include <cmath>
#include <limits>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// The first operand wins ties (of zeros) and NaN.
struct Maximum {
  template <class T>
  static T f(T a, T b) {
    return (a >= b) | (a != a) ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T f(T a, T b) {
    return (a <= b) | (a != a) ? a : b;
  }
};
struct Fmax {
  template <class T>
  static T f(T a, T b) {
    return (a >= b) | (b != b) ? a : b;
  }
};
struct Fmin {
  template <class T>
  static T f(T a, T b) {
    return (a <= b) | (b != b) ? a : b;
  }
};
struct Sign {
  template <class T>
  static T f(T a) {
    return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a;
  }
};
struct Heaviside {
  template <class T>
  static T f(T a, T b) {
    return a > 0 ? T(1) : a < 0 ? T(0) : a == 0 ? b : a;
  }
};

// A value equal to its bound stays: of zeros the sign shows, and NumPy's scalar bounds leave it.
struct Raise {
  template <class T>
  static T f(T x, T low) {
    return (x >= low) | (x != x) ? x : low;
  }
};
struct Lower {
  template <class T>
  static T f(T x, T high) {
    return (x <= high) | (x != x) ? x : high;
  }
};
// In two passes, which vectorise where the nested choice does not; in one where the first would
// overwrite `high`.
template <class T>
void clip(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  if (args[3] == args[2])
    return ternary<T, T, T, T>(args, s, n,
                               [](T x, T low, T high) { return Lower::f(Raise::f(x, low), high); });
  void* const raise[] = {args[0], args[1], args[3]};
  const std::int64_t raise_strides[] = {s[0], s[1], s[3]};
  binary_loop<Raise, T>(raise, raise_strides, n);
  void* const lower[] = {args[3], args[2], args[3]};
  const std::int64_t lower_strides[] = {s[3], s[2], s[3]};
  binary_loop<Lower, T>(lower, lower_strides, n);
}
template <class Op, class T>
void quiet_unary(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  unary_loop<Op, T>(args, s, n);
}
template <class Op, class T>
void quiet_binary(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  binary_loop<Op, T>(args, s, n);
}

template <class Op>
LoopFn extremum(DType t) {
  if (t == DType::Float32) return &quiet_binary<Op, f32>;
  if (t == DType::Float64) return &quiet_binary<Op, f64>;
  return pick_binary<Op>(Ints{}, t);
}
template <class... Ts>
LoopFn clips(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &clip<Ts>) : void()), ...);
  return fn;
}

}  // namespace

LoopFn extrema_loop(OpId op, DType t) {
  if (t == DType::Bool) t = DType::UInt8;
  const bool single = t == DType::Float32, real = single || t == DType::Float64;
  switch (op) {
    case OpId::Maximum:
      return extremum<Maximum>(t);
    case OpId::Minimum:
      return extremum<Minimum>(t);
    case OpId::Fmax:
      return real ? extremum<Fmax>(t) : extremum<Maximum>(t);
    case OpId::Fmin:
      return real ? extremum<Fmin>(t) : extremum<Minimum>(t);
    case OpId::Clip:
      return real ? clips(Floats{}, t) : clips(Ints{}, t);
    case OpId::Sign:
      if (!real) return nullptr;
      return single ? &quiet_unary<Sign, f32> : &quiet_unary<Sign, f64>;
    case OpId::Heaviside:
      if (!real) return nullptr;
      return single ? &quiet_binary<Heaviside, f32> : &quiet_binary<Heaviside, f64>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
