#include "core/config.hpp"
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace plait {

// __builtin_cpu_supports includes the check (XCR0) that the system saves the wider registers.
CpuTier detected_tier() {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  if (!avx2) return CpuTier::Baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  return avx512 ? CpuTier::Avx512 : CpuTier::Avx2;
}

bool has_matrix_tiles() {
#if defined(__linux__)
  static const bool has = [] {
    if (!config().amx) return false;
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("amx-tile") || !__builtin_cpu_supports("amx-bf16") ||
        !__builtin_cpu_supports("amx-int8"))
      return false;
    // The registers are large: the system saves them of processes only that ask once.
    constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  }();
  return has;
#else
  return false;
#endif
}

}  // namespace plait
