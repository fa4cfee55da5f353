// Bitwise operations, shifts and bit counts; on Bool they are the logical operations.
#include <bit>

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

struct And {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return T(a & b);
  }
};
struct Or {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return T(a | b);
  }
};
struct Xor {
  static constexpr bool kTurns = true;
  template <class T>
  static T f(T a, T b) {
    return T(a ^ b);
  }
};
struct Invert {
  template <class T>
  static T f(T a) {
    return T(~a);
  }
};
struct NotBool {
  template <class T>
  static T f(T a) {
    return T(a ^ 1);
  }
};
// A shift by the width or more, negative counts included, shifts everything out.
struct LeftShift {
  template <class T>
  static T f(T a, T b) {
    using U = std::make_unsigned_t<T>;
    constexpr U bits = sizeof(T) * 8;
    return U(b) < bits ? T(U(a) << (U(b) & (bits - 1))) : T(0);
  }
};
struct RightShift {
  template <class T>
  static T f(T a, T b) {
    using U = std::make_unsigned_t<T>;
    constexpr U bits = sizeof(T) * 8;
    return U(b) < bits ? T(a >> (U(b) & (bits - 1))) : T(a < 0 ? -1 : 0);
  }
};
// Sums of pairs, fours and eights of bits: narrow integers have no instruction for it in vectors.
template <class U>
PLAIT_INLINE U count_bits(U v) {
  if constexpr (sizeof(U) == 8) return U(std::popcount(v));
  constexpr U all = U(-1);
  v = U(v - (U(v >> 1) & U(all / 3)));
  v = U((v & U(all / 5)) + (U(v >> 2) & U(all / 5)));
  v = U(U(v + U(v >> 4)) & U(all / 17));
  return U(U(v * U(all / 255)) >> (8 * sizeof(U) - 8));
}
template <class T>
void count(Args args, Strides s, std::int64_t n) {
  unary<T, std::uint8_t>(args, s, n, [](T a) {
    using U = std::make_unsigned_t<T>;
    return static_cast<std::uint8_t>(count_bits(a < 0 ? U(U(0) - U(a)) : U(a)));
  });
}
template <class... Ts>
LoopFn pick_count(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &count<Ts>) : void()), ...);
  return fn;
}

}  // namespace

LoopFn bits_loop(OpId op, DType t) {
  const DType u = as_unsigned(t);
  switch (op) {
    case OpId::BitwiseAnd:
      return pick_binary<And>(Unsigneds{}, u);
    case OpId::BitwiseOr:
      return pick_binary<Or>(Unsigneds{}, u);
    case OpId::BitwiseXor:
      return pick_binary<Xor>(Unsigneds{}, u);
    case OpId::Invert:
      if (t == DType::Bool) return &unary_loop<NotBool, std::uint8_t>;
      return pick_unary<Invert>(Unsigneds{}, u);
    case OpId::LeftShift:
      return pick_binary<LeftShift>(Ints{}, t);
    case OpId::RightShift:
      return pick_binary<RightShift>(Ints{}, t);
    case OpId::BitwiseCount:
      return pick_count(Ints{}, t);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
