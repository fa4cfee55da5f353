// IEEE binary16 conversions, exact, round-to-nearest-even, with the flags a hardware conversion
// would raise. Bit manipulation only, so that every CPU tier gives the same bits, NaN payloads
// included.
#pragma once
#include <bit>
#include <cstdint>

namespace plait {

// binary16 as stored; arithmetic happens in float.
struct Half {
  std::uint16_t bits = 0;
};

namespace detail {

// Rounds a float or double given as its bits to binary16. kMantissa and kBias describe the source.
template <class Bits, int kMantissa, int kBias>
constexpr std::uint16_t round_to_half(Bits v) {
  constexpr int kWidth = sizeof(Bits) * 8;
  constexpr Bits kMantissaMask = (Bits{1} << kMantissa) - 1;
  const auto sign = static_cast<std::uint16_t>((v >> (kWidth - 16)) & 0x8000u);
  const int biased =
      static_cast<int>((v >> kMantissa) & ((Bits{1} << (kWidth - 1 - kMantissa)) - 1));
  const Bits mantissa = v & kMantissaMask;
  if (biased == (1 << (kWidth - 1 - kMantissa)) - 1) {  // infinity or NaN
    if (mantissa == 0) return sign | 0x7c00u;
    // NumPy keeps the leading payload bits and makes sure that a NaN stays one.
    auto payload = static_cast<std::uint16_t>(mantissa >> (kMantissa - 10));
    return static_cast<std::uint16_t>(sign | 0x7c00u | (payload ? payload : 1u));
  }
  const int exponent = biased - kBias;
  if (exponent > 15) return sign | 0x7c00u;
  if (exponent < -25) return sign;
  // Subnormal results lose one more bit for each step below 2^-14.
  const int shift = (kMantissa - 10) + (exponent < -14 ? -14 - exponent : 0);
  const Bits full = mantissa | (Bits{1} << kMantissa);
  const Bits rest = full & ((Bits{1} << shift) - 1);
  const Bits tie = Bits{1} << (shift - 1);
  auto kept = static_cast<std::uint32_t>(full >> shift);
  if (rest > tie || (rest == tie && (kept & 1u))) ++kept;
  // The implicit bit adds one to the exponent field; a carry out of the mantissa does so too, up to
  // infinity.
  const std::uint32_t field = exponent < -14 ? 0u : static_cast<std::uint32_t>(exponent + 14) << 10;
  return static_cast<std::uint16_t>(sign | (field + kept));
}

}  // namespace detail

constexpr std::uint16_t float_to_half(float f) {
  return detail::round_to_half<std::uint32_t, 23, 127>(std::bit_cast<std::uint32_t>(f));
}
// Directly: going through float would round twice.
constexpr std::uint16_t double_to_half(double d) {
  return detail::round_to_half<std::uint64_t, 52, 1023>(std::bit_cast<std::uint64_t>(d));
}

constexpr float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  std::uint32_t exponent = (h >> 10) & 0x1fu;
  std::uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<float>(sign);
    const int up = std::countl_zero(mantissa) - 21;  // normalise: bit 10 becomes the implicit one
    mantissa = (mantissa << up) & 0x3ffu;
    exponent = static_cast<std::uint32_t>(1 - up);
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}
constexpr double half_to_double(std::uint16_t h) { return half_to_float(h); }

}  // namespace plait
