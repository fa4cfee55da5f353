#include "plait/configure.hpp"

#include <catch2/catch.hpp>
#include <mutex>

#include "core/config.hpp"
#include "plait/plait.hpp"

TEST_CASE("configure sets what it is given and leaves the rest") {
  const auto kept = plait::config();
  plait::options o;
  o.threads = 2;
  o.jit = plait::jit_mode::off;
  o.pool_bytes = std::size_t{1} << 20;
  plait::configure(o);
  CHECK(plait::num_threads() == 2);
  CHECK(plait::config().jit == plait::JitMode::Off);
  CHECK(plait::config().cache_dir == kept.cache_dir);
  CHECK(plait::config().cache_limit == kept.cache_limit);
  o.threads = 0;
  o.jit = plait::jit_mode::blocking;
  CHECK_THROWS_WITH(plait::configure(o),
                    "configure: the number of threads must be at least 1, not 0");
  CHECK(plait::config().jit == plait::JitMode::Off);
  plait::options back;
  back.threads = std::max(kept.threads, 1);
  back.jit = static_cast<plait::jit_mode>(kept.jit);
  back.pool_bytes = kept.pool_limit;
  plait::configure(back);
  CHECK(plait::config().jit == kept.jit);
}

TEST_CASE("the cache directory is chosen before there are arrays") {
  const plait::array<double> a{1};
  plait::options o;
  o.cache_directory = "/elsewhere";
  CHECK_THROWS_WITH(plait::configure(o),
                    "configure: the cache directory is chosen before the first array is made");
}

TEST_CASE("the log goes to the application, by topic") {
  const unsigned kept = plait::config().log;
  std::mutex mutex;
  std::vector<std::string> lines;
  plait::options o;
  o.log_topics = "fallback,cache";
  o.log = [&](const std::string& topic, const std::string& text) {
    const std::lock_guard held(mutex);
    lines.push_back(topic + ": " + text);
    throw 1;
  };
  plait::configure(o);
  CHECK(plait::logging(plait::Log::Cache));
  CHECK_FALSE(plait::logging(plait::Log::Code));
  plait::log(plait::Log::Fallback, "here");
  o.log_topics = "fusion,colour";
  CHECK_THROWS_AS(plait::configure(o), plait::ValueError);
  o.log_topics = "";
  o.log.emplace();
  plait::configure(o);
  CHECK_FALSE(plait::logging(plait::Log::Cache));
  {
    const std::lock_guard held(mutex);
    CHECK(lines == std::vector<std::string>{"fallback: here"});
  }
  plait::config().log = kept;
}
