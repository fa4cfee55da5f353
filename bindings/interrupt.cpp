// Ctrl-C, or any signal that has a handler of Python's, during a long evaluation, or while waiting
// for another thread's. Another Python thread may hold the GIL and wait for this evaluation to end,
// so whether to stop is decided without the GIL: a C handler in front of Python's notes the signal,
// and once the evaluation has unwound, Python's handler runs and may raise.
#include "interrupt.hpp"

#include <pthread.h>
#include <signal.h>

#include "python.hpp"
#include "tracer/context.hpp"

namespace plait::py {
namespace {

std::atomic<bool> interrupted{false}, others{false};  // others: signals than Ctrl-C, among them
static_assert(std::atomic<bool>::is_always_lock_free);
std::atomic<pthread_t> main_thread;
struct sigaction python_actions[NSIG];

void note_signal(int signal, siginfo_t* info, void* context) {
  if (signal != SIGINT) others = true;
  interrupted = true;
  const struct sigaction& pythons = python_actions[signal];
  if (pythons.sa_flags & SA_SIGINFO)
    pythons.sa_sigaction(signal, info, context);
  else
    pythons.sa_handler(signal);
}

void stand_in_front(int signal) {
  struct sigaction now;
  if (sigaction(signal, nullptr, &now) != 0) return;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == note_signal) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
    return;
  python_actions[signal] = now;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = note_signal;
  sigaction(signal, &ours, nullptr);
}

// _signal.signal(), which signal.signal() and all others call, and which puts Python's handler in
// place of ours.
PyObject* set_handler(PyObject* pythons, PyObject* args) {
  PyObject* const before = PyObject_Call(pythons, args, nullptr);
  if (before) stand_in_front(static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(args, 0))));
  return before;
}
PyMethodDef set_handler_method = {"signal", set_handler, METH_VARARGS, nullptr};

void stand_in_front_of_all() {
  const Owned module(check(PyImport_ImportModule("_signal")));
  const Owned pythons(check(PyObject_GetAttrString(module.get(), "signal")));
  if (PyCFunction_Check(pythons.get()))
    set_handler_method.ml_doc = reinterpret_cast<PyCFunctionObject*>(pythons.get())->m_ml->ml_doc;
  const Owned name(check(PyUnicode_FromString("_signal")));
  const Owned ours(check(PyCFunction_NewEx(&set_handler_method, pythons.get(), name.get())));
  for (int signal = 1; signal < NSIG; ++signal) {
    const Owned handler(PyObject_CallMethod(module.get(), "getsignal", "i", signal));
    if (!handler) PyErr_Clear();
    if (handler && PyCallable_Check(handler.get())) stand_in_front(signal);
  }
  check(PyObject_SetAttrString(module.get(), "signal", ours.get()));
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
  return pthread_self() == main_thread.load(std::memory_order_relaxed) ? &interrupted : nullptr;
}

// A request that began without the GIL is made again after the handler of Ctrl-C; one that holds or
// has parked it cannot be, so the handler has to run now, as do those of signals that may come
// again before a request has ended.
bool stop() {
  if (!interrupted.exchange(false)) return false;
  PyThreadState* state = parked;
  if (!state && !holds_gil()) {
    if (!others.exchange(false)) return true;
    const WithGil held;
    return PyErr_CheckSignals() != 0;
  }
  others = false;
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
  stand_in_front_of_all();
  pthread_atfork(nullptr, nullptr, [] { main_thread = pthread_self(); });
  engine::set_interrupt_hook({flag, stop});
  tracer::set_host_lock({let_go, take_back});
}

}  // namespace plait::py
