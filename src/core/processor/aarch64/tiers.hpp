#pragma once
#include "../tier_info.hpp"

namespace plait {

// Armv8-A with its vectors of 16 bytes, which each has.
enum class CpuTier : int { Baseline = 0 };

inline constexpr std::array kTiers{CpuTier::Baseline};
inline constexpr std::array<TierInfo, kTiers.size()> kTierInfo{
    {{"baseline", "aarch64", 16, true, true, 0, nullptr, "ARMV8"}}};

inline constexpr CpuTier kDeterministicTier = CpuTier::Baseline;

inline constexpr bool kConvertsToSmallest = false;  // to the nearest, and NaN to 0

}  // namespace plait

#define PLAIT_FOR_TIERS(each) each(baseline)
#define PLAIT_AT_TIER(tier, call) return (void)(tier), baseline::call
#define PLAIT_AT_TIER_OF_PROGRAMS(tier, call) PLAIT_AT_TIER(tier, call)
