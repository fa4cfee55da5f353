// Iterators over arrays.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

bool add_iterators(PyObject* module);  // false with a Python error
PyObject* rows_of(PyObject* array);    // what iter() gives
PyObject* flat_of(PyObject* array);    // what ndarray.flat is, plait/_flat.py's class; throws

}  // namespace plait::py
