// What every file of the bindings shares: the C APIs of Python and NumPy, owned references, and the
// boundary at which C++ exceptions become Python's.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL plait_numpy_api
#ifndef PLAIT_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include <atomic>
#include <utility>

#include "engine/engine.hpp"
#include "error_state.hpp"

namespace plait::py {

class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* p) : p_(p) {}  // takes over the reference
  Owned(const Owned& o) : p_(o.p_) { Py_XINCREF(p_); }
  Owned(Owned&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Owned& operator=(Owned o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Owned() { Py_XDECREF(p_); }
  static Owned borrow(PyObject* p) {
    Py_XINCREF(p);
    return Owned(p);
  }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Owned&) const = default;  // the same object

 private:
  PyObject* p_ = nullptr;
};

// Thrown where the Python error indicator is already set.
struct PythonError {};
inline PyObject* check(PyObject* p) {
  if (!p) throw PythonError{};
  return p;
}
inline void check(int rc) {
  if (rc < 0) throw PythonError{};
}

// A str's text, which lives as long as the str.
inline const char* utf8(PyObject* text) {
  const char* const made = PyUnicode_AsUTF8(text);
  if (!made) throw PythonError{};
  return made;
}
// As PyErr_Format().
[[noreturn]] void raise_error(PyObject* type, const char* format, ...);

// Sets the Python exception for the C++ exception in flight; call it inside a catch block.
void set_python_error() noexcept;
bool add_device_errors(PyObject* module);  // false with a Python error

// Warnings, floating-point errors and owners to release, collected while an evaluation ran; see
// events.cpp.
extern std::atomic<bool> events_pending;
// Handles them under the GIL; false when one became a Python exception.
bool handle_events();
void install_event_hooks();

// Runs the body of a slot or function, under NumPy's state of errors: exceptions become Python's,
// collected warnings are issued.
template <class F>
PyObject* guarded(F&& body) noexcept {
  PyObject* result = nullptr;
  try {
    take_error_state();
    result = body();
  } catch (...) {
    set_python_error();
  }
  if (events_pending.load(std::memory_order_relaxed) && !handle_events()) Py_CLEAR(result);
  return result;
}
template <class F>
int guarded_int(F&& body) noexcept {
  int result = -1;
  try {
    take_error_state();
    result = body();
  } catch (...) {
    set_python_error();
  }
  if (events_pending.load(std::memory_order_relaxed) && !handle_events()) result = -1;
  return result;
}

// Whether this thread holds the GIL. PyGILState_Check() says so of every thread while the
// interpreter ends.
bool holds_gil();
// PyEval_SaveThread.
PyThreadState* leave_python();
// PyEval_RestoreThread, but while the interpreter ends, a thread that is not the main one stands
// still: Python would unwind it, through frames that do not expect that.
void restore_thread(PyThreadState* state);
void install_exit_function();

// The GIL for a scope, in a thread that has let go of it.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;

 private:
  const PyGILState_STATE state_;
  const bool outside_;
};

// Other Python threads run while the engine evaluates.
class NoGil {
 public:
  NoGil() : state_(leave_python()) {}
  ~NoGil() { restore_thread(state_); }
  NoGil(const NoGil&) = delete;

 private:
  PyThreadState* state_;
};

// f() without the GIL, for requests that can be made again. One that Ctrl-C stopped is made again
// when the signal's handler has raised nothing.
template <class F>
void without_gil(F&& f) {
  for (;;) {
    try {
      NoGil open;
      f();
      return;
    } catch (const engine::Interrupted&) {
    }
    if (PyErr_Occurred()) throw PythonError{};
    check(PyErr_CheckSignals());
  }
}

// Functions of the Python half of the package, called where C++ has no native answer; see
// plait/_fallback.py.
struct Hooks {
  PyObject* binary = nullptr;    // (ufunc name, a, b, inplace) -> result
  PyObject* unary = nullptr;     // (ufunc name, a, inplace) -> result
  PyObject* getitem = nullptr;   // (a, key) -> result
  PyObject* setitem = nullptr;   // (a, key, value)
  PyObject* ufunc = nullptr;     // (ufunc, args, kwargs) -> result
  PyObject* call = nullptr;      // (function, args, kwargs or None) -> result, by NumPy
  PyObject* function = nullptr;  // (function, args, kwargs, depth) -> result, by __array_function__
  PyObject* note = nullptr;      // (function, name or None): for PLAIT_LOG=fallback
  PyObject* repr = nullptr;      // (a, is_str) -> text
  PyObject* dtype_error =
      nullptr;  // (ufunc name, operands, kwargs): raises what NumPy raises, or returns None
};
extern Hooks hooks;
// A hook's result, or PythonError.
template <class... Args>
PyObject* call_hook(PyObject* hook, Args... args) {
  PyObject* list[] = {nullptr, args...};
  PyObject* const result = check(PyObject_Vectorcall(
      hook, list + 1, sizeof...(args) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  take_error_state();  // calls that it made had their own
  return result;
}

}  // namespace plait::py
