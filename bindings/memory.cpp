// Arrays and memory: NumPy's arrays taken in, lent and given out, evaluation, views as subclasses.
#include <cstring>
#include <utility>
#include <vector>

#include "crossing.hpp"
#include "events.hpp"
#include "functions.hpp"
#include "relaid.hpp"
#include "tracer/deferred.hpp"

namespace plait::py {

PyObject* borrowed_from(PyObject* o) {
  auto* a = reinterpret_cast<PyArrayObject*>(o);
  auto t = native_dtype(PyArray_DESCR(a));
  bool whole = t && PyArray_ISALIGNED(a);
  for (int i = 0; whole && i < PyArray_NDIM(a); ++i)
    whole =
        PyArray_DIM(a, i) < 2 || PyArray_STRIDE(a, i) % static_cast<npy_intp>(itemsize(*t)) == 0;
  if (!whole) return wrap_host(o);
  Dims shape(PyArray_NDIM(a)), strides(PyArray_NDIM(a));
  for (int i = 0; i < shape.size(); ++i) {
    shape[i] = PyArray_DIM(a, i);
    strides[i] = PyArray_STRIDE(a, i);
  }
  const Ref<tracer::Lender> lender(new tracer::Lender(release_later, Py_NewRef(o)));
  tracer::Array lent =
      tracer::borrow(PyArray_DATA(a), *t, shape, strides, PyArray_ISWRITEABLE(a), lender);
  if (*t == DType::Bool && may_hold_any_bytes(a)) tracer::take_any_bytes(lent);
  return wrap(std::move(lent));
}

namespace {

PyObject* adopt_array(PyObject* o) {  // nobody else uses the numpy array
  return from_numpy(o, Take::Adopt);
}
PyObject* share_array(PyObject* o) {  // both sides see writes
  return from_numpy(o, Take::Share);
}
PyObject* copy_array(PyObject* o) { return from_numpy(o, Take::Copy); }
PyObject* borrow_array(PyObject* o) {  // until end_borrow()
  return borrowed_from(o);
}
PyObject* ended(Args args, Py_ssize_t n, tracer::Leftover leftover) {
  return guarded([&]() -> PyObject* {
    std::vector<tracer::Array> arrays;
    for (Py_ssize_t i = 0; i < n; ++i)
      if (is_array(args[i]) && !as_array(args[i])->host) arrays.push_back(as_array(args[i])->array);
    without_gil([&] { tracer::end_borrow(std::exchange(arrays, {}), leftover); });
    return Py_NewRef(Py_None);
  });
}
PyObject* end_borrow(PyObject*, Args args, Py_ssize_t n) {  // of arrays that borrow() returned
  return ended(args, n, tracer::Leftover::Evaluated);
}
PyObject* abandon_borrow(PyObject*, Args args, Py_ssize_t n) {  // the same, after an exception
  return ended(args, n, tracer::Leftover::Pending);
}
PyObject* export_array(
    PyObject* o) {  // a live numpy array; scalars and numpy arrays are as they are
  if (is_array(o)) return to_numpy(as_array(o));
  if (is_lazy(o)) return Py_NewRef(lazy_value(as_lazy(o)));
  return Py_NewRef(o);
}
PyObject* host_of(
    PyObject*, PyObject* o) {  // the host array of a dtype that the engine does not cover, or None
  return Py_NewRef(is_array(o) && as_array(o)->host ? as_array(o)->host : Py_None);
}
PyObject* is_lent(PyObject*, PyObject* o) {  // whether a NumPy array is over Plait's memory
  return PyBool_FromLong(PyArray_CheckExact(o) && exported(reinterpret_cast<PyArrayObject*>(o)));
}
PyObject* evaluate_all(Args args, Py_ssize_t n) {
  std::vector<tracer::Array> arrays;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (is_array(args[i]) && !as_array(args[i])->host) arrays.push_back(as_array(args[i])->array);
    if (is_lazy(args[i])) arrays.push_back(as_lazy(args[i])->array);
  }
  without_gil([&] { tracer::evaluate(arrays); });
  return Py_NewRef(Py_None);
}
PyObject* may_share(Exactly<2>& args) {
  if (!is_array(args[0]) || !is_array(args[1]) || as_array(args[0])->host ||
      as_array(args[1])->host)
    return not_implemented();
  return PyBool_FromLong(
      tracer::may_share_memory(as_array(args[0])->array, as_array(args[1])->array));
}
// (a, type, from): the same memory in a subclass; __array_finalize__ is told of `from`
PyObject* view_as(Exactly<3>& args) {
  auto* type = reinterpret_cast<PyTypeObject*>(args[1]);
  if (!is_array(args[0]) || !PyType_IsSubtype(type, array_type))
    raise_error(PyExc_TypeError, "view_as takes a Plait array and a subclass of its type");
  ArrayObject* a = as_array(args[0]);
  Owned out(a->host ? wrap_host(a->host, type) : wrap(a->array, args[0], type));
  if (type != array_type) finalize(out.get(), args[2]);
  return out.release();
}
// The first array becomes the second one, as ndarray.resize asks.
PyObject* replace(Exactly<2>& args) {
  ArrayObject *a = as_array(args[0]), *b = as_array(args[1]);
  // Whoever ends the borrowing knows it by the array.
  if (a->array && a->array.storage->borrowed)
    throw plait::ValueError("cannot resize this array: it does not own its data");
  a->array = b->array;
  PyObject* old = std::exchange(a->host, Py_XNewRef(b->host));
  Py_XDECREF(old);
  return Py_NewRef(Py_None);
}
// (made, given) -> made, of the standard, as as_standard() has it; an array that is among those
// given is somebody's already, who gets NumPy's scalars from it: a view stands for it.
PyObject* standard(PyObject*, Args args, Py_ssize_t n) {
  if (!exact_count(n, 2) || !PyTuple_Check(args[1])) return nullptr;
  return guarded([&] {
    PyObject* const* const given = &PyTuple_GET_ITEM(args[1], 0);
    PyObject* const* const end = given + PyTuple_GET_SIZE(args[1]);
    const bool theirs = Py_TYPE(args[0]) == array_type && !is_standard(args[0]) &&
                        !as_array(args[0])->host && std::find(given, end, args[0]) != end;
    if (theirs) return as_standard(wrap(as_array(args[0])->array, args[0]), nullptr);
    PyObject* const* const model = std::find_if(given, end, is_array);
    return as_standard(Py_NewRef(args[0]), model == end ? nullptr : *model);
  });
}
PyObject* set_base_of(Exactly<2>& args) {  // (a, base) -> a
  set_base(args[0], args[1]);
  return Py_NewRef(args[0]);
}
PyObject* set_writeable(Exactly<2>& args) {  // (a, flag)
  note_relaid(as_array(args[0]));
  as_array(args[0])->array.writeable = args[1] == Py_True;
  Py_RETURN_NONE;
}

PyObject* reads_wait(PyObject* yes) {
  bool before = false;
  without_gil([&] { before = tracer::let_reads_wait(yes == Py_True); });
  return PyBool_FromLong(before);
}
PyObject* live(PyObject*, PyObject*) { return PyLong_FromSsize_t(live_objects); }
PyObject* relaid(PyObject*, PyObject*) { return PyLong_FromSsize_t(times_relaid); }
PyObject* live_lazy(PyObject*, PyObject*) { return PyLong_FromSsize_t(live_scalars); }
// references(dict) -> bytes: of each value, one signed size
PyObject* references(PyObject*, PyObject* dict) {
  if (!PyDict_Check(dict)) return PyErr_Format(PyExc_TypeError, "references() takes a dict");
  PyObject* const counts = PyBytes_FromStringAndSize(
      nullptr, PyDict_GET_SIZE(dict) * static_cast<Py_ssize_t>(sizeof(Py_ssize_t)));
  if (!counts) return nullptr;
  char* to = PyBytes_AS_STRING(counts);
  Py_ssize_t at = 0;
  PyObject *key, *value;
  for (; PyDict_Next(dict, &at, &key, &value); to += sizeof(Py_ssize_t)) {
    const Py_ssize_t n = Py_REFCNT(value);
    std::memcpy(to, &n, sizeof n);
  }
  return counts;
}

}  // namespace

PyMethodDef memory_functions[] = {
    {"live_objects", live, METH_NOARGS, nullptr},
    {"live_scalars", live_lazy, METH_NOARGS, nullptr},
    row<reads_wait>("let_reads_wait"),
    {"references", references, METH_O, nullptr},
    {"times_relaid", relaid, METH_NOARGS, nullptr},
    row<adopt_array>("adopt"),
    row<share_array>("share"),
    row<copy_array>("copy_in"),
    row<borrow_array>("borrow"),
    {"end_borrow", c(end_borrow), METH_FASTCALL, nullptr},
    {"abandon_borrow", c(abandon_borrow), METH_FASTCALL, nullptr},
    row<export_array>("export"),
    {"is_lent", is_lent, METH_O, nullptr},
    {"host_of", host_of, METH_O, nullptr},
    row<evaluate_all>("evaluate"),
    row<may_share>("may_share_memory"),
    row<view_as>("view_as"),
    row<replace>("replace"),
    {"standard", c(standard), METH_FASTCALL,
     "(made, arguments): what was made of them, as an array of plait.array_api"},
    row<set_base_of>("set_base"),
    row<set_writeable>("set_writeable"),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
