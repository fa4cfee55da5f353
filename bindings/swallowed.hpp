// What a signal's handler raises while NumPy asks for a buffer: NumPy drops it, and asks for
// __array_struct__ next, which raises it again. By the thread that has the GIL.
#pragma once
#include "python.hpp"

namespace plait::py {

void keep_error(PyObject* self);  // Python's, that is set
void forget_error();
void raise_kept_error(PyObject* self);  // throws PythonError, if one was kept for this object

template <class F>
void keeping_error(PyObject* self, F&& f) {
  try {
    f();
  } catch (const PythonError&) {
    keep_error(self);
    throw;
  }
}

}  // namespace plait::py
