#include "core/os/memory.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "../fake_system.hpp"

using plait::os::group_memory;
using plait::test::kUnified;
using System = plait::test::FakeSystem;

namespace {

constexpr std::size_t kUnlimited = std::size_t(-1);
const std::string kMemory = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";

}  // namespace

TEST_CASE("the least limit of a group and of those around it counts") {
  const System s({{"proc/self/mountinfo", kUnified},
                  {"proc/self/cgroup", "0::/a/b"},
                  {"sys/fs/cgroup/a/b/memory.max", "max"},
                  {"sys/fs/cgroup/a/b/memory.current", "700"},
                  {"sys/fs/cgroup/a/memory.max", "1000"},
                  {"sys/fs/cgroup/a/memory.current", "800"},
                  {"sys/fs/cgroup/a/memory.stat", "anon 500\ninactive_file 300"}});
  const auto g = group_memory(s.root);
  CHECK(g.limit == 1000);
  CHECK(g.left == 500);  // files' pages are dropped
}

TEST_CASE("the older interface has a hierarchy of its own") {
  const System s({{"proc/self/mountinfo", kMemory},
                  {"proc/self/cgroup", "5:cpu,cpuacct:/y\n4:memory:/x\n0::/"},
                  {"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2000"},
                  {"sys/fs/cgroup/memory/x/memory.usage_in_bytes", "2500"}});
  const auto g = group_memory(s.root);
  CHECK(g.limit == 2000);
  CHECK(g.left == 0);
}

TEST_CASE("in a container the group's own folder is the root") {
  const std::string within = "30 23 0:26 /docker/0123 /sys/fs/cgroup ro - cgroup2 cgroup2 rw";
  for (const std::string& mounts : {kUnified, within}) {
    const System s({{"proc/self/mountinfo", mounts},
                    {"proc/self/cgroup", "0::/docker/0123"},
                    {"sys/fs/cgroup/memory.max", "4096"},
                    {"sys/fs/cgroup/memory.current", "96"}});
    CHECK(group_memory(s.root).left == 4000);
  }
}

TEST_CASE("no groups, no limit") {
  for (const char* own : {"", "nonsense", "0::/a", "1:cpu:/a"}) {
    const System s({{"proc/self/mountinfo", kUnified}, {"proc/self/cgroup", own}});
    const auto g = group_memory(s.root);
    CHECK(g.limit == kUnlimited);
    CHECK(g.left == kUnlimited);
  }
  CHECK(group_memory("/nowhere").limit == kUnlimited);
}

TEST_CASE("what there is is less than what nobody has") {
  CHECK(plait::os::memory_limit() > (std::size_t{1} << 20));
  CHECK(plait::os::memory_available() > 0);
  CHECK(plait::os::memory_left_for(1 << 16));
  CHECK_FALSE(plait::os::memory_left_for(std::size_t{1} << 60));
}
