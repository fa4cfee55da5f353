// Conversions between the narrow dtypes (dtypes.def) and what is computed in, for every backend:
// the formats here, one value in C++, and the constants that generated code takes. Floats round to
// nearest even; no flag but the hardware's inexact one is raised, as ml_dtypes raises none. All
// bits are exact, so that every backend gives the same.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "dtype.hpp"

namespace plait {

enum class Specials : std::uint8_t { Ieee, Fn, Fnuz, Finite };

// The format of a narrow float, and what follows from it. A code is the bits without the sign.
struct NarrowFormat {
  int exponent, mantissa, bias;  // widths in bits; the bias of the exponent
  Specials specials;

  constexpr int sign_shift() const { return exponent + mantissa; }
  constexpr std::uint32_t sign() const { return 1u << sign_shift(); }
  // How far the mantissa's bits are moved to where float32 has them.
  constexpr int shift() const { return 23 - mantissa; }
  // What the exponents' fields differ by, there.
  constexpr std::uint32_t rebias() const { return static_cast<std::uint32_t>(127 - bias) << 23; }
  // As in bfloat16: the high bits of a float32, subnormal numbers too.
  constexpr bool is_prefix() const { return bias == 127; }
  // Codes from here on are infinite or NaN. (Past the last where there is neither.)
  constexpr std::uint32_t first_special() const {
    const std::uint32_t all = sign() - 1;
    switch (specials) {
      case Specials::Ieee:
        return all >> mantissa << mantissa;
      case Specials::Fn:
        return all;
      case Specials::Fnuz:
      case Specials::Finite:
        break;
    }
    return all + 1;
  }
  // What becomes of what is too large, and of NaN: where nothing says NaN, it is a negative zero.
  constexpr std::uint32_t overflow() const {
    return specials == Specials::Finite ? sign() - 1
           : specials == Specials::Fnuz ? sign()
                                        : first_special();
  }
  constexpr std::uint32_t nan() const {
    switch (specials) {
      case Specials::Ieee:
        return first_special() | 1u << (mantissa - 1);
      case Specials::Fn:
        return first_special();
      case Specials::Fnuz:
      case Specials::Finite:
        break;
    }
    return sign();
  }
  // The float32 bits of a finite code that is no subnormal one, of what is too large, and of NaN.
  constexpr std::uint32_t wide(std::uint32_t code) const { return (code << shift()) + rebias(); }
  constexpr std::uint32_t wide_overflow() const {
    if (specials == Specials::Finite) return wide(overflow());
    return specials == Specials::Ieee ? 0x7f800000u : wide_nan();
  }
  constexpr std::uint32_t wide_nan() const {
    if (specials == Specials::Finite) return 0x80000000u;
    return specials == Specials::Fnuz ? 0xffc00000u : 0x7fc00000u;
  }
  // The bits of the smallest normal number as float32, and of a float32 whose last bit is worth the
  // smallest number: adding it rounds what is subnormal here.
  constexpr std::uint32_t smallest_normal() const {
    return static_cast<std::uint32_t>(128 - bias) << 23;
  }
  constexpr std::uint32_t magic() const {
    return static_cast<std::uint32_t>(127 + 24 - bias - mantissa) << 23;
  }
};

constexpr NarrowFormat narrow_format(DType t) {
  switch (t) {
#define PLAIT_NARROW_FLOAT(id, name, bytes, exponent, mantissa, bias, specials) \
  case DType::id:                                                               \
    return {exponent, mantissa, bias, Specials::specials};
#include "plait/detail/dtypes.def"
    default:
      return {};
  }
}
constexpr int narrow_bits(DType t) {
  switch (t) {
#define PLAIT_NARROW_INT(id, name, bits, kind) \
  case DType::id:                              \
    return bits;
#include "plait/detail/dtypes.def"
    default:
      return 0;
  }
}

template <DType t>
constexpr std::uint32_t to_narrow(float v) {
  constexpr NarrowFormat f = narrow_format(t);
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t odd = magnitude >> f.shift() & 1u;
  std::uint32_t code =
      ((magnitude + (1u << (f.shift() - 1)) - 1 + odd) >> f.shift()) - (f.rebias() >> f.shift());
  if constexpr (!f.is_prefix()) {
    // The smaller operand of the sum keeps NaN and what would overflow out of it.
    const auto small = std::bit_cast<float>(std::min(magnitude, f.smallest_normal()));
    const std::uint32_t fixed =
        std::bit_cast<std::uint32_t>(small + std::bit_cast<float>(f.magic())) - f.magic();
    code = magnitude < f.smallest_normal() ? fixed : code;
  }
  code = static_cast<std::int32_t>(code) >= static_cast<std::int32_t>(f.first_special())
             ? f.overflow()
             : code;
  code = magnitude > 0x7f800000u ? f.nan() : code;
  const std::uint32_t sign = bits >> 31 << f.sign_shift();
  if constexpr (f.specials == Specials::Fnuz) return code == 0 ? 0 : code | sign;
  return code ^ sign;  // a NaN that is a negative zero becomes a positive one
}

template <DType t>
constexpr float from_narrow(std::uint32_t bits) {
  constexpr NarrowFormat f = narrow_format(t);
  if constexpr (f.is_prefix()) return std::bit_cast<float>(bits << f.shift());
  const std::uint32_t code = bits & (f.sign() - 1), sign = (bits & f.sign())
                                                           << (31 - f.sign_shift());
  const std::uint32_t normal = (code << f.shift()) + f.rebias();
  // One power of two above, less that power of two: what a subnormal number is worth.
  const float subnormal =
      std::bit_cast<float>(normal + (1u << 23)) - std::bit_cast<float>(f.smallest_normal());
  std::uint32_t value = code < 1u << f.mantissa ? std::bit_cast<std::uint32_t>(subnormal) : normal;
  if constexpr (f.specials == Specials::Ieee)
    value = code == f.first_special()  ? 0x7f800000u
            : code > f.first_special() ? 0x7fc00000u
                                       : value;
  if constexpr (f.specials == Specials::Fn) value = code == f.first_special() ? 0x7fc00000u : value;
  if constexpr (f.specials == Specials::Fnuz) value = bits == f.sign() ? 0x7fc00000u : value;
  return std::bit_cast<float>(value | sign);
}

struct BFloat16 {
  std::uint16_t bits = 0;
  explicit constexpr operator float() const { return from_narrow<DType::BFloat16>(bits); }
};

// Of integers in 8 bits, and back.
template <DType t>
constexpr std::uint8_t to_narrow_int(std::uint8_t v) {
  return v & ((1u << narrow_bits(t)) - 1);
}
template <DType t>
constexpr std::uint8_t from_narrow_int(std::uint8_t v) {
  constexpr int up = 8 - narrow_bits(t);
  const auto raised = static_cast<std::uint8_t>(v << up);
  return kind(t) == Kind::Signed ? static_cast<std::uint8_t>(static_cast<std::int8_t>(raised) >> up)
                                 : static_cast<std::uint8_t>(raised >> up);
}

// Calls f<narrow dtype>().
template <class F>
decltype(auto) dispatch_narrow(DType t, F&& f) {
  switch (t) {
#define PLAIT_NARROW_FLOAT(id, ...) \
  case DType::id:                   \
    return f.template operator()<DType::id>();
#define PLAIT_NARROW_INT(id, ...) \
  case DType::id:                 \
    return f.template operator()<DType::id>();
#include "plait/detail/dtypes.def"
    default:
      return f.template operator()<DType::BFloat16>();
  }
}

}  // namespace plait
