// WholeCall(body, ask, parameters, waits): calls of a jitted function that runs in machine code as a whole:
// its arguments go to an entry of `body`, the loop of one iteration that its statements are
// (numpy_compat/plait/_python_loops/whole.py), and what that returns is what the call gives.
#include "crossing.hpp"  // Python's headers first

#include <structmember.h>

#include <algorithm>
#include <cstddef>

#include "functions.hpp"
#include "loop_entry.hpp"
#include "tracer/device.hpp"

namespace plait::py {
namespace {

struct WholeObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject* body;         // a LoopCall
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
bool has_plaits(PyObject* args) {
  PyObject** const items = PySequence_Fast_ITEMS(args);
  return std::any_of(items, items + PyTuple_GET_SIZE(args), is_array);
}

PyObject* not_run() { return Py_NewRef(Py_NotImplemented); }

PyObject* run(WholeObject& whole, PyObject* args) {
  if (PyTuple_GET_SIZE(args) != whole.parameters || in_jit() ||
      tracer::current_device() != kHost || is_watched() || has_plaits(args) || !loops_may_run())
    return not_run();
  const Owned entries = Owned::borrow(entries_of(whole.body));
  for (Py_ssize_t i = 0; entries && i < PyList_GET_SIZE(entries.get()); ++i) {
    const Owned entry = Owned::borrow(PyList_GET_ITEM(entries.get(), i));
    if (PyObject* const value = run_whole(entry.get(), whole.body, args)) return value;
  }
  if (whole.waits > 0) {
    --whole.waits;
    return not_run();
  }
  const Owned waits(check(PyObject_CallOneArg(whole.ask, args)));
  whole.waits = PyLong_AsSsize_t(waits.get());
  check(whole.waits == -1 && PyErr_Occurred() ? -1 : 0);
  return not_run();
}

// whole(args): what the function returns for a tuple of arguments; NotImplemented where it is to be
// called otherwise.
PyObject* call(PyObject* self, PyObject* const* args, std::size_t count, PyObject* named) {
  if (PyVectorcall_NARGS(count) != 1 || named || !PyTuple_Check(args[0]))
    return PyErr_Format(PyExc_TypeError, "WholeCall takes a tuple");
  return guarded([&] { return run(as_whole(self), args[0]); });
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *body, *ask;
  Py_ssize_t parameters, waits;
  if (!PyArg_ParseTuple(args, "OOnn", &body, &ask, &parameters, &waits)) return nullptr;
  if (!is_loop_call(body)) return PyErr_Format(PyExc_TypeError, "not a LoopCall");
  PyObject* const o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  WholeObject& whole = as_whole(o);
  whole.call = call;
  whole.body = Py_NewRef(body);
  whole.ask = Py_NewRef(ask);
  whole.parameters = parameters;
  whole.waits = waits;
  return o;
}
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(as_whole(self).body);
  Py_VISIT(as_whole(self).ask);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
void dealloc(PyObject* self) {  // what holds it, and `ask`, break cycles
  PyObject_GC_UnTrack(self);
  Py_CLEAR(as_whole(self).ask);
  Py_CLEAR(as_whole(self).body);
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(WholeObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, slot_of(make)},
                       {Py_tp_call, slot_of(PyVectorcall_Call)},
                       {Py_tp_dealloc, slot_of(dealloc)},
                       {Py_tp_traverse, slot_of(traverse)},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.WholeCall", sizeof(WholeObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

bool add_whole_calls(PyObject* module) {
  const Owned type(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "WholeCall", type.get()) == 0;
}

}  // namespace plait::py
