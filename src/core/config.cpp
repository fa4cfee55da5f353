#include "config.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "bounded_table.hpp"
#include "system_memory.hpp"

namespace plait {
namespace {

std::string environment(const char* variable) {
  const char* v = std::getenv(variable);
  return v ? v : "";
}

// A mistyped value would otherwise look as if it had been obeyed.
void complain(const char* variable, std::string_view value, const char* known) {
  std::fprintf(stderr, "plait: %s: '%.*s' is not known and ignored; known are %s\n", variable,
               static_cast<int>(value.size()), value.data(), known);
}

bool switched_off(const std::string& v) {
  return v == "0" || v == "off" || v == "no" || v == "false";
}

std::size_t bytes_or(const char* variable, std::size_t fallback) {
  const std::string v = environment(variable);
  char* end = nullptr;
  const unsigned long long n = std::strtoull(v.c_str(), &end, 10);
  return v.empty() || *end || v[0] == '-' ? fallback : static_cast<std::size_t>(n);
}

unsigned parse_log(std::string_view text) {
  constexpr std::pair<std::string_view, Log> words[] = {
      {"fusion", Log::Fusion}, {"code", Log::Code},         {"compile", Log::Compile},
      {"cache", Log::Cache},   {"fallback", Log::Fallback}, {"transfer", Log::Transfer}};
  unsigned mask = 0;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    bool known = word.empty();
    for (auto [name, flag] : words)
      if (word == name || word == "all") {
        mask |= static_cast<unsigned>(flag);
        known = true;
      }
    if (!known)
      complain("PLAIT_LOG", word, "fusion, code, compile, cache, fallback, transfer, all");
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return mask;
}

int usable_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int thread_count() {
  for (const char* variable : {"PLAIT_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const int n = std::atoi(environment(variable).c_str());  // OMP's may be a list: the first
    if (n > 0) return n;
  }
  return usable_cores();
}

CpuTier chosen_tier() {
  const std::string v = environment("PLAIT_CPU");
  const CpuTier best = detected_tier();
  if (v == "baseline") return CpuTier::Baseline;
  if (v == "avx2") return std::min(best, CpuTier::Avx2);
  if (!v.empty() && v != "avx512") complain("PLAIT_CPU", v, "baseline, avx2, avx512");
  return best;
}

JitMode jit_mode() {
  const std::string v = environment("PLAIT_JIT");
  if (switched_off(v)) return JitMode::Off;
  if (v == "blocking") return JitMode::Blocking;
  if (!v.empty() && v != "background") complain("PLAIT_JIT", v, "background, blocking, off");
  return JitMode::Background;
}

PlanMode plan_mode() {
  const std::string v = environment("PLAIT_PLAN");
  if (v == "always") return PlanMode::Always;
  if (!v.empty() && v != "auto") complain("PLAIT_PLAN", v, "auto, always");
  return PlanMode::Auto;
}

std::string cache_directory() {
  if (std::string v = environment("PLAIT_CACHE_DIR"); !v.empty()) return v;
  if (std::string v = environment("XDG_CACHE_HOME"); !v.empty()) return v + "/plait";
  if (std::string v = environment("HOME"); !v.empty()) return v + "/.cache/plait";
  return "";
}

std::size_t default_pool_limit() { return std::min(memory_limit() / 4, std::size_t{2} << 30); }

Config read_environment() {
  Config c;
  c.log = parse_log(environment("PLAIT_LOG"));
  c.threads = thread_count();
  c.tier = chosen_tier();
  c.jit = jit_mode();
  c.plan = plan_mode();
  c.disk_cache = !switched_off(environment("PLAIT_CACHE"));
  c.cache_dir = cache_directory();
  c.cache_limit = bytes_or("PLAIT_CACHE_LIMIT", std::size_t{256} << 20);
  c.pool_limit = bytes_or("PLAIT_POOL_LIMIT", default_pool_limit());
  c.fuse = !switched_off(environment("PLAIT_FUSE"));
  c.eager_limit = static_cast<std::int64_t>(bytes_or("PLAIT_EAGER_LIMIT", 2048));
  c.device = environment("PLAIT_DEVICE");
  return c;
}

}  // namespace

std::size_t code_limit() {
  static const std::size_t limit = bytes_or("PLAIT_CODE_LIMIT", std::size_t{64} << 20);
  return limit;
}

Config& config() {
  static Config c = read_environment();
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

}  // namespace plait
