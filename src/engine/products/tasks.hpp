// What products divide their work into.
#pragma once
#include <atomic>

#include "engine/direct/fp_flags.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"

namespace plait::engine {

// Runs tasks on the team: flags that helpers raise become the caller's, as if it had run them all.
class Tasks {
 public:
  Tasks(double seconds, bool interruptible)
      : seconds_(seconds), threads_(team_threads(seconds)), interruptible_(interruptible) {}
  int threads() const { return threads_; }

  // task(i, worker, goes_on); `seconds` of all of them. A task ends early when goes_on() is false.
  template <class F>
  void run(std::int64_t count, double seconds, F&& task) {
    std::atomic<unsigned> flags{0};
    Interruption interruption(interruptible_);
    const ParallelLoop loop{.extent = count, .seconds = seconds, .threads = threads_};
    run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
      if (worker != 0) clear_flags();
      for (std::int64_t i = begin; i < end && interruption.goes_on(worker); ++i)
        task(i, worker, [&] { return interruption.goes_on(worker); });
      if (worker != 0)
        if (const unsigned raised = raised_flags())
          flags.fetch_or(raised, std::memory_order_relaxed);
      return interruption.goes_on(worker);
    });
    interruption.end();
    raise_flags(flags.load(std::memory_order_relaxed));
  }
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  int threads_;
  bool interruptible_;
};

}  // namespace plait::engine
