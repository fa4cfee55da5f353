// plait.ufunc: callable objects with NumPy's attributes. Calls on plait arrays go to the recorder,
// the rest to NumPy.
#pragma once
#include "python.hpp"

namespace plait::py {

PyTypeObject* make_ufunc_type();  // null with a Python error
PyTypeObject* ufunc_type();
PyTypeObject* numpys_ufunc_type();
// A plait.ufunc around a numpy.ufunc; native when the operation table has its name.
PyObject* make_ufunc(PyObject* numpy_ufunc, const char* name);
// What the native plait.ufunc of a numpy.ufunc gives for these operands; null when there is none.
PyObject* call_native_ufunc(PyObject* numpy_ufunc, PyObject* const* args, Py_ssize_t n);

}  // namespace plait::py
