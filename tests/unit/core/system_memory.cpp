#include "core/system_memory.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using plait::group_memory;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kUnlimited = std::size_t(-1);

struct Mount {
  Mount() {
    char name[] = "/tmp/plait_groups_XXXXXX";
    path = mkdtemp(name);
  }
  ~Mount() { fs::remove_all(path); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream(path / file) << text;
  }
  fs::path path;
};

}  // namespace

TEST_CASE("the least limit of a group and of those around it counts") {
  Mount m;
  m.write("a/b/memory.max", "max\n");
  m.write("a/b/memory.current", "700\n");
  m.write("a/memory.max", "1000\n");
  m.write("a/memory.current", "800\n");
  m.write("a/memory.stat", "anon 500\ninactive_file 300\n");
  const auto g = group_memory("0::/a/b\n", m.path.string());
  CHECK(g.limit == 1000);
  CHECK(g.left == 500);  // files' pages are dropped
}

TEST_CASE("the older interface has a folder of its own") {
  Mount m;
  m.write("memory/x/memory.limit_in_bytes", "2000");
  m.write("memory/x/memory.usage_in_bytes", "2500");
  const auto g = group_memory("5:cpu,cpuacct:/y\n4:memory:/x\n0::/\n", m.path.string());
  CHECK(g.limit == 2000);
  CHECK(g.left == 0);
}

TEST_CASE("in a container the group's own folder is the root") {
  Mount m;
  m.write("memory.max", "4096");
  m.write("memory.current", "96");
  CHECK(group_memory("0::/docker/0123\n", m.path.string()).left == 4000);
}

TEST_CASE("no groups, no limit") {
  Mount m;
  for (const char* own : {"", "nonsense\n", "0::/a\n", "1:cpu:/a\n"}) {
    const auto g = group_memory(own, m.path.string());
    CHECK(g.limit == kUnlimited);
    CHECK(g.left == kUnlimited);
  }
}

TEST_CASE("what there is is less than what nobody has") {
  CHECK(plait::memory_limit() > (std::size_t{1} << 20));
  CHECK(plait::memory_available() > 0);
  CHECK(plait::memory_left_for(1 << 16));
  CHECK_FALSE(plait::memory_left_for(std::size_t{1} << 60));
}
