// Precompiled loops: what the interpreter, the eager path for small arrays and JIT kernels (for
// operations that are not backend primitives) execute. Built once a CPU tier from one source; all
// tiers and the JIT give the same bits.
#pragma once
#include <cstdint>

#include "core/config.hpp"
#include "core/op_table.hpp"
#include "core/scalar.hpp"

namespace plait::loops {

// out[i] = op(in0[i], in1[i], ...). `args` holds the inputs, then the output; `strides` are bytes,
// 0 for a value that does not vary. Inputs and output may be the same memory (exactly), not
// shifted. Floating-point flags accumulate in the FPU as NumPy's would.
using LoopFn = void (*)(void* const* args, const std::int64_t* strides, std::int64_t n);

// The loop for operands of dtype `in` (for Where: the dtype of the two values). nullptr when the
// table has no such loop.
LoopFn elementwise(OpId op, DType in, CpuTier tier);
// Of two partial results of a reduction. Folds multiply complex numbers with a rounding after each
// step, as NumPy's do, while products of arrays may be fused.
LoopFn join(ReduceKind kind, DType t, CpuTier tier);
// NumPy's unsafe cast. Narrow dtypes are cast to and from what they are computed in alone; nullptr
// for other pairs.
LoopFn cast(DType from, DType to, CpuTier tier);

// Vector functions that a JIT kernel calls on one register: `fn` has the platform's vector calling
// convention with `lanes` elements an argument, e.g. __m512d(__m512d). {nullptr, 0} when there is
// none for this op, dtype and tier.
struct VectorFn {
  void* fn;
  int lanes;
};
VectorFn vector_function(OpId op, DType in, CpuTier tier);

// Reduces n elements (byte stride) into *acc, which holds the running value (dtype `t`; for Sum of
// Float16 the accumulator is Float32). Sum of floats follows NumPy's pairwise tree over the n
// elements and adds the result to *acc; Min/Max propagate NaN. ArgMin/ArgMax: `acc` holds the best
// value, *index its index; `base` is the index of element 0. A negative *index says that there is
// no element yet (*acc is then not read). Any/All accept every dtype; their accumulator is a Bool.
using ReduceFn = void (*)(void* acc, const void* in, std::int64_t stride, std::int64_t n);
ReduceFn reduce(ReduceKind kind, DType t, CpuTier tier);
using ArgReduceFn = void (*)(void* acc, std::int64_t* index, const void* in, std::int64_t stride,
                             std::int64_t n, std::int64_t base);
ArgReduceFn arg_reduce(ReduceKind kind, DType t, CpuTier tier);
// The index of the extreme of each of `columns` columns that lie side by side: `rows` elements
// (byte stride) each; indices (int64) go out at a byte stride. nullptr where
// only arg_reduce goes.
using ArgColumnsFn = void (*)(const void* in, std::int64_t stride, std::int64_t rows,
                              std::int64_t columns, void* index, std::int64_t index_stride);
ArgColumnsFn arg_columns(ReduceKind kind, DType t, CpuTier tier);

}  // namespace plait::loops
