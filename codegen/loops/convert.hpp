// NumPy's unsafe conversions between numbers, with x86's answers where C has none: a float that
// does not fit an integer gives the smallest one of 32 or 64 bits, and its low bits if the integer
// has fewer, whichever instructions the tier has.
#pragma once
#include <limits>

#include "core/processor/tiers.hpp"
#include "drivers.hpp"

namespace plait::loops::PLAIT_TIER {

template <class I, class F>
PLAIT_INLINE I whole(F x) {
  const auto made = static_cast<I>(x);
  if constexpr (kConvertsToSmallest) {
    return made;
  } else {
    constexpr F bottom = static_cast<F>(std::numeric_limits<I>::min());  // exact
    return (x >= bottom) & (x < -bottom) ? made : std::numeric_limits<I>::min();
  }
}

template <class To, class From>
PLAIT_INLINE To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      constexpr From kHalf = 9223372036854775808.0;
      const bool high = x >= kHalf;
      const auto low = whole<std::int64_t>(high ? x - kHalf : x);
      return static_cast<std::uint64_t>(low) ^ (std::uint64_t(high) << 63);
    } else if constexpr (std::is_same_v<To, std::uint32_t>) {
      return static_cast<std::uint32_t>(whole<std::int64_t>(x));
    } else if constexpr (sizeof(To) < 4) {
      return static_cast<To>(whole<std::int32_t>(x));
    } else {
      return whole<To>(x);
    }
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace plait::loops::PLAIT_TIER
