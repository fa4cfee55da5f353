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
// Of integers, either may win.
struct Larger {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return a > b ? a : b;
  }
};
struct Smaller {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return a < b ? a : b;
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
LoopFn of_floats(DType t) {
  return t == DType::Float32 ? &quiet_binary<Op, f32> : &quiet_binary<Op, f64>;
}

// Raised, then lowered: two passes, which vectorise where the nested choice does not. A value equal
// to its bound stays: of zeros the sign shows, and NumPy's scalar bounds leave it. What the first
// pass gives waits in a block where the second still needs `high`.
template <class T, class Raise, class Lower>
void clip(Args args, Strides s, std::int64_t n) {
  const QuietFlags quiet;
  alignas(64) T block[kPackCount<T>];
  const bool apart = args[3] != args[2];
  const std::int64_t step = apart ? n : kPackCount<T>;
  for (std::int64_t begin = 0; begin < n; begin += step) {
    const std::int64_t count = std::min(step, n - begin);
    const auto at = [&](int k) { return static_cast<char*>(args[k]) + begin * s[k]; };
    void* const raised = apart ? at(3) : reinterpret_cast<char*>(block);
    const std::int64_t raised_stride = apart ? s[3] : std::int64_t(sizeof(T));
    void* const raise[] = {at(0), at(1), raised};
    const std::int64_t raise_strides[] = {s[0], s[1], raised_stride};
    binary_loop<Raise, T>(raise, raise_strides, count);
    void* const lower[] = {raised, at(2), at(3)};
    const std::int64_t lower_strides[] = {raised_stride, s[2], s[3]};
    binary_loop<Lower, T>(lower, lower_strides, count);
  }
}
template <class Raise, class Lower, class... Ts>
LoopFn clips(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &clip<Ts, Raise, Lower>) : void()), ...);
  return fn;
}

}  // namespace

LoopFn extrema_loop(OpId op, DType t) {
  if (t == DType::Bool) t = DType::UInt8;
  const bool single = t == DType::Float32, real = single || t == DType::Float64;
  switch (op) {
    case OpId::Maximum:
      return real ? of_floats<Maximum>(t) : pick_binary<Larger>(Ints{}, t);
    case OpId::Minimum:
      return real ? of_floats<Minimum>(t) : pick_binary<Smaller>(Ints{}, t);
    case OpId::Fmax:
      return real ? of_floats<Fmax>(t) : pick_binary<Larger>(Ints{}, t);
    case OpId::Fmin:
      return real ? of_floats<Fmin>(t) : pick_binary<Smaller>(Ints{}, t);
    case OpId::Clip:
      return real ? clips<Maximum, Minimum>(Floats{}, t) : clips<Larger, Smaller>(Ints{}, t);
    case OpId::Sign:
      if (!real) return nullptr;
      return single ? &quiet_unary<Sign, f32> : &quiet_unary<Sign, f64>;
    case OpId::Heaviside:
      if (!real) return nullptr;
      return of_floats<Heaviside>(t);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
