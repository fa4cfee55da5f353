// Traces: what is written, and that it is JSON whatever the names are.
#include "core/timeline.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
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
