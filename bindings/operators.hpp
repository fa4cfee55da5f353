// Shared by the operator slots and the ufunc objects.
#pragma once
#include "core/op_table.hpp"
#include "python.hpp"

namespace plait::py {

// Lets NumPy raise its own error for dtypes that a ufunc has no loop or cast for; returns when
// NumPy accepts them.
void raise_dtype_error(OpId fn, PyObject* args, PyObject* kwargs);
// The slots that lazy scalars have too: arithmetic and comparison, nothing in place.
extern PyType_Slot lazy_number_slots[];

}  // namespace plait::py
