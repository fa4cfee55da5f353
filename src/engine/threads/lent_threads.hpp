// Threads of the application in place of the team's own: it lends a callable that runs tasks.
#pragma once
#include "plait/detail/callback.hpp"
#include "team.hpp"

namespace plait::engine {

// Runs task(data, i) for every i in [0, n) on threads of its choice, and returns when all have
// returned.
using RunTasks = detail::Callback<int, void (*)(void*, int), void*>;

// Nobody evaluates meanwhile. Empty: the team again.
void lend_threads(RunTasks run);
bool has_lent_threads();
// The same loop as run_parallel(). The caller completes what no task was run for, and what is left
// when `run` throws.
double run_lent(const ParallelLoop& loop, LoopBody body);
void return_lent_threads_in_child();  // of fork(): they are not there

}  // namespace plait::engine
