// Coming back to Python after work without the GIL. A thread that asks for the GIL while the
// interpreter ends is unwound by Python, through C++ frames that do not expect it. So such threads
// stand still from the moment on that the interpreter's exit functions run, and those that are on
// their way in come in first.
#include <pthread.h>
#include <unistd.h>

#include "core/timeline.hpp"
#include "engine/reports/report.hpp"
#include "events.hpp"
#include "python.hpp"
#include "sites.hpp"

namespace plait::py {
namespace {

std::atomic<bool> ending{false};
std::atomic<int> returning{0};
pthread_t python_main;
thread_local bool outside = false;  // between leave_python() and restore_thread()

PyObject* at_exit(PyObject*, PyObject*) {
  ending = true;
  while (returning.load() != 0) {
    Py_BEGIN_ALLOW_THREADS;
    usleep(100);
    Py_END_ALLOW_THREADS;
  }
  Py_RETURN_NONE;
}
PyMethodDef at_exit_function{"at_exit", at_exit, METH_NOARGS, nullptr};

}  // namespace

bool holds_gil() {
  if (outside || (ending.load() && pthread_self() != python_main)) return false;
  return PyGILState_Check();
}

PyThreadState* leave_python() {
  if (engine::Watch::current() || timeline::on()) [[unlikely]]
    remember_site();
  outside = true;
  return PyEval_SaveThread();
}

void restore_thread(PyThreadState* state) {
  ++returning;
  if (ending.load() && pthread_self() != python_main) {
    --returning;
    for (;;) pause();
  }
  PyEval_RestoreThread(state);
  outside = false;
  --returning;
}

WithGil::WithGil() : state_(PyGILState_Ensure()), outside_(std::exchange(outside, false)) {}
WithGil::~WithGil() {
  outside = outside_;
  PyGILState_Release(state_);
}

void install_exit_function() {
  python_main = pthread_self();
  pthread_atfork(nullptr, nullptr, [] {
    python_main = pthread_self();
    returning = 0;
  });
  Owned function(check(PyCFunction_New(&at_exit_function, nullptr)));
  Owned module(check(PyImport_ImportModule("atexit")));
  Owned done(check(PyObject_CallMethod(module.get(), "register", "O", function.get())));
}

}  // namespace plait::py
