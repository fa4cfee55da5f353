// Methods that reduce an array to a number, by numpy_compat/reduced_along.hpp.
#pragma once
#include "numpy_compat/reduced_along.hpp"
#include "python.hpp"

namespace plait::py {

using numpy::FullReduction;

// The scalar of a plain call, or nullptr, without an error, where it is to be computed as usual.
PyObject* reduced_along(FullReduction what, PyObject* self);

extern PyMethodDef along_functions[];

}  // namespace plait::py
