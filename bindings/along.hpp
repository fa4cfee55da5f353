// Reductions that come along. On the host a full reduction gives NumPy's scalar at the call, so
// that
// `(x - x.min()) / (x.max() - x.min())` would read x once a reduction. Where others of the same
// array followed a call site in the last two rounds, they are computed in its pass, and their
// values wait for them: of one array at a time, until the array is written to, and each is given
// once.
#pragma once
#include "python.hpp"

namespace plait::py {

enum class FullReduction { Sum, Prod, Min, Max, Mean, Var, Std, Count_ };

// The scalar of a plain call, or nullptr, without an error, where it is to be computed as usual.
PyObject* reduced_along(FullReduction what, PyObject* self);

extern PyMethodDef along_functions[];

}  // namespace plait::py
