#include "cpus.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "core/os/threads.hpp"

namespace plait::engine {

int available_cpus(bool rounded_up) {
  using Clock = std::chrono::steady_clock;
  static std::atomic<double> known{0};
  static std::atomic<Clock::rep> asked{0};
  const Clock::rep now = Clock::now().time_since_epoch().count();
  const Clock::rep second = Clock::duration(std::chrono::seconds(1)).count();
  Clock::rep last = asked.load(std::memory_order_relaxed);
  if (known.load(std::memory_order_relaxed) == 0 ||
      (now - last > second && asked.compare_exchange_strong(last, now))) {
    const double quota = os::cpu_quota(), mask = os::process_cpus();
    known = quota > 0 ? std::min(mask, quota) : mask;
    asked = now;
  }
  const double cpus = known.load(std::memory_order_relaxed);
  return std::max(1, static_cast<int>(rounded_up ? std::ceil(cpus) : cpus));
}

}  // namespace plait::engine
