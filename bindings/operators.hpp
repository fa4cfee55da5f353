// Shared by the operator slots and the ufunc objects.
#pragma once
#include <span>

#include "core/op_table.hpp"
#include "python.hpp"
#include "tracer/array.hpp"

namespace plait::py {

// Lets NumPy raise its own error for dtypes that a ufunc has no loop or cast for; returns when
// NumPy accepts them.
void raise_dtype_error(OpId fn, PyObject* args, PyObject* kwargs);
// Whether NumPy compares in the engine's place: it orders complex numbers by comparisons that warn
// of a NaN, one by one.
bool is_numpys_comparison(OpId fn, std::span<const tracer::Operand> operands);
// The slots that lazy scalars have too: arithmetic and comparison, nothing in place.
extern PyType_Slot lazy_number_slots[];

}  // namespace plait::py
