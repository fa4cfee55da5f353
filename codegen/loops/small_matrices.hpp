// Small matrices, one in each lane of a register, compiled once a CPU tier: what a library's call
// takes for one of them is mostly the call.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace plait::loops {

inline constexpr std::int64_t kSmallMatrix = 8;  // rows or columns, at most
inline constexpr int kMostLanes = 16;            // of any tier

// A group of matrices: where the one of each lane begins, and bytes from row to row and from column
// to column. Lanes past the last one repeat it.
struct MatrixGroup {
  std::byte* const* at;
  std::int64_t row, column;
};

// Of groups of `some` <= lanes matrices. Results overlap no operands. A lane's bits depend on its
// matrix alone.
struct SmallMatrices {
  int lanes;
  // x (n, k) of a (n, n) x = b, by partial pivoting: the first of the largest elements. False where
  // a pivot is 0.
  bool (*solve)(int n, int k, int some, const MatrixGroup& a, const MatrixGroup& b,
                const MatrixGroup& x);
  bool (*invert)(int n, int some, const MatrixGroup& a, const MatrixGroup& x);
  // The pivots, the first one of all lanes, then the second ...; and for each lane -1 where rows
  // changed places an odd number of times, else 1.
  void (*pivots)(int n, const MatrixGroup& a, void* pivots, void* signs);
  // The determinants, or 0 where a product of pivots is not normal, be it on the way.
  void (*determinants)(int n, const MatrixGroup& a, void* values);
  // The lower triangle, of which `a` is read; false where a root is of no positive number.
  bool (*cholesky)(int n, int some, const MatrixGroup& a, const MatrixGroup& x);
};
// nullptr for other dtypes than float32 and float64.
const SmallMatrices* small_matrices(DType t, CpuTier tier);

}  // namespace plait::loops
