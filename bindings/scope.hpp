// The globals of functions with NumPy replaced (numpy_compat/plait/_numpy_proxy.py): a dict of what
// stands for names of a module, and of what C code asks a dict for by itself. Look-ups by Python
// code see both sides as they are: what is not here is read in the module each time, what is here
// holds while the module has what it stands for, and what functions assign or delete is written to
// the module before the next look-up.
#pragma once

#include "python.hpp"

namespace plait::py {

// What stands here for a name, or null where it is the module's; borrowed. Throws PythonError.
PyObject* in_scope(PyObject* scope, PyObject* name);

// Whether Globals.sync() has something to do; of None, which is no scope, it has not.
bool scope_has_changed(PyObject* scope);  // throws PythonError

// A jitted function of the module is called.
void count_call(PyObject* scope);
bool is_scope(PyObject* o);

bool add_scope(PyObject* module);

}  // namespace plait::py
