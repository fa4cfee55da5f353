// Traces: what is written, and that it is JSON whatever the names are.
#include "core/timeline.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using namespace plait;

namespace {

std::string file_of(const char* name) {
  return (std::filesystem::temp_directory_path() /
          ("plait_timeline_" + std::to_string(getpid()) + name))
      .string();
}
std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  return text.str();
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

timeline::Source line_of(std::uint32_t site) {
  return {"f.py:" + std::to_string(site), site == 1 ? "x" : "", ""};
}

}  // namespace

TEST_CASE("a trace has the spans of all threads that end while it is open") {
  const std::string path = file_of("a.json");
  {
    timeline::Span before(timeline::Category::Plan);
  }
  const int trace = timeline::open(path);
  REQUIRE(trace >= 0);
  CHECK_FALSE(timeline::on());
  timeline::start(trace);
  CHECK(timeline::on());
  {
    timeline::Span span(timeline::Category::Region);
    REQUIRE(span);
    span.name("sum \"q\" \\ \n \xC3\xA9 \xFF \xED\xA0\x80");
    const std::uint32_t sites[] = {1, 2, 1};
    span.sites(sites);
    span.arg("bytes", 7);
    span.arg("why", "a\tb");
  }
  std::thread([] {
    timeline::name_thread("other");
    timeline::add(timeline::Category::Fallback, "interp", timeline::now(), 0);
  }).join();
  CHECK(timeline::finish(trace, line_of));
  CHECK_FALSE(timeline::on());
  const std::string text = contents(path);
  CHECK(has(text,
            "\"name\":\"x: sum \\\"q\\\" \\\\ \\u000a \xC3\xA9 \\ufffd \\ufffd\\ufffd\\ufffd\""));
  CHECK(has(text, "\"args\":{\"bytes\":7,\"why\":\"a\\u0009b\",\"at\":\"f.py:1\\u000af.py:2\"}}"));
  CHECK(has(text, "\"args\":{\"name\":\"other\"}}"));
  CHECK(has(text, "\"cat\":\"fallback\""));
  CHECK_FALSE(has(text, "\"cat\":\"plan\""));
  CHECK(timeline::finish(trace, line_of));  // is none any more
}

TEST_CASE("the oldest events of a thread go first, and are counted") {
  const std::string path = file_of("b.json");
  const int trace = timeline::open(path);
  timeline::start(trace);
  constexpr int kMost = 1 << 18;
  for (int i = 0; i < kMost + 10; ++i)
    timeline::add(timeline::Category::Kernel, i == 0 ? "oldest" : "k", timeline::now(), 0);
  timeline::add(timeline::Category::Kernel, "newest", timeline::now(), 0);
  CHECK(timeline::finish(trace, nullptr));
  const std::string text = contents(path);
  CHECK(has(text, "newest"));
  CHECK_FALSE(has(text, "oldest"));
  CHECK_FALSE(has(text, "\"dropped events\":0}"));
}

TEST_CASE("a file that cannot be written has a reason") {
  CHECK(timeline::open("/no/such/folder/t.json") == -1);
  CHECK(errno == ENOENT);
}

TEST_CASE("a profile adds up by call site, and an event's time once") {
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  const int outer = timeline::profile();
  CHECK(timeline::on());
  const auto run = [&] {
    timeline::Span evaluation(timeline::Category::Evaluation);
    evaluation.site(3);
    evaluation.elements(10);
    {
      timeline::Span plan(timeline::Category::Plan);  // of no call site: that of what is around
      wait();
    }
    timeline::Span region(timeline::Category::Region);
    const std::uint32_t sites[] = {0, 4};
    region.sites(sites);
    region.bytes(80);
    CHECK_FALSE(timeline::Span(timeline::Category::Kernel));
    wait();
  };
  const std::int64_t began = timeline::now();
  run();
  const int inner = timeline::profile();
  run();
  std::thread(run).join();
  timeline::add(timeline::Category::Fallback, "interp", timeline::now(), 3);
  const std::vector<timeline::Sum> within = timeline::finish_profile(inner);
  CHECK(timeline::on());
  const std::vector<timeline::Sum> around = timeline::finish_profile(outer);
  const std::int64_t all = timeline::now() - began;
  CHECK_FALSE(timeline::on());
  CHECK(timeline::finish_profile(outer).empty());
  const auto check = [](const std::vector<timeline::Sum>& sums, std::int64_t times) {
    REQUIRE(sums.size() == 4);
    for (const timeline::Sum& s : sums) {
      const bool region = s.category == timeline::Category::Region;
      const bool fallback = s.category == timeline::Category::Fallback;
      CHECK(s.site == (region ? 4 : 3));
      CHECK(s.count == (fallback ? 1 : times));
      CHECK(s.bytes == (region ? 80 * times : 0));
      CHECK(s.elements == (s.category == timeline::Category::Evaluation ? 10 * times : 0));
      CHECK(s.name == (fallback ? "interp" : ""));
    }
  };
  check(within, 2);
  check(around, 3);
  std::int64_t sum = 0;
  for (const timeline::Sum& s : around) sum += s.nanoseconds;
  CHECK(sum <= all);
}

TEST_CASE("what lies in a long event is counted once, however much there is") {
  const int profile = timeline::profile();
  const std::int64_t began = timeline::now();
  {
    timeline::Span call(timeline::Category::Operation);
    call.site(1);
    for (int i = 0; i < 100'000; ++i)
      timeline::add(timeline::Category::Operation, "", timeline::now(), 2);
  }
  const std::int64_t all = timeline::now() - began;
  std::int64_t sum = 0;
  for (const timeline::Sum& s : timeline::finish_profile(profile)) sum += s.nanoseconds;
  CHECK(sum <= all);
}
