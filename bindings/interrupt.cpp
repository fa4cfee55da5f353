// Ctrl-C during a long evaluation, or while waiting for another thread's. Another Python thread may
// hold the GIL and wait for this evaluation to end, so whether to stop is decided without the GIL:
// a C handler in front of Python's notes the signal, and once the evaluation has unwound, Python's
// handler runs and may raise.
#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>

#include "python.hpp"

namespace plait::py {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<pthread_t> main_thread;
struct sigaction python_action;

void note_interrupt(int signal, siginfo_t* info, void* context) {
  interrupted = true;
  if (python_action.sa_flags & SA_SIGINFO)
    python_action.sa_sigaction(signal, info, context);
  else
    python_action.sa_handler(signal);
}

// signal.signal() puts Python's handler back in place of this one.
void stand_in_front() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == note_interrupt) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
    return;
  python_action = now;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = note_interrupt;
  sigaction(SIGINT, &ours, nullptr);
}

// Called between chunks of a long evaluation. Signals are handled in the main thread only.
bool stop_requested() {
  if (pthread_self() != main_thread.load(std::memory_order_relaxed)) return false;
  stand_in_front();
  if (!interrupted.exchange(false)) return false;
  return !PyGILState_Check() || PyErr_CheckSignals() != 0;
}

}  // namespace

void install_interrupt_hook() {
  main_thread = pthread_self();
  stand_in_front();
  pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });
  engine::set_interrupt_hook(stop_requested);
}

}  // namespace plait::py
