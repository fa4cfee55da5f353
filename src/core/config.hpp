// Process-wide configuration, read once from the environment, and the log.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dtype.hpp"
#include "processor/tiers.hpp"

namespace plait {

enum class Log : unsigned {
  Fusion = 1,
  Code = 2,
  Compile = 4,
  Cache = 8,
  Fallback = 16,
  Transfer = 32,
  Loops = 64,
  Program = 128
};

enum class JitMode : int {
  Off = 0,
  Background = 1,
  Blocking = 2
};  // Blocking compiles before the first run: for tests

// Whether a graph is planned at once, or only when its operations one by one would cost more.
enum class PlanMode : int { Auto = 0, Always = 1 };

// Members are described where their settings are: settings.cpp.
struct Machine;
struct Config {
  unsigned log = 0;  // of Log
  int threads = 0;
  bool always_share = false;
  CpuTier tier = CpuTier::Baseline;
  bool amx = true;  // where there is one
  bool deterministic = false;
  JitMode jit = JitMode::Background;
  PlanMode plan = PlanMode::Auto;
  bool fuse = true;
  bool check_compiled = false;
  std::int64_t eager_limit = 2048;
  bool disk_cache = true;
  std::string cache_dir;
  std::size_t cache_limit = std::size_t{256} << 20;
  std::size_t code_limit = std::size_t{64} << 20;
  std::size_t pool_limit = 0;
  std::size_t packed_limit = 0;
  std::optional<std::size_t> cuda_pool_limit;
  std::string device = "cpu";
  DType default_dtype = DType::Float64;
  std::string blas_library, jit_library, trace_file;  // empty: not named
  const Machine* machine = nullptr;                   // tests: instead of this one's table
};
Config& config();
// After changes: the tier is one that the processor has, and `deterministic` has its way with
// others.
void settle(Config& c);
CpuTier detected_tier();
constexpr const TierInfo& info(CpuTier tier) { return kTierInfo[static_cast<std::size_t>(tier)]; }

// Whether the processor multiplies tiles of bfloat16 and of bytes, the system lets this process,
// and settings do not say otherwise.
bool has_matrix_tiles();

inline bool logging(Log what) { return config().log & static_cast<unsigned>(what); }
// One line "plait[fusion] text" to stderr, or to the sink the bindings installed.
void log(Log what, std::string_view text);
void set_log_sink(void (*sink)(Log, std::string_view));

}  // namespace plait
