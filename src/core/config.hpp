// Process-wide configuration, read once from the environment, and the log.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plait {

enum class Log : unsigned {
  Fusion = 1,
  Code = 2,
  Compile = 4,
  Cache = 8,
  Fallback = 16,
  Transfer = 32
};

// CPU levels that precompiled loops and JIT kernels are built for. Baseline is x86-64-v2 / generic
// elsewhere.
enum class CpuTier : int { Baseline = 0, Avx2 = 1, Avx512 = 2 };
enum class JitMode : int {
  Off = 0,
  Background = 1,
  Blocking = 2
};  // Blocking compiles before the first run: for tests

// Whether a graph is planned at once, or only when its operations one by one would cost more.
enum class PlanMode : int { Auto = 0, Always = 1 };

struct Config {
  unsigned log = 0;  // PLAIT_LOG=fusion,code,compile,cache,fallback,transfer (or "all")
  int threads = 0;   // PLAIT_NUM_THREADS, else OMP_NUM_THREADS, else the cores this process may use
  CpuTier tier;      // PLAIT_CPU=baseline|avx2|avx512, never above what the CPU has
  JitMode jit = JitMode::Background;  // PLAIT_JIT=off|background|blocking
  PlanMode plan = PlanMode::Auto;     // PLAIT_PLAN=auto|always
  bool disk_cache = true;             // PLAIT_CACHE=0 switches it off
  std::string cache_dir;    // PLAIT_CACHE_DIR, else $XDG_CACHE_HOME/plait, else ~/.cache/plait
  std::size_t cache_limit;  // PLAIT_CACHE_LIMIT in bytes; default 256 MiB
  std::size_t pool_limit;   // PLAIT_POOL_LIMIT in bytes; default a quarter of RAM, at most 2 GiB
  bool fuse = true;         // PLAIT_FUSE=0: an operation at a time (the reference evaluator)
  std::int64_t eager_limit =
      0;  // PLAIT_EAGER_LIMIT: element count up to which materialised operands are computed at once
  std::string device;  // PLAIT_DEVICE: where arrays are created; empty: the host
};
Config& config();
CpuTier detected_tier();

inline bool logging(Log what) { return config().log & static_cast<unsigned>(what); }
// One line "plait[fusion] text" to stderr, or to the sink the bindings installed.
void log(Log what, std::string_view text);
void set_log_sink(void (*sink)(Log, std::string_view));

}  // namespace plait
