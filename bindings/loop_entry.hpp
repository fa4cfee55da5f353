// Calls of compiled loops without Python code around them. plait/_python_loops/ decides what is
// compiled, and describes it once for each version of the code (entries.py); here a call's values
// are checked against that description, handed to the machine code, and taken back. Whatever does
// not fit goes to Python.
//
// LoopEntry(description): one version of a loop's code.
// LoopCall: the base of plait's Loop. Called where the loop begins; end() is where it has ended.
// DirectCall(function, loops, numbers): the jitted function with its loops compiled, for arguments
// that cross as they are, without NumPy replaced in it.
#pragma once
#include "python.hpp"

namespace plait::py {

bool add_loop_entries(PyObject* module);  // false with a Python error

}  // namespace plait::py
