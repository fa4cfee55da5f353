// Integer division and its relatives. Division by zero gives 0 and the divide-by-zero flag; the
// one quotient that does not fit, smallest // -1, wraps and raises the overflow flag.
#include <limits>
#include <numeric>

#include "codegen/loops/convert.hpp"
#include "codegen/loops/drivers.hpp"
#include "codegen/loops/raise.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
struct Quotient {
  T value;
  unsigned flag = 0;
};

// f(a, b, b is -1), never with b = 0. Flags are gathered in a local and raised once, after the
// loop.
template <class T, class F>
PLAIT_INLINE void flagged(Args args, Strides s, std::int64_t n, F f) {
  unsigned bad = 0;
  binary<T, T, T>(args, s, n, [&bad, f](T a, T b) {
    if (b == 0) {
      bad |= FE_DIVBYZERO;
      return T(0);
    }
    const Quotient<T> q = f(a, b, std::is_signed_v<T> && b == T(-1));
    bad |= q.flag;
    return q.value;
  });
  if (bad) raise_flags(static_cast<int>(bad));
}
template <class T>
PLAIT_INLINE T negate(T a) {
  return T(std::make_unsigned_t<T>(0) - std::make_unsigned_t<T>(a));
}

template <class T>
void floor_divide(Args args, Strides s, std::int64_t n) {
  flagged<T>(args, s, n, [](T a, T b, bool minus_one) -> Quotient<T> {
    if (minus_one)
      return {negate(a), a == std::numeric_limits<T>::min() ? unsigned(FE_OVERFLOW) : 0u};
    const T q = T(a / b);
    if constexpr (std::is_signed_v<T>) return {T(q - (((a < 0) != (b < 0)) & (T(q * b) != a)))};
    return {q};
  });
}
template <class T>
void remainder(Args args, Strides s, std::int64_t n) {
  flagged<T>(args, s, n, [](T a, T b, bool minus_one) -> Quotient<T> {
    if (minus_one) return {T(0)};
    const T r = T(a % b);
    if constexpr (std::is_signed_v<T>) return {r != 0 && (r < 0) != (b < 0) ? T(r + b) : r};
    return {r};
  });
}
template <class T>
void fmod(Args args, Strides s, std::int64_t n) {
  flagged<T>(args, s, n,
             [](T a, T b, bool minus_one) -> Quotient<T> { return {minus_one ? T(0) : T(a % b)}; });
}

template <class T>
void true_divide(Args args, Strides s, std::int64_t n) {
  binary<T, T, f64>(args, s, n, [](T a, T b) { return f64(a) / f64(b); });
}

struct Reciprocal {
  template <class T>
  static T f(T a) {
    return convert<T>(1.0 / f64(a));
  }
};
// std::gcd has no answer for the smallest signed value; its magnitude as unsigned has.
template <class T>
PLAIT_INLINE std::make_unsigned_t<T> magnitude(T a) {
  using U = std::make_unsigned_t<T>;
  return a < 0 ? U(U(0) - U(a)) : U(a);
}
struct Gcd {
  template <class T>
  static T f(T a, T b) {
    return T(std::gcd(magnitude(a), magnitude(b)));
  }
};
struct Lcm {
  template <class T>
  static T f(T a, T b) {
    using U = std::make_unsigned_t<T>;
    const U x = magnitude(a), y = magnitude(b), g = U(std::gcd(x, y));
    return g ? T(U(x / g) * std::uint64_t(y)) : T(0);
  }
};

template <class... Ts>
LoopFn pick(OpId op, Types<Ts...> types, DType t) {
  LoopFn fn = nullptr;
  switch (op) {
    case OpId::FloorDivide:
      ((t == dtype_of<Ts>() ? void(fn = &floor_divide<Ts>) : void()), ...);
      return fn;
    case OpId::Remainder:
      ((t == dtype_of<Ts>() ? void(fn = &remainder<Ts>) : void()), ...);
      return fn;
    case OpId::Fmod:
      ((t == dtype_of<Ts>() ? void(fn = &fmod<Ts>) : void()), ...);
      return fn;
    case OpId::Divide:
      ((t == dtype_of<Ts>() ? void(fn = &true_divide<Ts>) : void()), ...);
      return fn;
    case OpId::Reciprocal:
      return pick_unary<Reciprocal>(types, t);
    case OpId::Gcd:
      return pick_binary<Gcd>(types, t);
    case OpId::Lcm:
      return pick_binary<Lcm>(types, t);
    default:
      return nullptr;
  }
}

}  // namespace

LoopFn divide_loop(OpId op, DType t) { return pick(op, Ints{}, t); }

}  // namespace plait::loops::PLAIT_TIER
