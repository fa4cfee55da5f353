// Integer division and its relatives. Division by zero gives 0 and the divide-by-zero flag; the
// one quotient that does not fit, smallest // -1, wraps and raises the overflow flag.
#include <limits>
#include <numeric>

#include "codegen/loops/convert.hpp"
#include "codegen/loops/drivers.hpp"
#include "codegen/loops/invariant_divide.hpp"
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
  binary<T, T, T, One::Right>(args, s, n, [&bad, f](T a, T b) {
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

// What integers below 64 bits are divided in: the product with a rounded inverse is off by less
// than one, and the remainder mends it.
template <class T>
struct Via {
  static constexpr bool kPays = sizeof(T) < 4 || std::is_same_v<T, std::int32_t> ||
                                (kConvertsUnsigned && std::is_same_v<T, std::uint32_t>);
  using Real = std::conditional_t<(sizeof(T) < 4), f32, f64>;
  using Int = std::conditional_t<std::is_same_v<T, std::uint32_t>, std::int64_t, std::int32_t>;
};

// Where there is no quotient, or none that fits, 1 divides: the remainder is zero, the quotient
// wraps.
template <class T, Part kPart>
PLAIT_INLINE T divided(T a, T b, unsigned& bad) {
  using Real = typename Via<T>::Real;
  using Int = typename Via<T>::Int;
  const bool none = b == 0;
  const bool wraps = std::is_signed_v<T> & (a == std::numeric_limits<T>::min()) & (b == T(-1));
  const T by = T(b + T(none) + T(T(wraps) * 2));
  bad |= unsigned(none) * unsigned(FE_DIVBYZERO);
  if constexpr (kPart == Part::Quotient) bad |= unsigned(wraps) * unsigned(FE_OVERFLOW);
  const Int x = a, y = by;
  const Real inverse = Real(1) / Real(y);
  Int q = Int(Real(x) * inverse), r = x - q * y;
  const bool apart = (r != 0) & ((r ^ y) < 0);
  q -= apart;
  r += y & -Int(apart);
  const bool whole = r == y;  // the product fell short of an integer
  q += whole;
  r &= Int(whole) - 1;
  if constexpr (kPart == Part::Quotient) return T(T(q) & T(T(none) - 1));
  if constexpr (kPart == Part::Fmod && std::is_signed_v<T>)
    return T(r - (y & -Int((r != 0) & ((x ^ y) < 0))));
  return T(r);
}

template <class T, Part kPart>
PLAIT_INLINE Quotient<T> divided_by_instruction(T a, T b, bool minus_one) {
  if constexpr (kPart == Part::Quotient) {
    if (minus_one)
      return {negate(a), a == std::numeric_limits<T>::min() ? unsigned(FE_OVERFLOW) : 0u};
    const T q = T(a / b);
    if constexpr (std::is_signed_v<T>) return {T(q - (((a < 0) != (b < 0)) & (T(q * b) != a)))};
    return {q};
  } else {
    if (minus_one) return {T(0)};
    const T r = T(a % b);
    if constexpr (kPart == Part::Remainder && std::is_signed_v<T>)
      return {r != 0 && (r < 0) != (b < 0) ? T(r + b) : r};
    return {r};
  }
}

template <class T, Part kPart>
void division(Args args, Strides s, std::int64_t n) {
  if (divide_by_one<T, kPart>(args, s, n)) return;
  if constexpr (Via<T>::kPays) {
    unsigned bad = 0;
    const auto one = [&bad](T a, T b) { return divided<T, kPart>(a, b, bad); };
    binary<T, T, T, One::Right>(args, s, n, one);
    if (bad) raise_flags(static_cast<int>(bad));
  } else {
    flagged<T>(args, s, n, [](T a, T b, bool minus_one) {
      return divided_by_instruction<T, kPart>(a, b, minus_one);
    });
  }
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
  static constexpr One kOne = One::None;
  template <class T>
  static T f(T a, T b) {
    return T(std::gcd(magnitude(a), magnitude(b)));
  }
};
struct Lcm {
  static constexpr One kOne = One::None;
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
      ((t == dtype_of<Ts>() ? void(fn = &division<Ts, Part::Quotient>) : void()), ...);
      return fn;
    case OpId::Remainder:
      ((t == dtype_of<Ts>() ? void(fn = &division<Ts, Part::Remainder>) : void()), ...);
      return fn;
    case OpId::Fmod:
      ((t == dtype_of<Ts>() ? void(fn = &division<Ts, Part::Fmod>) : void()), ...);
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
