// The fragment of the loop IR, ir::Fragment, on memory: what the interpreter and machine code call.
#pragma once
#include <cstdint>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace plait::loops {

// C += A * B, or C = A * B where `block` is 0; strides in elements. Machine code fills it in field
// by field: eight bytes each.
struct Fragment {
  const void *a, *b;
  void* c;
  std::int64_t m, n, k;
  std::int64_t a_width, a_stride, a_step;  // ir::Panels
  std::int64_t b_width, b_stride, b_step;
  std::int64_t c_row;
  std::int64_t block;
};
using FragmentFn = void (*)(const Fragment* f);

// Of operands of these dtypes, and the sums that ir::kFragmentTypes has for them; whatever the
// layouts. Fast where rows of A lie as they lie (width 1), and columns of B do or B is in panels of
// the tier's block product, or in one that has all of its columns. nullptr for other dtypes.
FragmentFn fragment(DType a, DType b, CpuTier tier);

}  // namespace plait::loops
