// The recorder's functions as plain C-API functions: the Python half of the package wraps them with
// NumPy's signatures. Each returns NotImplemented when its arguments are not the engine's, and the
// caller falls back to NumPy.
#pragma once
#include "ndarray.hpp"

namespace plait::py {

extern PyMethodDef native_functions[];
extern PyMethodDef compat_functions[];  // compat.cpp: those of numpy_compat

// Small reductions of computed arrays are computed at once: their result is NumPy's own scalar.
inline constexpr std::int64_t kEagerReduction = 4096;

// Argument parsing shared with the methods.
std::optional<Dims> parse_axes(PyObject* o);  // None: nullopt
std::optional<Dims> parse_shape(PyObject* o);
// A view or copy made from `from`: views name it as their base and keep its subclass.
PyObject* wrap_view(tracer::Array a, PyObject* from);

}  // namespace plait::py
