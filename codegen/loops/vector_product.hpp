// Products of the lines of a matrix and a vector, compiled once a CPU tier. Tiles of matrices would
// use one lane of a register; here lanes are along the sums, or lines.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace plait::loops {

// out[l] = sum over k of lines[l][k] * x[k], in the order of product.hpp: integers wrap, Bool is
// "any of both", Float16 is summed in Float32, which `out` holds then. Strides in bytes.
struct VectorProduct {
  std::int64_t lines, k;
  const std::byte* a;
  std::int64_t line, step;
  const std::byte* x;
  std::int64_t x_step;
  std::byte* out;  // contiguous
  bool add;        // to what `out` holds; the sums so far are of a multiple of kProductDepth
};
using VectorProductFn = void (*)(const VectorProduct& p);

// nullptr for floats that have more than 16 bits, which BLAS multiplies, and for complex numbers.
VectorProductFn vector_product(DType t, CpuTier tier);

#define PLAIT_DECLARE(tier)                \
  namespace tier {                         \
  VectorProductFn vector_product(DType t); \
  }
PLAIT_FOR_TIERS(PLAIT_DECLARE)
#undef PLAIT_DECLARE

}  // namespace plait::loops
