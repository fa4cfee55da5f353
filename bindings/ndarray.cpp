// The plait.ndarray type object: allocation from a free list, construction, subclasses.
#include "functions.hpp"
#include "iterator.hpp"
#include "tracer/capture.hpp"
#include "tracer/device.hpp"
#include "ufunc.hpp"

#include <structmember.h>

#include <vector>

namespace plait::py {

PyTypeObject* array_type = nullptr;

Py_ssize_t live_objects = 0;

namespace {

// Arrays come and go with every line of a program; blocks of plain (not subclassed) ones are kept.
constexpr int kFreeListSize = 256;
PyObject* free_list[kFreeListSize];
int free_count = 0;

ArrayObject* allocate(PyTypeObject* type) {
  ArrayObject* a;
  if (type == array_type) {
    if (free_count > 0) {
      a = as_array(free_list[--free_count]);
      PyObject_Init(reinterpret_cast<PyObject*>(a), type);
    } else {
      a = PyObject_New(ArrayObject, type);
      if (!a) throw PythonError{};
    }
    new (&a->array) tracer::Array;
  } else {
    a = as_array(check(type->tp_alloc(type, 0)));
    new (&a->array) tracer::Array;
  }
  a->host = a->base = a->weakrefs = nullptr;
  a->standard = false;
  ++live_objects;
  return a;
}

void dealloc(PyObject* self) {
  ArrayObject* a = as_array(self);
  PyTypeObject* type = Py_TYPE(self);
  --live_objects;
  if (a->weakrefs) PyObject_ClearWeakRefs(self);
  a->array.~Array();
  Py_XDECREF(a->host);
  Py_XDECREF(a->base);
  if (type == array_type && free_count < kFreeListSize)
    free_list[free_count++] = self;
  else if (type == array_type)
    PyObject_Free(self);
  else
    type->tp_free(self);
  Py_DECREF(type);
  if (events_pending.load(std::memory_order_relaxed)) {
    PyObject *t, *v, *tb;
    PyErr_Fetch(&t, &v, &tb);
    if (!handle_events()) PyErr_WriteUnraisable(nullptr);
    PyErr_Restore(t, v, tb);
  }
}

}  // namespace

void finalize(PyObject* made, PyObject* from) {
  const auto of_class = [](PyTypeObject* type) {
    return Owned(
        check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__array_finalize__")));
  };
  if (of_class(Py_TYPE(made)).get() == of_class(array_type).get()) return;  // which does nothing
  Owned hook(PyObject_GetAttrString(made, "__array_finalize__"));
  if (!hook) throw PythonError{};
  if (hook.get() != Py_None) Owned(check(PyObject_CallOneArg(hook.get(), from)));
}

namespace {

PyObject* repr(PyObject* self) {
  return guarded([&] { return call_hook(hooks.repr, self, Py_False); });
}
PyObject* str(PyObject* self) {
  return guarded([&] { return call_hook(hooks.repr, self, Py_True); });
}

Py_ssize_t length(PyObject* self) {
  ArrayObject* a = as_array(self);
  if (a->host) return PyObject_Size(a->host);
  if (a->array.ndim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of unsized object");
    return -1;
  }
  return a->array.shape[0];
}

PyObject* iterate(PyObject* self) {
  ArrayObject* a = as_array(self);
  int ndim = a->host ? PyArray_NDIM(reinterpret_cast<PyArrayObject*>(a->host)) : a->array.ndim();
  if (ndim == 0) {
    PyErr_SetString(PyExc_TypeError, "iteration over a 0-d array");
    return nullptr;
  }
  // One evaluation for all the elements. Rows are views, which a call that is watched records.
  if (!a->host && a->array.size() > 0 && (ndim == 1 || !tracer::capture())) {
    PyObject* done = guarded([&] {
      force(a->array);
      return Py_NewRef(Py_None);
    });
    if (!done) return nullptr;
    Py_DECREF(done);
  }
  return rows_of(self);
}

// x in array: (array == x).any()
// What Python asks when no operand knows how to add.
PyObject* concat(PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Concatenation operation is not implemented for NumPy arrays, use "
                  "np.concatenate() instead. Please do not rely on this error; it may not be given "
                  "on all Python implementations.");
  return nullptr;
}
int contains(PyObject* self, PyObject* value) {
  Owned equal(PyObject_RichCompare(self, value, Py_EQ));
  if (!equal) return -1;
  if (!is_array(equal.get())) return PyObject_IsTrue(equal.get());
  Owned any(PyObject_CallMethod(equal.get(), "any", nullptr));
  return any ? PyObject_IsTrue(any.get()) : -1;
}

// NumPy's class that a class of Plait's stands for, or null.
PyTypeObject* numpys_class(PyObject* cls) {
  if (cls == reinterpret_cast<PyObject*>(array_type)) return &PyArray_Type;
  return cls == reinterpret_cast<PyObject*>(ufunc_type()) ? numpys_ufunc_type() : nullptr;
}

// The metaclass: NumPy's arrays count as instances of plait.ndarray, as code that checks its
// arguments expects, and so does what says by its __class__ that it is one. The same of ufuncs.
PyObject* instance_check(PyObject* cls, PyObject* object) {
  PyTypeObject* const theirs = numpys_class(cls);
  if (theirs && PyObject_TypeCheck(object, theirs)) Py_RETURN_TRUE;
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  if (PyObject_TypeCheck(object, type)) Py_RETURN_TRUE;
  static PyObject* const name = PyUnicode_InternFromString("__class__");
  const Owned said(PyObject_GetAttr(object, name));
  if (!said) PyErr_Clear();
  return PyBool_FromLong(said && PyType_Check(said.get()) &&
                         PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(said.get()), type));
}
PyObject* subclass_check(PyObject* cls, PyObject* other) {
  if (!PyType_Check(other)) {
    PyErr_SetString(PyExc_TypeError, "issubclass() arg 1 must be a class");
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(other);
  PyTypeObject* const theirs = numpys_class(cls);
  bool yes = PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(cls)) ||
             (theirs && PyType_IsSubtype(type, theirs));
  return PyBool_FromLong(yes);
}
PyMethodDef meta_methods[] = {{"__instancecheck__", instance_check, METH_O, nullptr},
                              {"__subclasscheck__", subclass_check, METH_O, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot meta_slots[] = {{Py_tp_methods, meta_methods},
                            {Py_tp_getattro, reinterpret_cast<void*>(class_attribute)},
                            {Py_tp_base, &PyType_Type},
                            {0, nullptr}};
PyTypeObject* metaclass = nullptr;
PyType_Spec meta_spec = {"plait._plait.ArrayMeta", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                         meta_slots};

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weakrefs), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

bool overrides(PyTypeObject* type, PyObject* name) {
  return _PyType_Lookup(type, name) != _PyType_Lookup(array_type, name);
}

}  // namespace

bool class_overrides_ufuncs(PyTypeObject* type) {
  static PyObject* const ufunc = PyUnicode_InternFromString("__array_ufunc__");
  static PyObject* const wrap = PyUnicode_InternFromString("__array_wrap__");
  return overrides(type, ufunc) || overrides(type, wrap);
}
bool class_overrides_functions(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString("__array_function__");
  return overrides(type, name);
}

PyObject* wrap(tracer::Array&& array, PyObject* base, PyTypeObject* type) {
  ArrayObject* a = allocate(type ? type : array_type);
  a->array = std::move(array);
  if (base) set_base(reinterpret_cast<PyObject*>(a), base);
  return reinterpret_cast<PyObject*>(a);
}

void set_base(PyObject* array, PyObject* base) {
  // Views name the array of their class that owns the memory, as NumPy's do, or is made over
  // somebody else's.
  if (is_standard(base)) as_array(array)->standard = true;
  PyObject* further = is_array(base) ? as_array(base)->base : nullptr;
  if (further && is_array(further) && Py_TYPE(further) == Py_TYPE(array)) base = further;
  Py_XSETREF(as_array(array)->base, Py_NewRef(base));
}

PyObject* wrap_host(PyObject* numpy_array, PyTypeObject* type) {
  ArrayObject* a = allocate(type ? type : array_type);
  a->host = Py_NewRef(numpy_array);
  return reinterpret_cast<PyObject*>(a);
}

PyObject* as_standard(PyObject* made, PyObject* model) {
  Owned held(made);
  if (PyArray_IsScalar(made, Generic)) {
    held = Owned(check(PyArray_FromScalar(made, nullptr)));
    held = Owned(from_numpy(held.get(), Take::Adopt));
    if (model && is_array(model) && !as_array(model)->host && !as_array(held.get())->host)
      held = Owned(wrap(tracer::to_device(as_array(held.get())->array,
                                          tracer::device_of(as_array(model)->array))));
  } else if (is_lazy(made)) {
    held = Owned(wrap(as_lazy(made)->array));
  }
  if (Py_TYPE(held.get()) == array_type) as_array(held.get())->standard = true;
  return held.release();
}

PyObject* wrap_like(tracer::Array&& a, PyObject* const* operands, Py_ssize_t n) {
  PyObject* model = nullptr;
  double highest = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (Py_TYPE(operands[i]) == array_type || !is_array(operands[i])) continue;
    const double priority = PyArray_GetPriority(operands[i], NPY_PRIORITY);
    if (priority < NPY_PRIORITY || (model && priority <= highest)) continue;
    model = operands[i];
    highest = priority;
  }
  if (!model && any_standard(operands, n)) return as_standard(wrap(std::move(a)), nullptr);
  if (!model) return wrap_result(std::move(a));
  Owned out(wrap(std::move(a), nullptr, Py_TYPE(model)));
  finalize(out.get(), model);
  return out.release();
}

PyObject* array_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    // NumPy's constructor knows shape, buffer, offset, strides and order; its array is adopted, or
    // shared over a buffer.
    Owned made(check(PyObject_Call(reinterpret_cast<PyObject*>(&PyArray_Type), args, kwargs)));
    auto* numpy = reinterpret_cast<PyArrayObject*>(made.get());
    auto native = native_from_numpy(numpy, PyArray_BASE(numpy) ? Take::Share : Take::Adopt);
    if (native && !PyArray_BASE(numpy)) native = tracer::placed(*native);
    Owned out(native ? wrap(std::move(*native), nullptr, type) : wrap_host(made.get(), type));
    if (PyArray_BASE(numpy)) set_base(out.get(), PyArray_BASE(numpy));
    if (type != array_type) finalize(out.get(), Py_None);
    return out.release();
  });
}

PyTypeObject* make_array_type() {
  metaclass = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&meta_spec));
  if (!metaclass) return nullptr;
  document(array_getset);
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_new, reinterpret_cast<void*>(array_new)},
      {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
      {Py_tp_str, reinterpret_cast<void*>(str)},
      {Py_tp_iter, reinterpret_cast<void*>(iterate)},
      {Py_tp_getset, array_getset},
      {Py_tp_methods, with_short_methods(array_methods)},
      {Py_tp_members, members},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_mp_subscript, reinterpret_cast<void*>(array_getitem)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(array_setitem)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_sq_item, reinterpret_cast<void*>(array_sequence_item)},
      {Py_sq_concat, reinterpret_cast<void*>(concat)},
      {Py_sq_contains, reinterpret_cast<void*>(contains)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(array_getbuffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(array_releasebuffer)},
  };
  for (PyType_Slot* s = number_slots; s->slot; ++s) slots.push_back(*s);
  slots.push_back({0, nullptr});
  // Patterns of sequences match what they match in NumPy.
  const unsigned long sequence = PyArray_Type.tp_flags & Py_TPFLAGS_SEQUENCE;
  PyType_Spec spec = {"plait.ndarray", sizeof(ArrayObject), 0,
                      static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | sequence),
                      slots.data()};
  auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) return nullptr;
  add_quiet_setters(type);
  add_metaclass(type);
  return array_type = type;
}

void add_metaclass(PyTypeObject* type) {
  // PyType_FromMetaclass is new in 3.12; the metaclass adds no state, so it may be put in place
  // afterwards.
  Py_SET_TYPE(type, metaclass);
  PyType_Modified(type);
}

}  // namespace plait::py
