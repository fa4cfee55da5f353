// A child of fork() has one thread and the parent's memory as it was at that moment: the teams
// are gone, and what another thread was changing is half done.
#include "fork.hpp"

#include <omp.h>
#include <pthread.h>

#include "core/at_fork.hpp"
#include "core/background.hpp"
#include "core/buffer.hpp"
#include "team.hpp"
#include "tracer/context.hpp"
#include "tracer/evaluation_scope.hpp"

namespace plait::engine {
namespace {

// Jobs and evaluations of other threads end first: jobs, which take the recorder's lock, before it
// is held here. libgomp would wait in the child for a team that does not exist there, so the team
// of this thread is dissolved; both processes start one when they need it.
void prepare() {
  const std::uint32_t levels = tracer::lock().let_go();  // in a handler in the middle of a call
  Background::hold_over_fork();
  tracer::lock().take_back(levels);
  tracer::hold_evaluations_over_fork();
  omp_pause_resource_all(omp_pause_hard);
}
void resume_parent() {
  tracer::resume_turns_in_parent();
  Background::release_after_fork();
}
void resume_child() {
  reset_team_in_child();
  tracer::resume_turns_in_child();
  Background::release_after_fork();
}

}  // namespace

void install_fork_handlers(std::mutex& registry) {
  // Handlers run in the reverse order of installation. The evaluation that this one waits for needs
  // memory and the compiler, so the handlers that take their locks have to be there before it.
  allocate(1);
  hold_over_fork(registry);
  pthread_atfork(&prepare, &resume_parent, &resume_child);
}

}  // namespace plait::engine
