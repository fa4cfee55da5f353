// The calls of jitted functions that need nothing of Python's half (jitted.cpp), and those with
// arrays of other libraries (foreign.cpp).
#pragma once
#include <span>

#include "python.hpp"

namespace plait::py {

using Arguments = std::span<PyObject* const>;
Owned tuple_of(Arguments args);  // throws

bool add_jitted(PyObject* module);   // false with a Python error
bool add_foreign(PyObject* module);  // the same

// What a WholeCall gives (whole_call.cpp); null without an error where the function is to be called
// otherwise. Throws.
PyObject* run_whole_call(PyObject* whole, Arguments args);
bool is_whole_call(PyObject* o);
// The function that runs on arguments which a DirectCall takes, borrowed, or null (loop_call.cpp).
PyObject* directly(PyObject* direct, Arguments args);
bool is_direct_call(PyObject* o);

}  // namespace plait::py
