// Division of many integers by one: a product with its inverse and shifts, exact for every dividend
// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
#pragma once
#include <bit>
#include <limits>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

using u32s = vu;
using u64s = vul;
template <class U>
using Lanes = std::conditional_t<(sizeof(U) == 8), u64s, u32s>;

// The high halves of 64-bit products, from products of 32-bit halves.
PLAIT_INLINE u64s high_products(u64s a, std::uint64_t factor) {
  const u64s b = factor - u64s{}, a1 = a >> 32, b1 = b >> 32;
  const u64s low = low_products(a, b), cross = low_products(a1, b) + (low >> 32);
  const u64s other = low_products(a, b1) + (cross & 0xffffffff);
  return low_products(a1, b1) + (cross >> 32) + (other >> 32);
}
// Those of 32-bit products, of even lanes and odd ones.
PLAIT_INLINE u32s high_products(u32s a, std::uint32_t factor) {
  const u64s b = factor - u64s{};
  const u64s even = low_products((u64s)a, b), odd = low_products((u64s)a >> 32, b);
  return (u32s)((even >> 32) | (odd & ~u64s{} << 32));
}

// u / by for unsigned U, by > 1. In its lanes' own width, so that loops over it become vectors.
template <class U>
struct Inverse {
  static constexpr int kBits = std::numeric_limits<U>::digits;
  static constexpr bool kWhole = kBits == 8;  // the factor has all of the bits that are needed
  using Factor = std::conditional_t<kWhole, std::uint16_t, U>;
  U by;
  Factor factor;
  int shift;

  constexpr explicit Inverse(U d) : by(d) {
    if constexpr (kWhole) {
      factor = Factor(65536 / d + 1);
      shift = 0;
    } else {
      using Wide = std::conditional_t<(kBits < 64), std::uint64_t, unsigned __int128>;
      const int l = kBits - std::countl_zero(U(d - 1));  // 2^l >= d
      factor = U((((Wide(1) << l) - d) << kBits) / d + 1);
      shift = l - 1;
    }
  }
  PLAIT_INLINE U quotient(U u) const {
    if constexpr (kWhole) return U((std::uint32_t(u) * factor) >> 16);
    using Wide =
        std::conditional_t<(kBits < 32), std::uint32_t,
                           std::conditional_t<(kBits < 64), std::uint64_t, unsigned __int128>>;
    const U high = U((Wide(u) * factor) >> kBits);
    return U(U(high + U(U(u - high) >> 1)) >> shift);
  }
  PLAIT_INLINE Lanes<U> quotient(Lanes<U> u) const {
    const Lanes<U> high = high_products(u, factor);
    return (high + ((u - high) >> 1)) >> shift;
  }
};

// That of the divisor before is kept: machine code divides a few lanes at a time.
template <class U>
const Inverse<U>& inverse_of(U by) {
  static constinit thread_local Inverse<U> last{2};
  if (last.by != by) last = Inverse<U>(by);
  return last;
}

enum class Part { Quotient, Remainder, Fmod };

// What is asked of a / by, rounded to minus infinity; V is T or a vector of its unsigned type.
template <class T, Part kPart, bool kNegative, class V>
PLAIT_INLINE V divide_by(V a, const Inverse<std::make_unsigned_t<T>>& inverse) {
  using U = std::make_unsigned_t<T>;
  if constexpr (std::is_same_v<V, T>) {
    if constexpr (!std::is_signed_v<T>) {
      const T q = inverse.quotient(a);
      return kPart == Part::Quotient ? q : T(a - T(q * inverse.by));
    } else if constexpr (kPart == Part::Fmod) {
      const U sign = U(a < 0 ? -1 : 0), u = U(U(U(a) ^ sign) - sign);
      const U r = U(u - U(inverse.quotient(u) * inverse.by));
      return T(U(U(r ^ sign) - sign));
    } else {
      // floor(a / d) is ~(~a / d) for negative a; with d negative, a / d is (-a) / (-d).
      const U b = kNegative ? U(U(a) - 1) : U(a);
      const U down = U((kNegative ? a > 0 : a < 0) ? -1 : 0);
      const U q = U(inverse.quotient(U(kNegative ? U(b ^ U(~down)) : U(b ^ down))) ^ down);
      if constexpr (kPart == Part::Quotient) return T(q);
      return T(U(U(a) - U(q * (kNegative ? U(0 - inverse.by) : inverse.by))));
    }
  } else {
    using S = std::conditional_t<(sizeof(T) == 8), vl, vi>;
    using U = std::make_unsigned_t<T>;
    if constexpr (!std::is_signed_v<T>) {
      const V q = inverse.quotient(a);
      return kPart == Part::Quotient ? q : a - q * inverse.by;
    } else if constexpr (kPart == Part::Fmod) {
      const V sign = (V)((S)a < 0), u = (a ^ sign) - sign;
      const V r = u - inverse.quotient(u) * inverse.by;
      return (r ^ sign) - sign;
    } else {
      const V b = kNegative ? a - 1 : a;
      const V down = kNegative ? (V)((S)a > 0) : (V)((S)a < 0);
      const V q = inverse.quotient(kNegative ? b ^ ~down : b ^ down) ^ down;
      if constexpr (kPart == Part::Quotient) return q;
      return a - q * (kNegative ? U(0) - inverse.by : inverse.by);
    }
  }
}

template <class T, Part kPart, bool kNegative>
void divide_all(Args args, Strides s, std::int64_t n,
                const Inverse<std::make_unsigned_t<T>>& shared) {
  Inverse<std::make_unsigned_t<T>> inverse = shared;
  inverse.shift &= 8 * sizeof(T) - 1;  // known in front of the loop, the shift stays in its lanes
  void* apart[] = {args[0], args[2]};
  std::int64_t strides[] = {s[0], s[2]}, i = 0;
  if constexpr (sizeof(T) >= 4) {  // narrower lanes the compiler multiplies as well
    if (s[0] == sizeof(T) && s[2] == sizeof(T)) {
      using V = Lanes<std::make_unsigned_t<T>>;
      auto* in = static_cast<const char*>(args[0]);
      auto* out = static_cast<char*>(args[2]);
      constexpr int lanes = kVectorBytes / sizeof(T);
      for (; i + lanes <= n; i += lanes)
        store<V>(out + i * sizeof(T),
                 divide_by<T, kPart, kNegative>(load<V>(in + i * sizeof(T)), inverse));
      apart[0] = static_cast<char*>(args[0]) + i * sizeof(T);
      apart[1] = out + i * sizeof(T);
    }
  }
  unary<T, T>(apart, strides, n - i,
              [inverse](T a) { return divide_by<T, kPart, kNegative>(a, inverse); });
}

// False where one inverse would not pay, or there is none.
template <class T, Part kPart>
bool divide_by_one(Args args, Strides s, std::int64_t n) {
  constexpr std::int64_t kPays = 8;  // an inverse takes a division
  if (s[1] != 0 || n < kPays) return false;
  const T by = load<T>(args[1]);
  if (by == 0 || (std::is_signed_v<T> && by == T(-1))) return false;
  using U = std::make_unsigned_t<T>;
  if (by == 1) {
    void* const apart[] = {args[0], args[2]};
    const std::int64_t strides[] = {s[0], s[2]};
    unary<T, T>(apart, strides, n, [](T a) { return kPart == Part::Quotient ? a : T(0); });
    return true;
  }
  if (std::is_signed_v<T> && by < 0)
    divide_all<T, kPart, std::is_signed_v<T>>(args, s, n, inverse_of<U>(U(U(0) - U(by))));
  else
    divide_all<T, kPart, false>(args, s, n, inverse_of<U>(U(by)));
  return true;
}

}  // namespace plait::loops::PLAIT_TIER
