// What an application decides before the first array of its process, which is made here.
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "plait/plait.hpp"

namespace {

struct Source {
  std::atomic<std::int64_t> live{0};
  std::atomic<int> calls{0};
  std::atomic<bool> empty{false}, throws{false};
} source;

struct {
  std::mutex mutex;
  std::string text;
  void add(const std::string& line) {
    const std::lock_guard held(mutex);
    text += line + "\n";
  }
} logged;

plait::options everything(const std::string& trace) {
  plait::options o;
  o.allocator = {[](std::size_t bytes, std::size_t alignment) -> void* {
                   ++source.calls;
                   if (source.throws) throw 1;
                   if (source.empty) return nullptr;
                   source.live += static_cast<std::int64_t>(bytes);
                   return std::aligned_alloc(alignment, bytes);
                 },
                 [](void* block, std::size_t bytes) {
                   source.live -= static_cast<std::int64_t>(bytes);
                   std::free(block);
                 }};
  o.cpu = "baseline";
  o.amx = false;
  o.deterministic = true;
  o.jit = plait::jit_mode::blocking;
  o.jit_library = "/nowhere/libplait_jit.so";
  o.blas_library = "/nowhere/libblas.so";
  o.cache_directory = "";
  o.trace = trace;
  o.pool_bytes = 0;
  o.code_bytes = std::size_t{1} << 20;
  o.log_topics = "compile";
  o.log = [](const std::string&, const std::string& text) { logged.add(text); };
  return o;
}

}  // namespace

TEST_CASE("an application decides before the first array") {
  const std::string trace = (std::filesystem::temp_directory_path() /
                             ("plait-trace-" + std::to_string(getpid()) + ".json"))
                                .string();
  plait::options wrong;
  wrong.cpu = "sse";
  CHECK_THROWS_AS(plait::configure(wrong), plait::ValueError);
  plait::configure(everything(trace));
  CHECK(plait::config().tier == plait::CpuTier::Baseline);
  CHECK(plait::config().plan == plait::PlanMode::Always);
  CHECK_FALSE(plait::config().amx);
  CHECK(plait::config().code_limit == std::size_t{1} << 20);

  // All memory is the application's, and goes back to it.
  const std::int64_t before = source.live;
  {
    const auto x = plait::ones<double>({1000, 1000});
    const auto y = plait::exp(x) + x;
    CHECK(plait::sum(y).item() == Approx(3718281.828));
    CHECK(source.live - before >= 8'000'000);
    const plait::array<double> small{1, 2, 3};
    CHECK(plait::sum(small).item() == 6);
  }
  plait::trim();
  CHECK(source.live == before);

  const auto x = plait::ones<double>({1 << 20});
  for (std::atomic<bool>* fails : {&source.empty, &source.throws}) {
    auto y = x + 1;
    *fails = true;
    CHECK_THROWS_AS(y.eval(), std::bad_alloc);
    *fails = false;
    CHECK(plait::sum(y).item() == 2 << 20);
  }

#ifdef PLAIT_TEST_MODULE
  CHECK(logged.text.find("no file /nowhere/libplait_jit.so") != std::string::npos);
#endif
  CHECK(std::filesystem::exists(trace));
  std::filesystem::remove(trace);

  // Too late.
  const auto late = [](auto option, auto value, const char* name) {
    plait::options o;
    o.*option = value;
    o.threads = 1;
    CHECK_THROWS_WITH(plait::configure(o), "configure: " + std::string(name) +
                                               " is chosen before the first array is made");
  };
  using O = plait::options;
  late(&O::cache_directory, "", "the cache directory");
  late(&O::cpu, "baseline", "cpu");
  late(&O::amx, true, "amx");
  late(&O::deterministic, false, "deterministic");
  late(&O::blas_library, "", "blas_library");
  late(&O::jit_library, "", "jit_library");
  late(&O::trace, "", "trace");
  late(&O::allocator, plait::allocator(), "the allocator");
  plait::configure({});
}
