// NumPy's sorts of runs, which are vectorised for the CPU at hand, for the engine: it cuts lines
// into runs, spreads them over threads and merges them. They need no GIL and no array.
#include "engine/calls/sort_run.hpp"
#include "functions.hpp"

namespace plait::py {

static_assert(sizeof(npy_intp) == sizeof(std::int64_t));

void lend_sorts() {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto t = static_cast<DType>(d);
    const PyArray_ArrFuncs* const f = PyDataType_GetArrFuncs(descr_of(t));
    if (!f) continue;
    engine::RunSorter s;
    s.quick = f->sort[NPY_QUICKSORT];
    s.stable = f->sort[NPY_STABLESORT];
    s.arg_stable = f->argsort[NPY_STABLESORT];
    engine::set_run_sorter(t, s);
  }
}

}  // namespace plait::py
