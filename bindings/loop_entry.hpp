// Calls of compiled loops without Python code around them. plait/_python_loops/ decides what is
// compiled, and describes it once for each version of the code (entries.py); here a call's values
// are checked against that description, handed to the machine code, and taken back. Whatever does
// not fit goes to Python.
//
// LoopEntry(description): one version of a loop's code (loop_entry.cpp);
// what it knows: loop_description.hpp, what is checked: loop_values.hpp, results: loop_results.hpp.
// LoopCall: the base of plait's Loop. Called where the loop begins; end() is where it has ended
// (loop_call.cpp).
// DirectCall(function, loops, numbers): the jitted function with its loops compiled, for arguments
// that cross as they are, without NumPy replaced in it (loop_call.cpp).
// WholeCall(body, ask, parameters, waits): the function as a whole in machine code
// (whole_call.cpp).
#pragma once
#include <cstdint>
#include <optional>

#include "engine/plans/call_cache.hpp"
#include "holding.hpp"
#include "jitted.hpp"
#include "python.hpp"

namespace plait::py {

// A range whose numbers are far from the ends of int64.
struct Range {
  std::int64_t bounds[3];  // start, stop, step
  std::int64_t size() const {
    const auto [start, stop, step] = bounds;
    if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
    return start > stop ? (start - stop - 1) / -step + 1 : 0;
  }
};
std::optional<Range> range_of(PyObject* o);  // throws

bool is_loop_entry(PyObject* o);
// Runs a loop by an entry, where the values fit that `locals` and the globals hold: what the loop
// iterates over is then at its end, and says what the loop's variables are (state_behind), or has
// its Python half tell what came of it. `unbound` stands for variables that have no value; each:
// seconds that an iteration takes in Python, 0 where that is not known. Null without an error: they
// do not fit, or to carry lists over takes longer than the loop in Python. Throws.
PyObject* run_entry(PyObject* entry, PyObject* loop, PyObject* unbound,
                    const std::optional<Range>& range, PyObject* locals, double each);
PyObject* state_behind(PyObject* rest);  // borrowed; null for all else

// The same of a function as a whole, whose statements are the loop `body`, by its arguments:
// what it returns. Null without an error also where the function takes long.
PyObject* run_whole(PyObject* entry, PyObject* body, Arguments args);

// Whether compiled loops may run now: nobody traces, and what they may hear of raises nothing.
bool loops_may_run();
using LoopEntries = engine::CallCache<Owned, engine::kKeptCalls>;
LoopEntries& entries_of(PyObject* loop);
bool is_loop_call(PyObject* o);

bool add_loop_entries(PyObject* module);  // false with a Python error
bool add_loop_calls(PyObject* module);    // the same
bool add_whole_calls(PyObject* module);   // the same

}  // namespace plait::py
