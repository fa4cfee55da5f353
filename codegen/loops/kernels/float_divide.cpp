// floor_divide, remainder and fmod of floats: NumPy's npy_divmod. Vectors compute what scalars do,
// to the bit and the flag.
#include <cmath>

#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// fmod with the sign of b. Computes nothing else: the quotient may overflow where this does not.
template <class T>
T modulus(T a, T b) {
  const T mod = std::fmod(a, b);
  if (b == 0) return mod;
  if (mod == 0) return std::copysign(T(0), b);
  return std::isless(b, T(0)) != std::isless(mod, T(0)) ? mod + b : mod;
}
// Without the fmod at b == 0: a / 0 is a division by zero and not invalid.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return a / b;
  const T mod = std::fmod(a, b);
  T div = (a - mod) / b;
  if (mod != 0 && std::isless(b, T(0)) != std::isless(mod, T(0))) div -= 1;
  if (div == 0) return std::copysign(T(0), a / b);
  const T floor = std::floor(div);
  return std::isgreater(div - floor, T(0.5)) ? floor + 1 : floor;
}

// The operations of T on what vectors of float64 hold; all they give is a T.
template <class T>
struct In {
  static PLAIT_INLINE vd sum(vd a, vd b) {
    if constexpr (std::is_same_v<T, f32>)
      return widen(narrow(a) + narrow(b));
    else
      return a + b;
  }
  static PLAIT_INLINE vd ratio(vd a, vd b) {
    if constexpr (std::is_same_v<T, f32>)
      return widen(narrow(a) / narrow(b));
    else
      return a / b;
  }
  static double quotient_special(double x, double y) { return quotient(T(x), T(y)); }
  static double modulus_special(double x, double y) { return modulus(T(x), T(y)); }
  static double fmod_special(double x, double y) { return std::fmod(T(x), T(y)); }
};

// x mod y of the lanes that are not special. There x is an integer multiple of y, below 2^49, and a
// rest: the multiple is off by one at most, so that subtraction and correction are exact.
struct Reduced {
  vl special;  // these have x = y = 1, or a large quotient
  vd x, y;
  vd mod;    // with the sign of x
  vl apart;  // mod is neither zero nor of the sign of y
};
PLAIT_INLINE vd nearest(vd x) { return (x + kRounder) - kRounder; }  // |x| < 2^50
PLAIT_INLINE vl sign(vd x) { return bits(x) & static_cast<long long>(0x8000000000000000); }
PLAIT_INLINE vd keep(vl mask, vd x) { return from_bits(bits(x) & mask); }
PLAIT_INLINE Reduced reduce(vd x, vd y, vl special) {
  special |= beyond(x, 0x1p500) | beyond(y, 0x1p500) | within(y, 0x1p-500);
  x = select(special, splat(1.0), x);
  y = select(special, splat(1.0), y);
  const vd a = abs(x), b = abs(y);
  // What is below y is its own rest; dividing it could underflow.
  const vl below = (vl)(bits(a) < bits(b));
  const vd larger = select(below, vd{}, a), q = larger / b;
  const vl far = beyond(q, 0x1p49);
  const vd rest = fma(-nearest(select(far, vd{}, q)), b, select(far, vd{}, larger));
  const vd positive = rest + keep((vl)(bits(rest) < 0), b);
  const vd mod = copysign(select(below, a, positive), x);
  return {special | far, x, y, mod, (vl)(mod != 0.0) & (vl)((bits(x) ^ bits(y)) < 0)};
}

template <class T>
struct FloorDivideOf {
  static PLAIT_INLINE vd f(vd x, vd y) {
    // A quotient of zero takes its sign from a division, which may underflow.
    constexpr bool narrow = std::is_same_v<T, f32>;
    const vl tiny = within(x, narrow ? 0x1p-60 : 0x1p-500) & (vl)((bits(x) << 1) != 0);
    const Reduced r = reduce(x, y, narrow ? tiny | beyond(y, 0x1p60) : tiny);
    const vd div =
        In<T>::sum(In<T>::ratio(In<T>::sum(r.x, -r.mod), r.y), keep(r.apart, splat(-1.0)));
    const vd near = nearest(div), floor = near - keep((vl)(near > div), splat(1.0));
    const vd value = floor + keep((vl)(div - floor > 0.5), splat(1.0));
    vd result = select((vl)(div == 0.0), from_bits(sign(r.x) ^ sign(r.y)), value);
    if (any(r.special)) [[unlikely]]
      patch<In<T>::quotient_special>(result, r.special, x, y);
    return result;
  }
};
template <class T>
struct RemainderOf {
  static PLAIT_INLINE vd f(vd x, vd y) {
    const Reduced r = reduce(x, y, vl{});
    const vd value = In<T>::sum(r.mod, keep(r.apart, r.y));
    vd result = select((vl)(r.mod == 0.0), from_bits(sign(r.y)), value);
    if (any(r.special)) [[unlikely]]
      patch<In<T>::modulus_special>(result, r.special, x, y);
    return result;
  }
};
template <class T>
struct FmodOf {
  static PLAIT_INLINE vd f(vd x, vd y) {
    const Reduced r = reduce(x, y, vl{});
    vd result = r.mod;
    if (any(r.special)) [[unlikely]]
      patch<In<T>::fmod_special>(result, r.special, x, y);
    return result;
  }
};
template <template <class> class Op>
struct Division : Op<f64> {
  using Float = Op<f32>;
};

}  // namespace

Found float_division(OpId op, DType t) {
  switch (op) {
    case OpId::FloorDivide:
      return binary_math<Division<FloorDivideOf>>(t);
    case OpId::Remainder:
      return binary_math<Division<RemainderOf>>(t);
    case OpId::Fmod:
      return binary_math<Division<FmodOf>>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
