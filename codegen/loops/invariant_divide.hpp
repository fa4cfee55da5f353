// Division of many integers by one: a product with its inverse and shifts, exact for every dividend
// (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
#pragma once
#include <bit>
#include <limits>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

using u64s = vul;

// The high halves of 64-bit products, from products of 32-bit halves.
PLAIT_INLINE u64s high_product(u64s a, u64s b) {
  const u64s a1 = a >> 32, b1 = b >> 32;
  const u64s low = low_products(a, b), cross = low_products(a1, b) + (low >> 32);
  const u64s other = low_products(a, b1) + (cross & 0xffffffff);
  return low_products(a1, b1) + (cross >> 32) + (other >> 32);
}

// u / by for unsigned U.
template <class U>
struct Inverse {
  static constexpr int kBits = std::numeric_limits<U>::digits;
  U by, factor;
  int first, second;  // shifts

  constexpr explicit Inverse(U d) : by(d) {
    using Wide = std::conditional_t<(kBits < 64), std::uint64_t, unsigned __int128>;
    const int l = kBits - std::countl_zero(U(d - 1));  // 2^l >= d
    factor = U((((Wide(1) << l) - d) << kBits) / d + 1);
    first = l < 1 ? l : 1;
    second = l - first;
  }
  PLAIT_INLINE U quotient(U u) const {
    using Wide = std::conditional_t<
        (kBits < 16), std::uint16_t,
        std::conditional_t<(kBits < 32), std::uint32_t,
                           std::conditional_t<(kBits < 64), std::uint64_t, unsigned __int128>>>;
    const U high = U((Wide(u) * factor) >> kBits);
    return U(U(high + U(U(u - high) >> first)) >> second);
  }
  PLAIT_INLINE u64s quotient(u64s u) const {
    const u64s high = high_product(u, factor - u64s{});
    return (high + ((u - high) >> first)) >> second;
  }
};

// That of the divisor before is kept: machine code divides a few lanes at a time.
template <class U>
const Inverse<U>& inverse_of(U by) {
  static constinit thread_local Inverse<U> last{1};
  if (last.by != by) last = Inverse<U>(by);
  return last;
}

enum class Part { Quotient, Remainder, Fmod };

// What is asked of a / by, rounded to minus infinity; V is T or a vector of 64-bit integers. `by`
// is neither 0 nor -1.
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
    using S = long long __attribute__((vector_size(kVectorBytes)));
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
  const Inverse<std::make_unsigned_t<T>> inverse = shared;
  void* apart[] = {args[0], args[2]};
  std::int64_t strides[] = {s[0], s[2]}, i = 0;
  if constexpr (sizeof(T) == 8) {
    if (s[0] == 8 && s[2] == 8) {
      auto* in = static_cast<const char*>(args[0]);
      auto* out = static_cast<char*>(args[2]);
      constexpr int lanes = kVectorBytes / 8;
      for (; i + lanes <= n; i += lanes)
        store<u64s>(out + i * 8, divide_by<T, kPart, kNegative>(load<u64s>(in + i * 8), inverse));
      apart[0] = static_cast<char*>(args[0]) + i * 8;
      apart[1] = out + i * 8;
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
  if (std::is_signed_v<T> && by < 0)
    divide_all<T, kPart, std::is_signed_v<T>>(args, s, n, inverse_of<U>(U(U(0) - U(by))));
  else
    divide_all<T, kPart, false>(args, s, n, inverse_of<U>(U(by)));
  return true;
}

}  // namespace plait::loops::PLAIT_TIER
