#pragma once
#include "../tier_info.hpp"

namespace plait {

enum class CpuTier : int { Baseline = 0, Avx2 = 1, Avx512 = 2 };

inline constexpr std::array kTiers{CpuTier::Baseline, CpuTier::Avx2, CpuTier::Avx512};
inline constexpr std::array<TierInfo, kTiers.size()> kTierInfo{
    {{"baseline", "x86-64-v2", 16, false, false, 0, nullptr, "Nehalem"},
     {"avx2", "x86-64-v3", 32, true, true, 4, nullptr, "Haswell"},
     {"avx512", "x86-64-v4", 64, true, true, 1, "SkylakeX", "SkylakeX"}}};

// That of results which are the same wherever there is one. What stands above has instructions that
// round otherwise, as vdpbf16ps; what stands below has no fused multiply-add.
inline constexpr CpuTier kDeterministicTier = CpuTier::Avx2;

inline constexpr bool kConvertsToSmallest = true;

}  // namespace plait

// The names of the namespaces that kernels are compiled in.
#define PLAIT_FOR_TIERS(each) each(baseline) each(avx2) each(avx512)

// return NAMESPACE::call of the tier.
#define PLAIT_AT_TIER(tier, call) \
  switch (tier) {                 \
    case CpuTier::Avx512:         \
      return avx512::call;        \
    case CpuTier::Avx2:           \
      return avx2::call;          \
    default:                      \
      return baseline::call;      \
  }
// The same without the oldest processors, for which libplait_run has no loops.
#define PLAIT_AT_TIER_OF_PROGRAMS(tier, call) \
  switch (tier) {                             \
    case CpuTier::Avx512:                     \
      return avx512::call;                    \
    case CpuTier::Avx2:                       \
      return avx2::call;                      \
    default:                                  \
      return {};                              \
  }
