// Values of PTX's types as bits, and how they are rounded and clamped.
#pragma once
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

#include "ptx.hpp"

namespace ptx {

using U = std::uint64_t;
using S = std::int64_t;
using Wide = unsigned __int128;

constexpr U mask_of(int width) { return width >= 64 ? ~U{0} : (U{1} << width) - 1; }
inline S signed_of(U v, int width) {
  const int up = 64 - width;
  return static_cast<S>(v << up) >> up;
}
// A value of this type as its 64-bit form: sign or zeros in front.
inline U extended(U v, Type t) {
  return is_signed(t) ? static_cast<U>(signed_of(v, bits(t))) : v & mask_of(bits(t));
}

// NVIDIA's one NaN of float32.
inline float as_float(U v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v)); }
inline double as_double(U v) { return std::bit_cast<double>(v); }
inline U bits_of(float v) { return std::isnan(v) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(v); }
inline U bits_of(double v) { return std::bit_cast<U>(v); }
inline float flushed(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v;
}
inline double flushed(double v) { return v; }

class Rounding {
 public:
  explicit Rounding(Round r) : changed_(r != Round::Nearest) {
    if (changed_)
      std::fesetround(r == Round::Zero   ? FE_TOWARDZERO
                      : r == Round::Down ? FE_DOWNWARD
                                         : FE_UPWARD);
  }
  ~Rounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  bool changed_;
};

struct Fault {
  const char* what;
};

// Clamped to the type; NaN is 0, or the lowest number where either side has 64 bits.
inline U integer_of(double v, const Instruction& i) {
  const int width = bits(i.type);
  if (std::isnan(v))
    return i.from == Type::F64 || width == 64 ? extended(U{1} << (width - 1), i.type) : 0;
  volatile double x = v;
  {
    const Rounding rounding(i.round);
    x = std::nearbyint(x);
  }
  if (is_signed(i.type)) {
    const double end = std::ldexp(1.0, width - 1);
    if (x >= end) return mask_of(width - 1);
    if (x < -end) return static_cast<U>(signed_of(U{1} << (width - 1), width));
    return static_cast<U>(static_cast<S>(x));
  }
  if (x >= std::ldexp(1.0, width)) return mask_of(width);
  return x <= 0 ? 0 : static_cast<U>(static_cast<double>(x));
}
inline U clamped(U a, Type from, Type to) {
  const int width = bits(to);
  const __int128 v =
      is_signed(from) ? static_cast<__int128>(static_cast<S>(a)) : static_cast<__int128>(a);
  const __int128 most = is_signed(to) ? static_cast<__int128>(mask_of(width - 1))
                                      : static_cast<__int128>(mask_of(width));
  const __int128 least = is_signed(to) ? -most - 1 : 0;
  return static_cast<U>(std::clamp(v, least, most));
}

}  // namespace ptx
