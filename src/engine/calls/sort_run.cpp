#include "sort_run.hpp"

#include <algorithm>
#include <new>

#include "core/dispatch.hpp"
#include "order.hpp"

namespace plait::engine {
namespace {

RunSorter sorters[kDTypeCount];

RunSorter& sorter(DType t) { return sorters[static_cast<int>(t)]; }

void require_memory(int failed) {
  if (failed) throw std::bad_alloc();
}

}  // namespace

void set_run_sorter(DType t, const RunSorter& s) { sorter(t) = s; }

void sort_run(DType t, void* elements, std::int64_t n, bool stable) {
  if (n < 2) return;
  if (const SortFn f = stable ? sorter(t).stable : sorter(t).quick)
    return require_memory(f(elements, n, nullptr));
  dispatch(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto* const p = static_cast<T*>(elements);
    if (stable)
      std::stable_sort(p, p + n, precedes<T>);
    else
      std::sort(p, p + n, precedes<T>);
  });
}

void argsort_run(DType t, const void* elements, std::int64_t* indices, std::int64_t n) {
  if (const ArgsortFn f = sorter(t).arg_stable)
    return require_memory(f(const_cast<void*>(elements), indices, n, nullptr));
  dispatch(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto* const p = static_cast<const T*>(elements);
    std::stable_sort(indices, indices + n,
                     [p](std::int64_t i, std::int64_t j) { return precedes(p[i], p[j]); });
  });
}

}  // namespace plait::engine
