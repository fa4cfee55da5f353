#include "config.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "bounded_table.hpp"
#include "os/memory.hpp"
#include "os/threads.hpp"
#include "settings.hpp"

namespace plait {
namespace {

std::string environment(const char* variable) {
  const char* v = std::getenv(variable);
  return v ? v : "";
}

// OpenMP's own setting, of which a list is of nested teams: the first. What is wrong there is
// OpenMP's to say.
int default_threads() {
  const std::string text = environment("OMP_NUM_THREADS");
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && n > 0 ? n : os::process_cpus();
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
  c.pool_limit = std::min(os::memory_limit() / 4, std::size_t{2} << 30);
  c.packed_limit = std::min(os::memory_limit() / 8, std::size_t{1} << 30);
  read_environment(c);
  name_unknown_variables();
  settle(c);
  return c;
}

}  // namespace

void settle(Config& c) {
  c.tier = std::min(c.tier, detected_tier());
  if (!c.deterministic) return;
  c.tier = std::min(c.tier, kDeterministicTier);
  c.amx = false;
  c.plan = PlanMode::Always;
}

std::size_t code_limit() { return config().code_limit; }

Config& config() {
  static Config c = initial();
  return c;
}

}  // namespace plait
