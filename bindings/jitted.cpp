// Jitted(): what is known of a jitted function's calls; the base of plait's _Jitted
// (numpy_compat/plait/_jit.py), which is in the first cell of the function that makes them.
//
// call_natively(function): from now on, calls of that function ask its Jitted first for machine
// code of the whole (WholeCall), and for one that runs on the arguments as they are (DirectCall).
// The function stays what it is, with all its attributes, and is run where neither takes a call.
#include "jitted.hpp"  // Python's headers first

#include <structmember.h>

#include <cstddef>

#include "functions.hpp"
#include "holding.hpp"
#include "loop_entry.hpp"

namespace plait::py {
namespace {

struct JittedObject {
  PyObject_HEAD PyObject* whole;  // a WholeCall, or null
  PyObject* direct;               // a DirectCall, or null
  PyObject* failed;               // (error): tidies the traceback of what such a call raised
};
JittedObject& as_jitted(PyObject* o) { return *reinterpret_cast<JittedObject*>(o); }
PyTypeObject* jitted_type;
vectorcallfunc pythons;  // how Python runs functions

// Of a jitted function, borrowed; null where its cells were replaced.
PyObject* jitted_of(PyObject* function) {
  PyObject* const cells = PyFunction_GET_CLOSURE(function);
  if (!cells || PyTuple_GET_SIZE(cells) == 0) return nullptr;
  PyObject* const found = PyCell_GET(PyTuple_GET_ITEM(cells, 0));
  return found && PyObject_TypeCheck(found, jitted_type) ? found : nullptr;
}

// Has Python's tidies(error) mend the traceback of what is raised.
void tidy_error(PyObject* tidies) {
  PyObject *type, *error, *trace;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  if (trace) PyException_SetTraceback(error, trace);
  Py_XDECREF(trace);
  const Owned done(PyObject_CallOneArg(tidies, error));
  if (!done) PyErr_WriteUnraisable(tidies);
  PyErr_Restore(type, error, PyException_GetTraceback(error));
}

// A call without names of arguments; null without an error where the function is to run.
PyObject* call_by_position(JittedObject& jitted, Arguments args) {
  if (jitted.whole) {
    const Owned whole = Owned::borrow(jitted.whole);
    PyObject* const value = guarded([&] { return run_whole_call(whole.get(), args); });
    if (value || PyErr_Occurred()) return value;
  }
  if (!jitted.direct) return nullptr;
  const Owned direct = Owned::borrow(jitted.direct);
  PyObject* const taken = directly(direct.get(), args);
  return taken ? PyObject_Vectorcall(taken, args.data(), args.size(), nullptr) : nullptr;
}

PyObject* call(PyObject* self, PyObject* const* args, std::size_t count, PyObject* names) {
  PyObject* const found = names && PyTuple_GET_SIZE(names) > 0 ? nullptr : jitted_of(self);
  if (found) {
    const Owned jitted = Owned::borrow(found);
    PyObject* const value = call_by_position(
        as_jitted(found), {args, static_cast<std::size_t>(PyVectorcall_NARGS(count))});
    if (value) return value;
    if (PyErr_Occurred()) {
      if (as_jitted(found).failed) tidy_error(as_jitted(found).failed);
      return nullptr;
    }
  }
  return pythons(self, args, count, names);
}

// --- the type of such functions

// Pickled as Python's functions are: by their name.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }
PyMethodDef function_methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
// Types have these names, too, which would stand before those of `function`.
PyMemberDef function_members[] = {
    {"__doc__", T_OBJECT, offsetof(PyFunctionObject, func_doc), 0, nullptr},
    {"__module__", T_OBJECT, offsetof(PyFunctionObject, func_module), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

// Python 3.11 runs what is of the type `function` itself without a look at how it is called. A type
// made from a PyType_Spec may not have that one as its base.
PyTypeObject function_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool make_function_type() {
  PyTypeObject& t = function_type;
  t.tp_name = "plait._plait.jitted_function";
  t.tp_base = &PyFunction_Type;
  t.tp_basicsize = PyFunction_Type.tp_basicsize;
  t.tp_vectorcall_offset = PyFunction_Type.tp_vectorcall_offset;
  t.tp_call = PyVectorcall_Call;
  t.tp_descr_get = PyFunction_Type.tp_descr_get;
  t.tp_repr = PyFunction_Type.tp_repr;
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  t.tp_methods = function_methods;
  t.tp_members = function_members;
  return PyType_Ready(&t) == 0;
}

// What the interpreter knows of the function is of its other calls, and forgotten.
void set_vectorcall(PyFunctionObject* f) {
#if PY_VERSION_HEX >= 0x030C0000
  PyFunction_SetVectorcall(f, call);  // also where functions are found by their version
#else
  f->vectorcall = call;
  f->func_version = 0;
#endif
}

PyObject* call_natively(PyObject*, PyObject* function) {
  if (Py_IS_TYPE(function, &function_type)) Py_RETURN_NONE;  // its first calls are several threads'
  if (!PyFunction_Check(function) || !jitted_of(function))
    return PyErr_Format(PyExc_TypeError, "call_natively() takes a function that has a Jitted");
  auto* const f = reinterpret_cast<PyFunctionObject*>(function);
  pythons = f->vectorcall;
  set_vectorcall(f);
  Py_SET_TYPE(function, &function_type);
  Py_RETURN_NONE;
}

// --- the type of what is known of them

using Held =
    Holding<JittedObject, &JittedObject::whole, &JittedObject::direct, &JittedObject::failed>;

template <PyObject* JittedObject::* member>
PyObject* get(PyObject* self, void*) {
  PyObject* const held = as_jitted(self).*member;
  return Py_NewRef(held ? held : Py_None);
}
template <PyObject* JittedObject::* member, bool (*is)(PyObject*)>
int set(PyObject* self, PyObject* value, void*) {
  if (value == Py_None) value = nullptr;
  if (value && !is(value)) {
    PyErr_SetString(PyExc_TypeError, "not what such calls are");
    return -1;
  }
  Py_XSETREF(as_jitted(self).*member, Py_XNewRef(value));
  return 0;
}
bool is_callable(PyObject* o) { return PyCallable_Check(o) != 0; }

PyGetSetDef getset[] = {{"whole", get<&JittedObject::whole>,
                         set<&JittedObject::whole, is_whole_call>, nullptr, nullptr},
                        {"direct", get<&JittedObject::direct>,
                         set<&JittedObject::direct, is_direct_call>, nullptr, nullptr},
                        {"failed", get<&JittedObject::failed>,
                         set<&JittedObject::failed, is_callable>, nullptr, nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, slot_of(Held::dealloc)},
                       {Py_tp_traverse, slot_of(Held::traverse)},
                       {Py_tp_clear, slot_of(Held::clear)},
                       {Py_tp_getset, getset},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.Jitted", sizeof(JittedObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, slots};

PyMethodDef functions[] = {{"call_natively", call_natively, METH_O,
                            "has calls of a jitted function begin in machine code"},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

Owned tuple_of(Arguments args) {
  Owned all(check(PyTuple_New(static_cast<Py_ssize_t>(args.size()))));
  for (std::size_t i = 0; i < args.size(); ++i)
    PyTuple_SET_ITEM(all.get(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  return all;
}

bool add_jitted(PyObject* module) {
  return make_function_type() && add_type(module, spec, &jitted_type) &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace plait::py
