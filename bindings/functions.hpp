// The recorder's functions as plain C-API functions: the Python half of the package wraps them with NumPy's signatures.
// Each returns NotImplemented when its arguments are not the engine's, and the caller falls back to NumPy.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

extern PyMethodDef native_functions[];

// Argument parsing shared with the methods.
std::optional<Dims> parse_axes(PyObject* o);  // None: nullopt
std::optional<Dims> parse_shape(PyObject* o);
// A view or copy made from `from`: views name it as their base and keep its subclass.
PyObject* wrap_view(tracer::Array a, PyObject* from);

}  // namespace plait::py
