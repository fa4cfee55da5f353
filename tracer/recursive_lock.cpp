#include "recursive_lock.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>

#include "core/os/threads.hpp"

namespace plait::tracer {

// To register waits for all processors, which takes milliseconds where there are other threads: one
// of its own does that, and nobody is favoured before.
bool RecursiveLock::can_favour() {
  enum Known : int { kUnasked, kAsked, kNo, kYes };
  static std::atomic<int> known{kUnasked};
  int now = known.load(std::memory_order_acquire);
  if (now == kUnasked && known.compare_exchange_strong(now, kAsked)) try {
      std::thread([] {
        known.store(os::ask_for_barriers() ? kYes : kNo, std::memory_order_release);
      }).detach();
    } catch (const std::system_error&) {
      known.store(kNo);  // no thread can be had
    }
  return now == kYes;
}

namespace {

template <class Ready>
void wait_for(Ready ready) {
  constexpr int kSpins = 200;
  for (int i = 0; !ready(); ++i)
    if (i >= kSpins) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace

void RecursiveLock::enter(pthread_t self) {
  if (held_.exchange(true, std::memory_order_acquire))
    wait_for([this] {
      return !held_.load(std::memory_order_relaxed) &&
             !held_.exchange(true, std::memory_order_acquire);
    });
  const pthread_t favoured = favoured_.load(std::memory_order_relaxed);
  if (favoured != pthread_t{} && favoured != self) end_favour();
  by_favour_ = false;
  if (std::exchange(last_, self) != self) in_a_row_ = 0;
  if (++in_a_row_ < needed_ || !can_favour()) return;
  if (first_favoured_ == pthread_t{}) first_favoured_ = self;
  if (first_favoured_ == self)
    favoured_.store(self, std::memory_order_relaxed);  // from the next time on
}

void RecursiveLock::end_favour() {
  constexpr std::uint32_t kMost = 1 << 16;
  needed_ = std::min(2 * needed_, kMost);  // threads that take turns soon do without
  favoured_.store(pthread_t{}, std::memory_order_relaxed);
  os::barrier_everywhere();
  wait_for([this] { return !inside_.load(std::memory_order_acquire); });
}

}  // namespace plait::tracer
