#include "cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace plait::engine {

namespace {

// One hierarchy of control groups that can limit processors.
struct Hierarchy {
  std::string mounted;  // where the group `root` is
  std::string root;
  bool unified;  // version 2
};

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream in(list);
  for (std::string w; std::getline(in, w, ',');)
    if (w == word) return true;
  return false;
}

std::vector<Hierarchy> hierarchies(const std::string& root) {
  std::vector<Hierarchy> all;
  std::ifstream in(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line), back(line.substr(dash + 3));
    std::string id, parent, device, group, place, type, source, options;
    front >> id >> parent >> device >> group >> place;
    back >> type >> source >> options;
    if (type == "cgroup2" || (type == "cgroup" && has_word(options, "cpu")))
      all.push_back({place, group, type == "cgroup2"});
  }
  return all;
}

// The group of this process in a hierarchy: lines "number:controllers:path".
std::string own_group(const std::string& root, bool unified) {
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (unified ? controllers.empty() : has_word(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return "/";
}

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
  for (const Hierarchy& h : hierarchies(root)) {
    std::string group = own_group(root, h.unified);
    if (h.root != "/" && group.compare(0, h.root.size(), h.root) == 0)
      group.erase(0, h.root.size());
    // A group is bounded by those around it, too.
    for (;;) {
      const double q = quota_of(root + h.mounted + group, h.unified);
      if (q > 0 && (least == 0 || q < least)) least = q;
      const auto slash = group.rfind('/');
      if (slash == std::string::npos) break;
      group.erase(slash);
    }
  }
  return least;
}

int available_cpus() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<int> known{0};
  static std::atomic<Clock::rep> asked{0};
  const Clock::rep now = Clock::now().time_since_epoch().count();
  const Clock::rep second = Clock::duration(std::chrono::seconds(1)).count();
  Clock::rep last = asked.load(std::memory_order_relaxed);
  if (known.load(std::memory_order_relaxed) == 0 ||
      (now - last > second && asked.compare_exchange_strong(last, now))) {
    const double quota = cpu_quota();
    const int mask = cpus_of_mask();
    known = quota > 0 ? std::min(mask, static_cast<int>(std::ceil(quota))) : mask;
    asked = now;
  }
  return known.load(std::memory_order_relaxed);
}

}  // namespace plait::engine
