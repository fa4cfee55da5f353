#include "core/config.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace plait;

TEST_CASE("configuration has usable defaults") {
  const Config& c = config();
  CHECK(c.threads >= 1);
  CHECK(c.tier <= detected_tier());
  CHECK(c.cache_limit > 0);
  CHECK(c.eager_limit >= 0);
  CHECK_FALSE(c.cache_dir.empty());  // the test environment sets it
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
