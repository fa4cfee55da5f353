// The few methods that are protocols; short_methods.cpp has the plain calls of others, and the rest
// of ndarray's methods are Python, in plait/_methods.py.
#include "ndarray.hpp"

namespace plait::py {
namespace {

// __array__(dtype=None, *, copy=None): the live export, unless a copy is asked for or needed.
PyObject* to_array(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O", const_cast<char**>(names), &dtype, &copy))
    return nullptr;
  return guarded([&]() -> PyObject* {
    Owned numpy(to_numpy(as_array(self)));
    if (dtype == Py_None && copy != Py_True) return numpy.release();
    Owned options(check(PyDict_New()));
    check(PyDict_SetItemString(options.get(), "copy", copy));
    if (dtype != Py_None) check(PyDict_SetItemString(options.get(), "dtype", dtype));
    Owned one(check(PyTuple_Pack(1, numpy.get())));
    return check(PyObject_Call(numpy_attr("array"), one.get(), options.get()));
  });
}

PyObject* class_getitem(PyObject* cls, PyObject* args) {
  const Py_ssize_t n = PyTuple_Check(args) ? PyTuple_GET_SIZE(args) : 1;
  if (n == 1 || n == 2) return Py_GenericAlias(cls, args);
  return PyErr_Format(PyExc_TypeError, "Too %s arguments for %s", n == 0 ? "few" : "many",
                      reinterpret_cast<PyTypeObject*>(cls)->tp_name);
}

PyObject* to_complex(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned numpy(to_numpy(as_array(self)));
    return check(PyObject_CallMethod(numpy.get(), "__complex__", nullptr));
  });
}

}  // namespace

PyMethodDef array_methods[] = {
    {"__array__", reinterpret_cast<PyCFunction>(to_array), METH_VARARGS | METH_KEYWORDS,
     "__array__($self, dtype=None, /, *, copy=None)\n--\n\n"
     "The array as a numpy.ndarray: over the same memory, unless dtype or copy ask for a copy."},
    {"__class_getitem__", class_getitem, METH_O | METH_CLASS,
     "__class_getitem__($cls, item, /)\n--\n\nA generic alias, for annotations."},
    {"__complex__", to_complex, METH_NOARGS,
     "__complex__($self, /)\n--\n\nThe only element as Python's complex."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace plait::py
