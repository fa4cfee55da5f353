// What a run of a loop's code has left.
#pragma once
#include <memory>

#include "core/heap.hpp"
#include "loop_values.hpp"

namespace plait::py {

// Lists get what was written to the arrays that they were.
void give_back(const Given& g);
// For Python's half: all results, and behind them the heap, where there is one.
Owned all_results(const Given& g, std::unique_ptr<Heap> heap);
// The names of the loop behind it, whether it returned, and what: as Code.told() has them.
PyObject* state_of(const Description& d, Given& g, PyObject* locals, PyObject* unbound);
// What a function as a whole returns.
PyObject* value_of(const Description& d, Given& g, PyObject* const* arguments);

}  // namespace plait::py
