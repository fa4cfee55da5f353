// Float arithmetic whose every operation is one or a few instructions.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codegen/loops/drivers.hpp"
#include "codegen/loops/raise.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

struct Add {
  template <class T>
  static T f(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T f(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T f(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T f(T a, T b) {
    return a / b;
  }
};
struct Negative {
  template <class T>
  static T f(T a) {
    return -a;
  }
};
struct Positive {
  template <class T>
  static T f(T a) {
    return a;
  }
};
struct Absolute {
  template <class T>
  static T f(T a) {
    return std::abs(a);
  }
};
struct Sqrt {
  template <class T>
  static T f(T a) {
    return std::sqrt(a);
  }
};
struct Square {
  template <class T>
  static T f(T a) {
    return a * a;
  }
};
struct Reciprocal {
  template <class T>
  static T f(T a) {
    return T(1) / a;
  }
};
struct Degrees {
  template <class T>
  static T f(T a) {
    return a * (T(180) / T(M_PI));
  }
};
struct Radians {
  template <class T>
  static T f(T a) {
    return a * (T(M_PI) / T(180));
  }
};
struct Floor {
  template <class T>
  static T f(T a) {
    return std::floor(a);
  }
};
struct Ceil {
  template <class T>
  static T f(T a) {
    return std::ceil(a);
  }
};
struct Trunc {
  template <class T>
  static T f(T a) {
    return std::trunc(a);
  }
};
struct Rint {
  template <class T>
  static T f(T a) {
    return std::rint(a);
  }
};
struct Copysign {
  static constexpr One kOne = One::Right;
  template <class T>
  static T f(T a, T b) {
    return std::copysign(a, b);
  }
};
struct Nextafter {
  static constexpr One kOne = One::Right;
  template <class T>
  static T f(T a, T b) {
    return std::nextafter(a, b);
  }
};
// The distance to the next number away from zero, with the sign of a; for a zero it is positive.
template <class T>
void spacing(Args args, Strides s, std::int64_t n) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits kSign = Bits{1} << (sizeof(T) * 8 - 1);
  constexpr auto kInfinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  constexpr auto kNormal = std::bit_cast<Bits>(std::numeric_limits<T>::min());
  constexpr auto kNaN = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  Bits last = 0, subnormal = 0;
  unary<T, T>(args, s, n, [&](T a) {
    const auto bits = std::bit_cast<Bits>(a);
    const Bits size = bits & ~kSign, sign = size == 0 ? 0 : bits & kSign;
    last |= Bits(size == kInfinite - 1);
    subnormal |= Bits(size - 1 < kNormal - 1);
    // Exact, also where it is subnormal: nothing is raised.
    const T power = std::bit_cast<T>(size & kInfinite) * std::numeric_limits<T>::epsilon();
    const Bits distance = std::max(std::bit_cast<Bits>(power), Bits{1});
    const Bits made = (size == kInfinite - 1 ? kInfinite : distance) | sign;
    return std::bit_cast<T>(size < kInfinite ? made : kNaN);
  });
  if (last) raise_flags(FE_OVERFLOW);
  if (subnormal) raise_flags(FE_UNDERFLOW);
}

template <class T>
void multiply_add(Args args, Strides s, std::int64_t n) {
  ternary<T, T, T, T>(args, s, n, [](T x, T y, T z) { return std::fma(x, y, z); });
}

template <class Op>
LoopFn unary_of(DType t) {
  return pick_unary<Op>(Floats{}, t);
}
template <class Op>
LoopFn binary_of(DType t) {
  return pick_binary<Op>(Floats{}, t);
}

}  // namespace

LoopFn float_loop(OpId op, DType t) {
  switch (op) {
    case OpId::Add:
      return binary_of<Add>(t);
    case OpId::Subtract:
      return binary_of<Subtract>(t);
    case OpId::Multiply:
      return binary_of<Multiply>(t);
    case OpId::Divide:
      return binary_of<Divide>(t);
    case OpId::Negative:
      return unary_of<Negative>(t);
    case OpId::Positive:
    case OpId::Conjugate:
      return unary_of<Positive>(t);
    case OpId::Absolute:
    case OpId::Fabs:
      return unary_of<Absolute>(t);
    case OpId::Sqrt:
      return unary_of<Sqrt>(t);
    case OpId::Square:
      return unary_of<Square>(t);
    case OpId::Reciprocal:
      return unary_of<Reciprocal>(t);
    case OpId::Degrees:
    case OpId::Rad2deg:
      return unary_of<Degrees>(t);
    case OpId::Radians:
    case OpId::Deg2rad:
      return unary_of<Radians>(t);
    case OpId::Floor:
      return unary_of<Floor>(t);
    case OpId::Ceil:
      return unary_of<Ceil>(t);
    case OpId::Trunc:
      return unary_of<Trunc>(t);
    case OpId::Rint:
      return unary_of<Rint>(t);
    case OpId::Copysign:
      return binary_of<Copysign>(t);
    case OpId::Nextafter:
      return binary_of<Nextafter>(t);
    case OpId::Spacing:
      return t == DType::Float32 ? &spacing<f32> : &spacing<f64>;
    case OpId::Fma:
      return t == DType::Float32 ? &multiply_add<f32> : &multiply_add<f64>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
