// Float arithmetic whose every operation is one or a few instructions.
#include <cmath>
#include <limits>

#include "codegen/loops/drivers.hpp"

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
// The distance to the next number away from zero, with the sign of a. For a zero it is positive.
struct Spacing {
  template <class T>
  static T f(T a) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    if (a == 0) return std::numeric_limits<T>::denorm_min();
    // By its bits: what computes all lanes may compare so that NaN raises a flag, and the
    // difference of infinities raises one.
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const bool special = __builtin_bit_cast(Bits, std::fabs(a)) >= __builtin_bit_cast(Bits, inf);
    const T finite = special ? T(1) : a;
    const T distance = std::nextafter(finite, std::copysign(inf, finite)) - finite;
    return special ? std::numeric_limits<T>::quiet_NaN() : distance;
  }
};

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
      return unary_of<Spacing>(t);
    case OpId::Fma:
      return t == DType::Float32 ? &multiply_add<f32> : &multiply_add<f64>;
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
