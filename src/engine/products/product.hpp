// Matrix products of arrays in memory, and who computes them: the engine's own tiles
// (codegen/loops/product.hpp), a BLAS, or a plain loop.
#pragma once
#include "core/dims.hpp"
#include "core/dtype.hpp"
#include "fusion/schedule/cost.hpp"

namespace plait::engine {

// The axes that make up one of a matrix, the last one fastest.
struct AxisGroup {
  Dims extents, steps;  // bytes
  bool operator==(const AxisGroup&) const = default;
};

// c (batch..., m, n) = a (batch..., m, k) times b (batch..., k, n). Strides in bytes, of any sign;
// c is C-contiguous and shares no memory with a and b.
struct MatrixProduct {
  DType dtype;  // of c, and of a and b unless they have one of their own
  std::int64_t m, n, k;
  const std::byte* a;
  std::int64_t a_row, a_column;
  const std::byte* b;
  std::int64_t b_row, b_column;
  std::byte* c;
  Dims batch, a_steps, b_steps;
  // Where one of the axes is several in memory, all four are given, and a_row, a_column, b_row and
  // b_column are not read. Then only tiled_product() takes it.
  AxisGroup rows, a_sums, b_sums, columns;
  DType a_dtype = dtype, b_dtype = dtype;
  std::uint64_t a_contents = 0, b_contents = 0;  // as of an Operand

  ir::ProductTypes types() const { return {a_dtype, b_dtype, dtype}; }
  bool mapped() const { return !rows.extents.empty(); }
  std::int64_t entries() const;
  double products() const;                    // multiplications
  MatrixProduct entry(std::int64_t i) const;  // one of the batch
};

// Whether b is a with its axes exchanged, by where they lie: then the product is symmetric, and
// half of it is all there is to compute, as NumPy has it.
bool by_own_transpose(const MatrixProduct& p);

// The same with fewer axes: a batch that multiplies by one matrix has its rows one after another.
MatrixProduct with_joined_axes(const MatrixProduct& p);

// By the engine's own tiles, which there are of the types of ir::kFragmentTypes. Every element is
// summed in an order that k alone decides. False for other types. Throws std::bad_alloc and
// Interrupted.
bool tiled_product(const MatrixProduct& p);
// Of one row or column, by lanes along it or along the sums, with the bits that tiles have; false
// for others, and for what a BLAS takes.
bool vector_product(const MatrixProduct& p);
// By a BLAS, if one is found; false for what it does not take.
bool blas_product(const MatrixProduct& p);
// By whatever takes it soonest.
void multiply(const MatrixProduct& p);
// Predicted; infinite for a dtype that they do not take.
double seconds_of(const MatrixProduct& p, fusion::ProductImpl by);
// Whether a BLAS would be the faster one, or was asked for by name.
bool prefers_blas(const MatrixProduct& p);

}  // namespace plait::engine
