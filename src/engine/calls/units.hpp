// Independent units of a call's work on the team.
#pragma once
#include <atomic>

#include "engine/direct/direct.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/threads/interruption.hpp"
#include "engine/threads/team.hpp"

namespace plait::engine {

// task(i, goes_on) for i in [0, count), in any order on any thread; all of them take `seconds` on
// one and touch `elements`. A task looks at goes_on() every millisecond or so and ends when it is
// false. Floating-point flags that tasks raise are raised in the caller. Throws Interrupted. Tasks
// must not throw.
template <class F>
void run_units(std::int64_t count, std::int64_t elements, double seconds, F&& task) {
  std::atomic<unsigned> flags{0};
  Interruption interruption(elements >= kUnlockedWork);
  const ParallelLoop loop{.extent = count, .seconds = seconds, .threads = team_threads(seconds)};
  run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int worker) {
    if (worker != 0) clear_flags();
    const auto goes_on = [&] { return interruption.goes_on(worker); };
    for (std::int64_t i = begin; i < end && goes_on(); ++i) task(i, goes_on);
    if (worker != 0)
      if (const unsigned raised = raised_flags()) flags.fetch_or(raised, std::memory_order_relaxed);
    return goes_on();
  });
  interruption.end();
  raise_flags(flags.load(std::memory_order_relaxed));
}

}  // namespace plait::engine
