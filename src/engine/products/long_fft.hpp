// The discrete Fourier transform of one long line by transforms of short ones, which fit a cache
// and run on the team: the line is a matrix, whose columns are transformed, multiplied by roots of
// unity and transformed by rows (Gentleman and Sande 1966; Bailey, "FFTs in external or
// hierarchical memory", 1990). The bits are the same for any number of threads.
#pragma once
#include "core/dtype.hpp"
#include "engine/threads/batches.hpp"

namespace plait::engine {

struct LongFft {
  BatchFn fn;  // complex transforms in NumPy's convention: input, scale, output
  void* data;
  bool forward;
  double scale;

  // Whether a line of n elements is long enough, and n has factors near its root. Real lines, which
  // are even, take the half that is not redundant.
  static bool takes(std::int64_t n, DType t);
  // `out`: n complex numbers without gaps, n / 2 + 1 for a real line.
  void run(DType t, const char* in, std::int64_t n, std::int64_t stride, char* out) const;
};

}  // namespace plait::engine
