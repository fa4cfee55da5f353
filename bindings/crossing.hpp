// Calls of jitted functions whose arguments are NumPy's arrays and what crosses as it is: arrays go
// in borrowed, and results come out as NumPy's. What is seldom is done by
// numpy_compat/plait/_boundary.py, as are all other calls.
#pragma once

#include <cstdint>

#include "python.hpp"

namespace plait::py {

bool add_crossing(PyObject* module);
bool add_call_account(PyObject* module);  // call_account.cpp

// Of this thread, each returning what was so before: whether full reductions stay pending
// (lazy.cpp), and whether a jitted function runs.
bool set_scalars_stay_pending(bool yes);
bool set_in_jit(bool yes);

// Whether x is of one of these classes, or a list, a tuple or a dict of nothing else (lists.cpp).
// Throws PythonError.
bool crosses_as_it_is(PyObject* x, PyObject* classes);
// A number that is the same for arguments, a tuple's, of the same classes and of about the same
// sizes (lists.cpp).
std::uint64_t kind_of_call(PyObject* args);

// A NumPy array's memory as an array of Plait's, until end_borrow() (memory.cpp). Throws.
PyObject* borrowed_from(PyObject* numpys);

}  // namespace plait::py
