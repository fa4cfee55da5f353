#include "budget.hpp"

#include <time.h>

namespace plait::fusion {
namespace {

constexpr unsigned kLooksAtClock = 64;

}  // namespace

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Budget::Budget(const std::atomic<bool>& stop, double seconds, std::size_t expressions)
    : stop_(&stop), until_(processor_seconds() + seconds), expressions_(expressions) {}

void Budget::look(std::size_t expressions) const {
  if (stop_->load(std::memory_order_relaxed)) throw PlanningStopped("the process ends");
  spent_ =
      expressions > expressions_ || (looks_++ % kLooksAtClock == 0 && processor_seconds() > until_);
  if (spent_) throw PlanningStopped("planning takes too long");
}

}  // namespace plait::fusion
