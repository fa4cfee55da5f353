// Calls of jitted functions whose arguments are NumPy's arrays and what crosses as it is: arrays go
// in borrowed, and results come out as NumPy's. What is seldom is done by
// numpy_compat/plait/_boundary.py, as are all other calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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
// A number that is the same for arguments of the same classes and of about the same sizes
// (lists.cpp).
std::uint64_t kind_of_call(std::span<PyObject* const> args);

// A call of a jitted function, for its account (call_account.cpp): when it began, and of which kind
// it is where no loop slept by then.
struct BegunCall {
  double at;
  std::optional<std::uint64_t> kind;
};
BegunCall begin_call(PyObject* account, std::span<PyObject* const> args);  // throws PythonError
void end_call(PyObject* account, const BegunCall& call);                   // throws PythonError

// A NumPy array's memory as an array of Plait's, until end_borrow() (memory.cpp). Throws.
PyObject* borrowed_from(PyObject* numpys);

}  // namespace plait::py
