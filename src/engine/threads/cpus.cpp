#include "cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "core/control_groups.hpp"

namespace plait::engine {

namespace {

double quota_of(const std::string& folder, bool unified) {
  double quota = 0, period = 0;
  if (unified) {
    std::ifstream in(folder + "/cpu.max");  // "max 100000"
    if (!(in >> quota >> period)) return 0;
  } else {
    std::ifstream most(folder + "/cpu.cfs_quota_us"), every(folder + "/cpu.cfs_period_us");
    if (!(most >> quota) || !(every >> period)) return 0;  // -1: none
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

int cpus_of_mask() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const ControlGroup& g : control_groups("cpu", root)) {
    const double q = quota_of(g.folder, g.unified);
    if (q > 0 && (least == 0 || q < least)) least = q;
  }
  return least;
}

int available_cpus(bool rounded_up) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<double> known{0};
  static std::atomic<Clock::rep> asked{0};
  const Clock::rep now = Clock::now().time_since_epoch().count();
  const Clock::rep second = Clock::duration(std::chrono::seconds(1)).count();
  Clock::rep last = asked.load(std::memory_order_relaxed);
  if (known.load(std::memory_order_relaxed) == 0 ||
      (now - last > second && asked.compare_exchange_strong(last, now))) {
    const double quota = cpu_quota(), mask = cpus_of_mask();
    known = quota > 0 ? std::min(mask, quota) : mask;
    asked = now;
  }
  const double cpus = known.load(std::memory_order_relaxed);
  return std::max(1, static_cast<int>(rounded_up ? std::ceil(cpus) : cpus));
}

}  // namespace plait::engine
