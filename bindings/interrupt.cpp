// Ctrl-C during a long evaluation, or while waiting for another thread's. Another Python thread may
// hold the GIL and wait for this evaluation to end, so whether to stop is decided without the GIL:
// a C handler in front of Python's notes the signal, and once the evaluation has unwound, Python's
// handler runs and may raise.
#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>

#include "python.hpp"
#include "tracer/context.hpp"

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

// A thread that calls the recorder with the GIL gives it away while it waits or computes.
thread_local PyThreadState* parked = nullptr;
void* let_go() { return holds_gil() ? parked = leave_python() : nullptr; }
void take_back(void* state) {
  if (!state) return;
  parked = nullptr;
  restore_thread(static_cast<PyThreadState*>(state));
}

// Signals are handled in the main thread only.
const std::atomic<bool>* flag() {
  if (pthread_self() != main_thread.load(std::memory_order_relaxed)) return nullptr;
  stand_in_front();
  return &interrupted;
}

// A request that began without the GIL is made again after the handler; one that holds or has
// parked it cannot be, so the handler has to run now.
bool stop() {
  if (!interrupted.exchange(false)) return false;
  PyThreadState* state = parked;
  if (!state && !holds_gil()) return true;
  if (state) take_back(state);
  const bool raised = PyErr_CheckSignals() != 0;
  if (state) let_go();
  return raised;
}

}  // namespace

GilParked::GilParked() : state_(let_go()) {}
GilParked::~GilParked() { take_back(state_); }

void install_interrupt_hook() {
  main_thread = pthread_self();
  stand_in_front();
  pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });
  engine::set_interrupt_hook({flag, stop});
  tracer::set_host_lock({let_go, take_back});
}

}  // namespace plait::py
