// WholeCall(body, ask, parameters, waits): calls of a jitted function that runs in machine code as
// a whole: its arguments go to an entry of `body`, the loop of one iteration that its statements
// are (numpy_compat/plait/_python_loops/whole.py), and what that returns is what the call gives.
#include "crossing.hpp"  // Python's headers first

#include <algorithm>

#include "functions.hpp"
#include "holding.hpp"
#include "jitted.hpp"
#include "loop_entry.hpp"
#include "tracer/device.hpp"

namespace plait::py {
namespace {

struct WholeObject {
  PyObject_HEAD PyObject* body;  // a LoopCall
  PyObject* ask;          // what is called with the arguments when some calls have found no code
  Py_ssize_t parameters;  // arguments of a call
  Py_ssize_t waits;       // calls without code until it is asked
};
WholeObject& as_whole(PyObject* o) { return *reinterpret_cast<WholeObject*>(o); }

bool is_watched() {
  const PyThreadState* const thread = PyThreadState_Get();
  return thread->c_profileobj || thread->c_profilefunc;
}

// Whether one is Plait's array, of which functions give what else they would not.
bool has_plaits(Arguments args) { return std::any_of(args.begin(), args.end(), is_array); }

PyTypeObject* whole_type;

PyObject* run(WholeObject& whole, Arguments args) {
  if (static_cast<Py_ssize_t>(args.size()) != whole.parameters || in_jit() ||
      tracer::current_device() != kHost || is_watched() || has_plaits(args) || !loops_may_run())
    return nullptr;
  PyObject* value = nullptr;
  const auto runs = [&](const Owned& entry) {
    return (value = run_whole(entry.get(), whole.body, args)) != nullptr;
  };
  if (entries_of(whole.body).find(runs)) return value;
  if (whole.waits > 0) {
    --whole.waits;
    return nullptr;
  }
  const Owned all = tuple_of(args);
  const Owned waits(check(PyObject_CallOneArg(whole.ask, all.get())));
  whole.waits = PyLong_AsSsize_t(waits.get());
  check(whole.waits == -1 && PyErr_Occurred() ? -1 : 0);
  return nullptr;
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *body, *ask;
  Py_ssize_t parameters, waits;
  if (!PyArg_ParseTuple(args, "OOnn", &body, &ask, &parameters, &waits)) return nullptr;
  if (!is_loop_call(body)) return PyErr_Format(PyExc_TypeError, "not a LoopCall");
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  WholeObject& whole = as_whole(o);
  whole.body = Py_NewRef(body);
  whole.ask = Py_NewRef(ask);
  whole.parameters = parameters;
  whole.waits = waits;
  return o;
}
// What holds it, and `ask`, break cycles.
using Held = Holding<WholeObject, &WholeObject::ask, &WholeObject::body>;

PyType_Slot slots[] = {{Py_tp_new, slot_of(make)},
                       {Py_tp_dealloc, slot_of(Held::dealloc)},
                       {Py_tp_traverse, slot_of(Held::traverse)},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.WholeCall", sizeof(WholeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

bool is_whole_call(PyObject* o) { return Py_TYPE(o) == whole_type; }
PyObject* run_whole_call(PyObject* whole, Arguments args) { return run(as_whole(whole), args); }

bool add_whole_calls(PyObject* module) { return add_type(module, spec, &whole_type); }

}  // namespace plait::py
