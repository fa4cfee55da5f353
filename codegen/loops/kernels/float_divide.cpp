// floor_divide, remainder and fmod of floats: NumPy's npy_divmod.
#include <cmath>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
struct DivMod {
  T quotient, modulus;
};

template <class T>
DivMod<T> divmod(T a, T b) {
  T mod = std::fmod(a, b);
  if (b == 0) return {a / b, mod};
  T div = (a - mod) / b;
  if (mod != 0) {
    if (std::isless(b, T(0)) != std::isless(mod, T(0))) {
      mod += b;
      div -= 1;
    }
  } else {
    mod = std::copysign(T(0), b);
  }
  if (div == 0) return {std::copysign(T(0), a / b), mod};
  T quotient = std::floor(div);
  if (std::isgreater(div - quotient, T(0.5))) quotient += 1;
  return {quotient, mod};
}

// Without the fmod at b == 0: a / 0 is a division by zero and not invalid.
struct FloorDivide {
  template <class T>
  static T f(T a, T b) {
    return b == 0 ? a / b : divmod(a, b).quotient;
  }
};
struct Remainder {
  template <class T>
  static T f(T a, T b) {
    return b == 0 ? std::fmod(a, b) : divmod(a, b).modulus;
  }
};
struct Fmod {
  template <class T>
  static T f(T a, T b) {
    return std::fmod(a, b);
  }
};

}  // namespace

LoopFn float_divide_loop(OpId op, DType t) {
  switch (op) {
    case OpId::FloorDivide:
      return pick_binary<FloorDivide>(Floats{}, t);
    case OpId::Remainder:
      return pick_binary<Remainder>(Floats{}, t);
    case OpId::Fmod:
      return pick_binary<Fmod>(Floats{}, t);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
