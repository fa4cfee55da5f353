#include "config.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "bounded_table.hpp"
#include "settings.hpp"
#include "system_memory.hpp"

namespace plait {
namespace {

std::string environment(const char* variable) {
  const char* v = std::getenv(variable);
  return v ? v : "";
}

int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// OpenMP's own setting, of which a list is of nested teams: the first. What is wrong there is
// OpenMP's to say.
int default_threads() {
  const std::string text = environment("OMP_NUM_THREADS");
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && n > 0 ? n : usable_cores();
}

std::string default_cache_directory() {
  if (std::string v = environment("XDG_CACHE_HOME"); !v.empty()) return v + "/plait";
  if (std::string v = environment("HOME"); !v.empty()) return v + "/.cache/plait";
  return "";
}

Config initial() {
  Config c;
  c.threads = default_threads();
  c.tier = detected_tier();
  c.cache_dir = default_cache_directory();
  c.pool_limit = std::min(memory_limit() / 4, std::size_t{2} << 30);
  c.packed_limit = std::min(memory_limit() / 8, std::size_t{1} << 30);
  read_environment(c);
  c.tier = std::min(c.tier, detected_tier());
  return c;
}

}  // namespace

std::size_t code_limit() { return config().code_limit; }

Config& config() {
  static Config c = initial();
  return c;
}

// __builtin_cpu_supports includes the check (XCR0) that the system saves the wider registers.
CpuTier detected_tier() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2");
  if (!avx2) return CpuTier::Baseline;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd");
  return avx512 ? CpuTier::Avx512 : CpuTier::Avx2;
#else
  return CpuTier::Baseline;
#endif
}

bool has_amx() {
#if defined(__x86_64__) && defined(__linux__)
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
