// Float16 operations compute in float32, a block at a time: widen, run the float32 loop, round.
#pragma once
#include <algorithm>

#include "codegen/loops/drivers.hpp"
#include "codegen/loops/processor/halves.hpp"
#include "codegen/loops/raise.hpp"
#include "core/half.hpp"

namespace plait::loops::PLAIT_TIER {

inline constexpr std::int64_t kHalfBlock = 256;

inline void widen_halves(const void* in, std::int64_t stride, float* out, std::int64_t n) {
  auto* p = static_cast<const char*>(in);
  std::int64_t i = 0;
  if (kHalvesAtOnce && stride == 2)
    for (; i + kHalvesAtOnce <= n; i += kHalvesAtOnce) widen_at_once(p + 2 * i, out + i);
  for (; i < n; ++i) out[i] = half_to_float(load<std::uint16_t>(p + i * stride));
}

// Raises the overflow flag as the hardware conversion does.
inline void round_to_halves(const float* in, void* out, std::int64_t stride, std::int64_t n) {
  auto* p = static_cast<char*>(out);
  std::int64_t i = 0;
  if (kHalvesAtOnce && stride == 2)
    for (; i + kHalvesAtOnce <= n; i += kHalvesAtOnce) round_at_once(in + i, p + 2 * i);
  bool overflow = false;
  for (; i < n; ++i) {
    const std::uint16_t h = float_to_half(in[i]);
    overflow |= (h & 0x7fff) == 0x7c00 && __builtin_isfinite(in[i]);
    store(p + i * stride, h);
  }
  if (overflow) raise_flags(FE_OVERFLOW);
}

}  // namespace plait::loops::PLAIT_TIER
