// What sorts elements that lie one after the other, on one thread: the standard library, or
// something faster that was handed in (Python's package hands in NumPy's own vectorised loops,
// which it has anyway). Highway's sort was tried: as fast for 2e6 elements, slower for fewer than
// 1e5.
#pragma once
#include <cstdint>

#include "core/dtype.hpp"

namespace plait::engine {

// NumPy's signatures; other than 0: no memory.
using SortFn = int (*)(void* elements, std::int64_t n, void* unused);
using ArgsortFn = int (*)(void* elements, std::int64_t* indices, std::int64_t n, void* unused);
struct RunSorter {
  SortFn quick = nullptr, stable = nullptr;
  ArgsortFn arg_stable = nullptr;
};
// Before anything is sorted.
void set_run_sorter(DType t, const RunSorter& s);

// In the order of order.hpp. Throws std::bad_alloc.
void sort_run(DType t, void* elements, std::int64_t n, bool stable);
// Reorders indices [0, n), which are given as 0, 1, ..., stably.
void argsort_run(DType t, const void* elements, std::int64_t* indices, std::int64_t n);

}  // namespace plait::engine
