// Where plait.ndarray meets NumPy's C code for methods: asked of the class, as in
// np.ndarray.sum(x), they take NumPy's arrays, too; and x.view(np.ndarray) of NumPy's arrays takes
// Plait's class.
#include "functions.hpp"
#include "ndarray.hpp"

#include <structmember.h>

#include <algorithm>
#include <vector>

namespace plait::py {
namespace {

// --- methods asked of the class

struct MethodObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *ours, *theirs;
};
MethodObject* as_method(PyObject* o) { return reinterpret_cast<MethodObject*>(o); }

PyObject* call_method(PyObject* self, PyObject* const* args, std::size_t nargsf, PyObject* names) {
  const bool numpys = PyVectorcall_NARGS(nargsf) > 0 && PyArray_Check(args[0]);
  return PyObject_Vectorcall(numpys ? as_method(self)->theirs : as_method(self)->ours, args, nargsf,
                             names);
}
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}
PyObject* attribute(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(as_method(self)->ours, name);
}
PyObject* repr(PyObject* self) { return PyObject_Repr(as_method(self)->theirs); }
void dealloc(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(as_method(self)->ours);
  Py_XDECREF(as_method(self)->theirs);
  PyObject_Free(self);
  Py_DECREF(type);
}
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(MethodObject, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"plait._plait.array_method", sizeof(MethodObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

bool is_method(PyObject* o) {
  return PyFunction_Check(o) || PyObject_TypeCheck(o, &PyMethodDescr_Type) ||
         PyObject_TypeCheck(o, &PyWrapperDescr_Type);
}

// The one object for a method of Plait's class, by the method; borrowed.
PyObject* method_of_both(PyObject* ours, PyObject* theirs) {
  static PyObject* const made = check(PyDict_New());
  static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(check(PyType_FromSpec(&spec)));
  if (PyObject* const known = PyDict_GetItemWithError(made, ours)) return known;
  auto* const m = PyObject_New(MethodObject, type);
  if (!m) throw PythonError{};
  m->call = call_method;
  m->ours = Py_NewRef(ours);
  m->theirs = Py_NewRef(theirs);
  const Owned method(reinterpret_cast<PyObject*>(m));
  check(PyDict_SetItem(made, ours, method.get()));
  return method.get();
}

// --- NumPy's view()

using View = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
View numpys_view = nullptr;

// The class in Plait's place among the arguments is NumPy's to NumPy; what it gives is Plait's,
// over the same memory.
PyObject* view(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
  const auto is_ours = [](PyObject* o) {
    return PyType_Check(o) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), array_type) &&
           !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), &PyArray_Type);
  };
  PyObject* const* const found = std::find_if(args, args + all, is_ours);
  if (found == args + all) return numpys_view(self, args, n, names);
  return guarded([&]() -> PyObject* {
    std::vector<PyObject*> given(args, args + all);
    given[static_cast<std::size_t>(found - args)] = reinterpret_cast<PyObject*>(&PyArray_Type);
    const Owned host(check(numpys_view(self, given.data(), n, names)));
    Owned made(from_numpy(host.get(), Take::Share));
    auto* const type = reinterpret_cast<PyTypeObject*>(*found);
    if (type == array_type) return made.release();
    ArrayObject* const a = as_array(made.get());
    Owned out(a->host ? wrap_host(a->host, type) : wrap(tracer::Array(a->array), made.get(), type));
    finalize(out.get(), self);
    return out.release();
  });
}

}  // namespace

PyObject* class_attribute(PyObject* cls, PyObject* name) {
  static PyObject* const protocols = PyUnicode_InternFromString("__array_");
  PyObject* const found = PyType_Type.tp_getattro(cls, name);
  if (!found || !is_method(found) || found != _PyType_Lookup(array_type, name)) return found;
  // Protocols are compared with those of other classes.
  const Py_ssize_t protocol = PyUnicode_Tailmatch(name, protocols, 0, PY_SSIZE_T_MAX, -1);
  if (protocol) return found;
  PyObject* const theirs = PyDict_GetItemWithError(PyArray_Type.tp_dict, name);
  if (!theirs || !is_method(theirs)) return found;
  const Owned ours(found);
  return guarded([&] { return Py_NewRef(method_of_both(ours.get(), theirs)); });
}

void take_numpys_view() {
  PyObject* const o = PyDict_GetItemString(PyArray_Type.tp_dict, "view");
  if (!o || !PyObject_TypeCheck(o, &PyMethodDescr_Type)) return;
  PyMethodDef* const def = reinterpret_cast<PyMethodDescrObject*>(o)->d_method;
  if (def->ml_flags != (METH_FASTCALL | METH_KEYWORDS)) return;
  numpys_view = reinterpret_cast<View>(reinterpret_cast<void (*)()>(def->ml_meth));
  def->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(view));
}

}  // namespace plait::py
