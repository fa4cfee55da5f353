// NumPy's unsafe conversions between numbers, with x86's answers where C has none: a float that
// does not fit an integer gives what cvttsd2si and the unsigned sequence built on it give,
// whichever instructions the tier has.
#pragma once
#include "drivers.hpp"

namespace plait::loops::PLAIT_TIER {

template <class To, class From>
PLAIT_INLINE To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if constexpr (std::is_same_v<To, std::uint64_t>) {
      constexpr From kHalf = 9223372036854775808.0;
      const bool high = x >= kHalf;
      const auto low = static_cast<std::int64_t>(high ? x - kHalf : x);
      return static_cast<std::uint64_t>(low) ^ (std::uint64_t(high) << 63);
    } else if constexpr (std::is_same_v<To, std::uint32_t>) {
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(x));
    } else if constexpr (sizeof(To) < 4) {
      return static_cast<To>(static_cast<std::int32_t>(x));
    } else {
      return static_cast<To>(x);
    }
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace plait::loops::PLAIT_TIER
