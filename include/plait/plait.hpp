// Plait for C++: arrays that record NumPy-style operations and run them as fused, compiled loops.
//
//   auto X = plait::random::randn<double>({n, 2});
//   auto d = plait::linalg::norm(X - plait::view(means, plait::all(), plait::newaxis()), {2});
//   plait::array<std::int64_t> label = plait::argmin(d, 0);
//
// std::format is in plait/io.hpp, xtensor interoperation in plait/xtensor.hpp.
#pragma once
#include "plait/any_array.hpp"
#include "plait/array.hpp"
#include "plait/bits.hpp"
#include "plait/build.hpp"
#include "plait/choose.hpp"
#include "plait/compare.hpp"
#include "plait/compile.hpp"
#include "plait/configure.hpp"
#include "plait/device.hpp"
#include "plait/dtype.hpp"
#include "plait/error.hpp"
#include "plait/explain.hpp"
#include "plait/fft.hpp"
#include "plait/grids.hpp"
#include "plait/group.hpp"
#include "plait/indexing.hpp"
#include "plait/join.hpp"
#include "plait/linalg.hpp"
#include "plait/math.hpp"
#include "plait/memory.hpp"
#include "plait/nn.hpp"
#include "plait/norms.hpp"
#include "plait/npz.hpp"
#include "plait/polynomial.hpp"
#include "plait/print.hpp"
#include "plait/random.hpp"
#include "plait/rearrange.hpp"
#include "plait/reduce.hpp"
#include "plait/scan.hpp"
#include "plait/sorting.hpp"
#include "plait/special.hpp"
#include "plait/statistics.hpp"
#include "plait/ufunc.hpp"
#include "plait/vectorize.hpp"
#include "plait/view.hpp"
#include "plait/windows.hpp"
