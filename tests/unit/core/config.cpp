#include "core/config.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "core/os/library.hpp"

using namespace plait;

TEST_CASE("configuration has usable defaults") {
  const Config& c = config();
  CHECK(c.threads >= 1);
  CHECK(c.tier <= detected_tier());
  CHECK(c.cache_limit > 0);
  CHECK(c.eager_limit >= 0);
  CHECK_FALSE(c.cache_dir.empty());  // the test environment sets it
}

TEST_CASE("deterministic settles what bits depend on") {
  Config c;
  c.tier = kTiers.back();
  settle(c);
  CHECK(c.tier == detected_tier());
  CHECK(c.amx);
  CHECK(c.plan == PlanMode::Auto);
  c.deterministic = true;
  settle(c);
  CHECK(c.tier == std::min(detected_tier(), kDeterministicTier));
  CHECK_FALSE(c.amx);
  CHECK(c.plan == PlanMode::Always);
  c.tier = CpuTier::Baseline;  // less is what was asked for
  settle(c);
  CHECK(c.tier == CpuTier::Baseline);
}

static void here() {}
TEST_CASE("code that is linked into a program is in that program's file") {
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  CHECK(os::file_of(reinterpret_cast<const void*>(&here)) == program.string());
}

TEST_CASE("log lines reach the installed sink") {
  static std::string seen;
  set_log_sink([](Log what, std::string_view text) {
    seen = (what == Log::Cache ? "cache " : "other ") + std::string(text);
  });
  log(Log::Cache, "hit");
  set_log_sink(nullptr);
  CHECK(seen == "cache hit");

  const unsigned before = config().log;
  config().log = static_cast<unsigned>(Log::Fusion);
  CHECK(logging(Log::Fusion));
  CHECK_FALSE(logging(Log::Code));
  config().log = before;
}
