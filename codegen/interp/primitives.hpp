// What tiles need beside the table of elementwise loops. Byte strides throughout.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/config.hpp"
#include "core/op_table.hpp"
#include "core/scalar.hpp"

namespace plait::interp {

void copy(char* out, std::int64_t out_stride, const char* in, std::int64_t in_stride,
          std::int64_t n, int itemsize);
// `rows` rows of `n` elements each, one after the other at `out`.
void copy_rows(char* out, const char* in, std::int64_t row_stride, std::int64_t stride,
               std::int64_t rows, std::int64_t n, int itemsize);
void iota(std::int64_t* out, std::int64_t first, std::int64_t n);

// A step of an arg-reduction in every lane: best and index are contiguous. With `roots` the square
// roots of the values are compared, which are non-negative or NaN: the values themselves decide,
// except on near ties.
using ArgTileFn = void (*)(void* best, std::int64_t* index, const void* in, std::int64_t stride,
                           std::int64_t position, std::int64_t n);
// Not for Float16, which compares as Float32; roots for Float32 and Float64.
ArgTileFn arg_tile(ReduceKind kind, DType t, bool roots, CpuTier tier);

// acc = acc op in[i], one after the other: float sums and products whose order is Sequential.
using FoldFn = void (*)(void* acc, const void* in, std::int64_t stride, std::int64_t n);
FoldFn sequential_fold(ReduceKind kind, DType t);

// The same with every state stored: `acc`, then out[i] = acc = acc op in[i]. Sums and products of
// numbers and extrema, the later of equal ones.
using ScanFn = void (*)(void* acc, const void* in, std::int64_t stride, void* out,
                        std::int64_t out_stride, std::int64_t n);
ScanFn running_fold(ReduceKind kind, DType t);

// The element of out + i * out_stride at index[i] * step bytes = fn of itself and in[i], one after
// the other (ir::combines). Of equal extremes the one that is there stays.
struct ScatterTo {
  char* out;
  std::int64_t out_stride, step;
  const char* index;
  std::int64_t index_stride;
};
using ScatterFn = void (*)(const ScatterTo& to, const void* in, std::int64_t stride,
                           std::int64_t n);
ScatterFn scatter(OpId fn, DType t);

}  // namespace plait::interp
