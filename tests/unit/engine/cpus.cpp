#include "engine/threads/cpus.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "../fake_system.hpp"
#include "core/os/threads.hpp"

using plait::engine::available_cpus;
using plait::os::cpu_quota;
using plait::test::kUnified;
using System = plait::test::FakeSystem;

namespace {

const std::string kCpu =
    "32 31 0:29 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu,cpuacct";

}  // namespace

TEST_CASE("quotas of control groups, version 2") {
  const System s({{"proc/self/mountinfo", kUnified},
                  {"proc/self/cgroup", "0::/machine/job"},
                  {"sys/fs/cgroup/machine/job/cpu.max", "max 100000"},
                  {"sys/fs/cgroup/machine/cpu.max", "150000 100000"}});
  CHECK(cpu_quota(s.root) == 1.5);
}

TEST_CASE("quotas of control groups, version 1") {
  const System s({{"proc/self/mountinfo", kCpu},
                  {"proc/self/cgroup", "5:devices:/x\n4:cpu,cpuacct:/job\n0::/"},
                  {"sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000"},
                  {"sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000"},
                  {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"},
                  {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}});
  CHECK(cpu_quota(s.root) == 0.5);
}

TEST_CASE("a group mounted from inside a container") {
  const System s({{"proc/self/mountinfo",
                   "32 31 0:29 /docker/4f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu"},
                  {"proc/self/cgroup", "4:cpu:/docker/4f"},
                  {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000"},
                  {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"}});
  CHECK(cpu_quota(s.root) == 2);
}

TEST_CASE("no quota, and nothing to read") {
  const System s({{"proc/self/mountinfo", kUnified}, {"proc/self/cgroup", "0::/"}});
  CHECK(cpu_quota(s.root) == 0);
  CHECK(cpu_quota("/nowhere") == 0);
  CHECK(available_cpus() >= 1);
}
