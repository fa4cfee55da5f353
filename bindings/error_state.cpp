#include "error_state.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "imported.hpp"
#include "python.hpp"
#include "tracer/error_states.hpp"

namespace plait::py {
namespace {

// NumPy makes an object for each state and never changes it. Those seen last, at a hash of their
// addresses; held, so that no other comes to lie there. The GIL guards them.
struct Known {
  PyObject* object = nullptr;
  tracer::KnownErrorState state;
};
std::array<Known, 16> states;

Known& place_of(PyObject* object) {
  return states[(reinterpret_cast<std::uintptr_t>(object) * 0x9E3779B97F4A7C15ull) >> 60];
}

tracer::ErrorAction action_in(PyObject* errors, const char* kind) {
  PyObject* const o = PyDict_GetItemString(errors, kind);
  const char* const text = o ? PyUnicode_AsUTF8(o) : nullptr;
  const std::string_view s = text ? text : "warn";
  if (s == "ignore") return tracer::ErrorAction::Ignore;
  if (s == "warn") return tracer::ErrorAction::Warn;
  if (s == "raise") return tracer::ErrorAction::Raise;
  if (s == "call") return tracer::ErrorAction::Call;
  if (s == "print") return tracer::ErrorAction::Print;
  return tracer::ErrorAction::Log;
}

tracer::KnownErrorState asked() {
  static constinit Imported geterr("numpy", "geterr");
  const Owned errors(check(PyObject_CallNoArgs(geterr.get())));
  return tracer::known_error_state(
      {action_in(errors.get(), "divide"), action_in(errors.get(), "over"),
       action_in(errors.get(), "under"), action_in(errors.get(), "invalid")});
}

// Null for a NumPy that keeps its state elsewhere: it is asked each time.
PyObject* variable() {
  static PyObject* const found = [] {
    const Owned module(PyImport_ImportModule("numpy._core.umath"));
    PyObject* const v =
        module ? PyObject_GetAttrString(module.get(), "_extobj_contextvar") : nullptr;
    if (!v) PyErr_Clear();
    return v;
  }();
  return found;
}

}  // namespace

void take_error_state() {
  PyObject* const held_in = variable();
  if (!held_in) return tracer::record_under(asked());
  PyObject* now = nullptr;
  check(PyContextVar_Get(held_in, nullptr, &now));
  const Owned object(now);
  Known& k = place_of(now);
  if (k.object != now) [[unlikely]] {
    const tracer::KnownErrorState state = asked();
    PyObject* const before = k.object;
    k = {Py_XNewRef(now), state};
    Py_XDECREF(before);
  }
  tracer::record_under(k.state);
}

}  // namespace plait::py
