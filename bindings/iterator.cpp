// Iteration: iter(x) of plain arrays, which hands out NumPy's scalars or views of rows; and
// elements by their number in C order, for ndarray.flat. Arrays that may be written meanwhile are
// read at each step, as NumPy's are.
#include "iterator.hpp"
#include "element_now.hpp"
#include "holding.hpp"
#include "imported.hpp"
#include "tracer/device.hpp"

#include <structmember.h>

#include <algorithm>

namespace plait::py {
namespace {

// Of both types: the array, null once an iteration has ended, and what comes next.
struct IteratorObject {
  PyObject_HEAD PyObject* array;
  Py_ssize_t at;
};
IteratorObject* as_iterator(PyObject* o) { return reinterpret_cast<IteratorObject*>(o); }

PyTypeObject* rows_type = nullptr;

void dealloc_iterator(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(as_iterator(self)->array);
  type->tp_free(self);
  Py_DECREF(type);
}

// --- iter(x)

PyObject* next_row(PyObject* self) {
  IteratorObject* it = as_iterator(self);
  if (!it->array) return nullptr;
  const ArrayObject* a = as_array(it->array);
  if (a->host || a->array.ndim() == 0 || it->at >= a->array.shape[0]) {
    Py_CLEAR(it->array);
    return nullptr;
  }
  const std::int64_t i = it->at++;
  const bool elements = a->array.ndim() == 1 && !a->standard;
  if (elements)
    if (PyObject* const found = element_now(a->array, std::span(&i, 1))) return found;
  if (elements) return guarded([&] { return read_element(a->array, std::span(&i, 1)); });
  const Owned key(PyLong_FromSsize_t(i));
  return key ? array_getitem(it->array, key.get()) : nullptr;
}

Py_ssize_t rows_left(PyObject* self) {
  const IteratorObject* it = as_iterator(self);
  if (!it->array) return 0;
  const tracer::Array& a = as_array(it->array)->array;
  return a.ndim() == 0 || as_array(it->array)->host ? 0
                                                    : std::max<Py_ssize_t>(a.shape[0] - it->at, 0);
}
PyObject* length_hint(PyObject* self, PyObject*) { return PyLong_FromSsize_t(rows_left(self)); }
PyObject* reduce_rows(PyObject* self, PyObject*) {
  const IteratorObject* it = as_iterator(self);
  PyObject* const iter = PyDict_GetItemString(PyEval_GetBuiltins(), "iter");  // borrowed
  if (!it->array) return Py_BuildValue("O(())", iter);
  return Py_BuildValue("O(O)n", iter, it->array, it->at);
}
PyObject* set_row(PyObject* self, PyObject* at) {
  const Py_ssize_t i = PyNumber_AsSsize_t(at, nullptr);
  if (i == -1 && PyErr_Occurred()) return nullptr;
  as_iterator(self)->at = std::max<Py_ssize_t>(i, 0);
  Py_RETURN_NONE;
}
PyMethodDef row_methods[] = {{"__length_hint__", length_hint, METH_NOARGS, nullptr},
                             {"__reduce__", reduce_rows, METH_NOARGS, nullptr},
                             {"__setstate__", set_row, METH_O, nullptr},
                             {nullptr, nullptr, 0, nullptr}};
PyType_Slot row_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_iterator)},
                           {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                           {Py_tp_iternext, reinterpret_cast<void*>(next_row)},
                           {Py_tp_methods, row_methods},
                           {0, nullptr}};
PyType_Spec row_spec = {"plait._plait.array_iterator", sizeof(IteratorObject), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, row_slots};

// --- ndarray.flat

// Whether elements are read and written here; of all else NumPy's iterator is asked, in Python.
bool is_here(PyObject* array) {
  return !as_array(array)->host && tracer::device_of(as_array(array)->array) == kHost;
}

// Where element number i stands.
void place(const tracer::Array& a, std::int64_t i, std::int64_t* index) {
  for (int d = a.ndim() - 1; d > 0; --d) {
    index[d] = i % a.shape[d];
    i /= a.shape[d];
  }
  if (a.ndim() > 0) index[0] = i;
}

PyObject* next_element(PyObject* self) {
  IteratorObject* it = as_iterator(self);
  if (!is_here(it->array)) return PyObject_CallMethod(self, "_next", nullptr);
  const tracer::Array& a = as_array(it->array)->array;
  if (it->at >= a.size()) return nullptr;
  std::int64_t index[kMaxDims];
  place(a, it->at, index);
  const std::span at(index, static_cast<std::size_t>(a.ndim()));
  if (PyObject* const found = element_now(a, at)) {
    ++it->at;
    return found;
  }
  return guarded([&] {
    if (it->at == 0) force(a);  // one evaluation for all of them
    ++it->at;
    return read_element(a, at);
  });
}

// The number of an element, from 0 on; -1 for keys that are not Python's ints, or are outside.
std::int64_t number(PyObject* array, PyObject* key) {
  int beyond = 0;
  if (!PyLong_CheckExact(key) || !is_here(array)) return -1;
  const std::int64_t n = as_array(array)->array.size();
  const long long i = PyLong_AsLongLongAndOverflow(key, &beyond);
  return beyond || i < -n || i >= n ? -1 : i < 0 ? i + n : i;
}

PyObject* get_elements(PyObject* self, PyObject* key) {
  IteratorObject* it = as_iterator(self);
  it->at = 0;  // NumPy begins anew
  const std::int64_t i = number(it->array, key);
  if (i < 0) return PyObject_CallMethod(self, "_get", "(O)", key);
  const tracer::Array& a = as_array(it->array)->array;
  std::int64_t index[kMaxDims];
  place(a, i, index);
  return guarded(
      [&] { return read_element(a, std::span(index, static_cast<std::size_t>(a.ndim()))); });
}

int set_elements(PyObject* self, PyObject* key, PyObject* value) {
  IteratorObject* it = as_iterator(self);
  it->at = 0;
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Cannot delete iterator elements");
    return -1;
  }
  std::int64_t i = is_number(value) ? number(it->array, key) : -1;
  if (i >= 0 && !as_array(it->array)->array.writeable) i = -1;  // NumPy words the error
  if (i < 0) return Owned(PyObject_CallMethod(self, "_set", "OO", key, value)) ? 0 : -1;
  const tracer::Array& a = as_array(it->array)->array;
  std::int64_t index[kMaxDims];
  place(a, i, index);
  const Owned full(PyTuple_New(a.ndim()));
  if (!full) return -1;
  for (int d = 0; d < a.ndim(); ++d) {
    PyObject* const k = PyLong_FromLongLong(index[d]);
    if (!k) return -1;
    PyTuple_SET_ITEM(full.get(), d, k);
  }
  if (array_setitem(it->array, full.get(), value) == 0) return 0;
  // NumPy has one answer to every number that the dtype does not hold.
  for (PyObject* type : {PyExc_TypeError, PyExc_ValueError, PyExc_OverflowError})
    if (PyErr_ExceptionMatches(type)) {
      PyErr_SetString(PyExc_ValueError, "Error setting single item of array.");
      break;
    }
  return -1;
}

Py_ssize_t count_elements(PyObject* self) {
  const ArrayObject* a = as_array(as_iterator(self)->array);
  return a->host ? PyArray_SIZE(reinterpret_cast<PyArrayObject*>(a->host)) : a->array.size();
}

PyMemberDef element_members[] = {
    {"base", T_OBJECT, offsetof(IteratorObject, array), READONLY, nullptr},
    {"_at", T_PYSSIZET, offsetof(IteratorObject, at), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot element_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc_iterator)},
                               {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                               {Py_tp_iternext, reinterpret_cast<void*>(next_element)},
                               {Py_mp_length, reinterpret_cast<void*>(count_elements)},
                               {Py_mp_subscript, reinterpret_cast<void*>(get_elements)},
                               {Py_mp_ass_subscript, reinterpret_cast<void*>(set_elements)},
                               {Py_tp_members, element_members},
                               {0, nullptr}};
PyType_Spec element_spec = {"plait._plait.elements_in_order", sizeof(IteratorObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, element_slots};

}  // namespace

bool add_iterators(PyObject* module) {
  rows_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&row_spec));
  return rows_type && add_type(module, element_spec);
}

PyObject* rows_of(PyObject* array) {
  if (Py_TYPE(array) != array_type || as_array(array)->host) return PySeqIter_New(array);
  auto* it = PyObject_New(IteratorObject, rows_type);
  if (!it) return nullptr;
  it->array = Py_NewRef(array);
  it->at = 0;
  return reinterpret_cast<PyObject*>(it);
}

PyObject* flat_of(PyObject* array) {
  static constinit Imported flatiter("plait._flat", "flatiter");
  auto* const type = reinterpret_cast<PyTypeObject*>(flatiter.get());
  const ArrayObject* a = as_array(array);
  const int ndim =
      a->host ? PyArray_NDIM(reinterpret_cast<PyArrayObject*>(a->host)) : a->array.ndim();
  if (ndim > 32) {  // NumPy's own limit of this object alone
    raise_error(PyExc_RuntimeError,
                "this function only supports up to 32 dimensions but the array has %d.", ndim);
  }
  auto* it = as_iterator(check(type->tp_alloc(type, 0)));
  it->array = Py_NewRef(array);
  it->at = 0;
  return reinterpret_cast<PyObject*>(it);
}

}  // namespace plait::py
