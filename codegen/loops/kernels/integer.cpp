// Integer arithmetic that no divide is part of. Everything wraps, as NumPy's does.
#include <bit>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Arithmetic in an unsigned type of at least 32 bits: no promotion to signed int, no overflow.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct Add {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return T(Wide<T>(a) + Wide<T>(b));
  }
};
struct Subtract {
  template <class T>
  static T f(T a, T b) {
    return T(Wide<T>(a) - Wide<T>(b));
  }
};
struct Multiply {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return T(Wide<T>(a) * Wide<T>(b));
  }
};
// A negative exponent never arrives here: recording raises ValueError for it.
struct Power {
  template <class T>
  static T f(T base, T exponent) {
    Wide<T> result = 1, b = Wide<T>(base);
    for (auto e = std::make_unsigned_t<T>(exponent); e; e >>= 1) {
      if (e & 1) result *= b;
      b *= b;
    }
    return T(result);
  }
};
struct Negative {
  template <class T>
  static T f(T a) {
    return T(0 - Wide<T>(a));
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
    return a < 0 ? Negative::f(a) : a;
  }
};
struct Sign {
  template <class T>
  static T f(T a) {
    if constexpr (std::is_unsigned_v<T>) return a != 0;
    return T((a > 0) - (a < 0));
  }
};
struct Square {
  template <class T>
  static T f(T a) {
    return Multiply::f(a, a);
  }
};

}  // namespace

LoopFn integer_loop(OpId op, DType t) {
  const DType u = as_unsigned(t);
  switch (op) {
    case OpId::Add:
      return pick_binary<Add>(Unsigneds{}, u);
    case OpId::Subtract:
      return pick_binary<Subtract>(Unsigneds{}, u);
    case OpId::Multiply:
      return pick_binary<Multiply>(Unsigneds{}, u);
    case OpId::Power:
      return pick_binary<Power>(Unsigneds{}, u);
    case OpId::Negative:
      return pick_unary<Negative>(Unsigneds{}, u);
    case OpId::Square:
      return pick_unary<Square>(Unsigneds{}, u);
    case OpId::Absolute:
      return t == u ? pick_unary<Positive>(Unsigneds{}, u) : pick_unary<Absolute>(Signeds{}, t);
    case OpId::Sign:
      return pick_unary<Sign>(Ints{}, t);
    case OpId::Positive:
    case OpId::Conjugate:
    case OpId::Floor:
    case OpId::Ceil:
    case OpId::Trunc:
      return pick_unary<Positive>(Unsigneds{}, u);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
