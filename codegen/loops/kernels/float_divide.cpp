// floor_divide, remainder and fmod of floats: NumPy's npy_divmod.
#include <cmath>

#include "codegen/loops/drivers.hpp"

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

struct FloorDivide {
  template <class T>
  static T f(T a, T b) {
    return quotient(a, b);
  }
};
struct Remainder {
  template <class T>
  static T f(T a, T b) {
    return modulus(a, b);
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
