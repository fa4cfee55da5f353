// Functions whose kept plans run without Python's function: plait.jit(fn, replay=True).
#pragma once
#include "ndarray.hpp"

namespace plait::py {

bool add_replayed(PyObject* module);  // false with a Python error

// While a call is watched: the node has the contents of this array of NumPy's.
void note_numpys(PyArrayObject* array, const tracer::Node* node);

}  // namespace plait::py
