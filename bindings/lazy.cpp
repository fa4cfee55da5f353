// Lazy scalars: what a full reduction returns while its value is pending, where nobody but Plait's
// own code looks at it: inside plait.jit and on devices. Elsewhere it is NumPy's scalar at once.
// Arithmetic records on; anything that needs the value (float(), bool(), hash, comparison in an if,
// formatting, an attribute) computes it and asks NumPy's scalar.
#include <mutex>
#include <utility>
#include <vector>

#include "crossing.hpp"
#include "functions.hpp"
#include "operators.hpp"
#include "tracer/context.hpp"
#include "tracer/device.hpp"

namespace plait::py {

PyTypeObject* lazy_type = nullptr;
Py_ssize_t live_scalars = 0;

namespace {

thread_local bool kept_lazy = false;  // where nobody but Plait's own code looks at scalars
thread_local bool jitting = false;    // inside plait.jit

// Scalars that are yet to be computed, the last one first. The GIL guards the list.
LazyObject* unasked = nullptr;

void list(LazyObject* s) {
  s->prev = nullptr;
  s->next = unasked;
  if (unasked) unasked->prev = s;
  unasked = s;
}
void unlist(LazyObject* s) {
  if (s->next) s->next->prev = s->prev;
  if (s->prev)
    s->prev->next = s->next;
  else if (unasked == s)
    unasked = s->next;
  s->prev = s->next = nullptr;
}

// The array in memory that a scalar is a statistic of, a few operations away; null: none.
const tracer::Node* folded(const tracer::Array& a) {
  const tracer::Node* n = a.storage->version.get();
  for (int steps = 0; steps < 8 && !n->materialised() && n->n_inputs > 0; ++steps)
    n = n->inputs[0].get();
  return n->materialised() && a.storage->version.get() != n ? n : nullptr;
}

// The scalar, with the other statistics of the array that are pending: they share a pass over it.
std::vector<tracer::Array> together(const LazyObject* s) {
  std::vector<tracer::Array> all{s->array};
  const std::lock_guard held(tracer::lock());
  const tracer::Node* const of = folded(s->array);
  if (!of) return all;
  for (LazyObject* o = unasked; o;) {
    LazyObject* const next = o->next;
    if (tracer::is_materialised(o->array))
      unlist(o);
    else if (o != s && folded(o->array) == of)
      all.push_back(o->array);
    o = next;
  }
  return all;
}

void dealloc(PyObject* self) {
  LazyObject* s = as_lazy(self);
  PyTypeObject* type = Py_TYPE(self);
  --live_objects;
  --live_scalars;
  unlist(s);
  s->array.~Array();
  Py_XDECREF(s->value);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Applies one of NumPy's scalar operations to the value.
template <class F>
PyObject* with_value(PyObject* self, F&& f) {
  return guarded([&] { return check(f(lazy_value(as_lazy(self)))); });
}

PyObject* repr(PyObject* s) { return with_value(s, PyObject_Repr); }
PyObject* str(PyObject* s) { return with_value(s, PyObject_Str); }
PyObject* to_int(PyObject* s) { return with_value(s, PyNumber_Long); }
PyObject* to_float(PyObject* s) { return with_value(s, PyNumber_Float); }
PyObject* to_index(PyObject* s) { return with_value(s, PyNumber_Index); }
int to_bool(PyObject* s) {
  return guarded_int([&] { return PyObject_IsTrue(lazy_value(as_lazy(s))); });
}
Py_hash_t hash(PyObject* s) {
  Py_hash_t h = -1;
  Owned done(guarded([&]() -> PyObject* {
    h = PyObject_Hash(lazy_value(as_lazy(s)));
    if (h == -1) throw PythonError{};
    return Py_NewRef(Py_None);
  }));
  return done ? h : -1;
}
PyObject* subscript(PyObject* s, PyObject* key) {
  return with_value(s, [key](PyObject* v) { return PyObject_GetItem(v, key); });
}

// Attributes and methods are those of NumPy's scalar.
PyObject* getattro(PyObject* self, PyObject* name) {
  PyObject* own = PyObject_GenericGetAttr(self, name);
  if (own || !PyErr_ExceptionMatches(PyExc_AttributeError)) return own;
  PyErr_Clear();
  return with_value(self, [name](PyObject* v) { return PyObject_GetAttr(v, name); });
}

PyObject* get_class(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(descr_of(as_lazy(self)->array.dtype)->typeobj));
}
PyObject* get_dtype(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(descr_of(as_lazy(self)->array.dtype)));
}
PyObject* get_shape(PyObject*, void*) { return PyTuple_New(0); }
PyObject* get_ndim(PyObject*, void*) { return PyLong_FromLong(0); }
PyObject* get_pending(PyObject* self, void*) { return PyBool_FromLong(!as_lazy(self)->value); }
PyGetSetDef getset[] = {{"__class__", get_class, nullptr, "NumPy's scalar type", nullptr},
                        {"dtype", get_dtype, nullptr, nullptr, nullptr},
                        {"shape", get_shape, nullptr, nullptr, nullptr},
                        {"ndim", get_ndim, nullptr, nullptr, nullptr},
                        {"_pending", get_pending, nullptr, nullptr, nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* reduce(PyObject* self, PyObject*) {
  return with_value(self,
                    [](PyObject* v) { return PyObject_CallMethod(v, "__reduce__", nullptr); });
}
PyObject* reduce_ex(PyObject* self, PyObject* protocol) {
  return with_value(self, [protocol](PyObject* v) {
    return PyObject_CallMethod(v, "__reduce_ex__", "O", protocol);
  });
}
PyObject* format(PyObject* self, PyObject* spec) {
  return with_value(self, [spec](PyObject* v) { return PyObject_Format(v, spec); });
}
PyObject* to_complex(PyObject* self, PyObject*) {
  return with_value(self, [](PyObject* v) {
    return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), v);
  });
}
PyObject* copy(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* to_array(PyObject* self, PyObject* args, PyObject* kwargs) {
  return with_value(self, [&](PyObject* v) -> PyObject* {
    Owned method(PyObject_GetAttrString(v, "__array__"));
    if (!method) return nullptr;
    Owned clean(kwargs ? PyDict_Copy(kwargs) : PyDict_New());
    if (kwargs && PyDict_GetItemString(clean.get(), "copy"))
      PyDict_DelItemString(clean.get(), "copy");
    return PyObject_Call(method.get(), args, clean.get());
  });
}
PyObject* rounded(PyObject* self, PyObject* args) {
  return with_value(self, [&](PyObject* v) -> PyObject* {
    Owned method(PyObject_GetAttrString(v, "__round__"));
    return method ? PyObject_CallObject(method.get(), args) : nullptr;
  });
}
PyObject* forward(PyObject* self, const char* hook, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    // The array's implementations take any operand, but are methods of arrays.
    const Owned array(wrap(tracer::Array(as_lazy(self)->array)));
    Owned method(check(PyObject_GetAttrString(reinterpret_cast<PyObject*>(array_type), hook)));
    Owned full(check(PyTuple_New(PyTuple_GET_SIZE(args) + 1)));
    PyTuple_SET_ITEM(full.get(), 0, Py_NewRef(array.get()));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i)
      PyTuple_SET_ITEM(full.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
    return check(PyObject_Call(method.get(), full.get(), kwargs));
  });
}
PyObject* array_ufunc(PyObject* self, PyObject* args, PyObject* kwargs) {
  return forward(self, "__array_ufunc__", args, kwargs);
}
PyObject* array_function(PyObject* self, PyObject* args, PyObject* kwargs) {
  return forward(self, "__array_function__", args, kwargs);
}
PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__reduce_ex__", reduce_ex, METH_O, nullptr},
    {"__format__", format, METH_O, nullptr},
    {"__complex__", to_complex, METH_NOARGS, nullptr},
    {"__copy__", copy, METH_NOARGS, nullptr},
    {"__deepcopy__", copy, METH_O, nullptr},
    {"__round__", rounded, METH_VARARGS, nullptr},
    {"__array__", reinterpret_cast<PyCFunction>(to_array), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__array_ufunc__", reinterpret_cast<PyCFunction>(array_ufunc), METH_VARARGS | METH_KEYWORDS,
     nullptr},
    {"__array_function__", reinterpret_cast<PyCFunction>(array_function),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool scalars_stay_pending() { return kept_lazy; }
bool in_jit() { return jitting; }
bool set_scalars_stay_pending(bool yes) { return std::exchange(kept_lazy, yes); }
bool set_in_jit(bool yes) { return std::exchange(jitting, yes); }

PyObject* lazy_value(LazyObject* s) {
  if (!s->value) {
    if (!tracer::is_materialised(s->array)) {
      const std::vector<tracer::Array> all = together(s);
      if (all.size() > 1) without_gil([&] { tracer::evaluate(all); });
    }
    PyObject* v = wrap_scalar(item(s->array));
    unlist(s);
    if (s->value)  // another thread was faster while the GIL was away
      Py_DECREF(v);
    else
      s->value = v;
  }
  return s->value;
}

PyObject* wrap_result(tracer::Array&& a) {
  if (a.ndim() > 0) return wrap(std::move(a));
  if (tracer::is_materialised(a) || !(kept_lazy || tracer::device_of(a) != kHost))
    return wrap_scalar(item(a));
  auto* s = PyObject_New(LazyObject, lazy_type);
  if (!s) throw PythonError{};
  new (&s->array) tracer::Array(std::move(a));
  s->value = nullptr;
  list(s);
  ++live_objects;
  ++live_scalars;
  return reinterpret_cast<PyObject*>(s);
}

PyTypeObject* make_lazy_type() {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                    {Py_tp_repr, reinterpret_cast<void*>(repr)},
                                    {Py_tp_str, reinterpret_cast<void*>(str)},
                                    {Py_tp_hash, reinterpret_cast<void*>(hash)},
                                    {Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                                    {Py_tp_getset, getset},
                                    {Py_tp_methods, methods},
                                    {Py_nb_bool, reinterpret_cast<void*>(to_bool)},
                                    {Py_nb_int, reinterpret_cast<void*>(to_int)},
                                    {Py_nb_float, reinterpret_cast<void*>(to_float)},
                                    {Py_nb_index, reinterpret_cast<void*>(to_index)},
                                    {Py_mp_subscript, reinterpret_cast<void*>(subscript)}};
  for (PyType_Slot* s = lazy_number_slots; s->slot; ++s) slots.push_back(*s);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"plait.lazy_scalar", sizeof(LazyObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return lazy_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

namespace {
PyObject* keep_lazy_scalars(PyObject*, PyObject* yes) {
  return PyBool_FromLong(set_scalars_stay_pending(yes == Py_True));
}
PyObject* enter_jit(PyObject*, PyObject* yes) {
  return PyBool_FromLong(set_in_jit(yes == Py_True));
}
PyObject* get_in_jit(PyObject*, PyObject*) { return PyBool_FromLong(jitting); }
}  // namespace

PyMethodDef lazy_functions[] = {
    {"keep_lazy_scalars", keep_lazy_scalars, METH_O,
     "whether full reductions of this thread stay pending; returns what was so before"},
    {"set_in_jit", enter_jit, METH_O,
     "whether this thread runs a jitted function; returns what was so before"},
    {"in_jit", get_in_jit, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
