// What evaluate_direct calls for each kind of node. All operands are in memory.
#pragma once
#include "direct_rows.hpp"
#include "tracer/contraction.hpp"
#include "tracer/node.hpp"

namespace plait::engine {

// out[...] = fn(in...), operands already in the loop dtype and broadcast to `shape`.
void run_elementwise(OpId fn, DType loop, const Dims& shape, std::span<const Memory> in,
                     const Memory& out);
// Conversion; between equal dtypes a copy. With a mask (Bool, broadcast to shape) only where true.
void run_cast(DType from, DType to, const Dims& shape, const Memory& in, const Memory& out,
              const Memory* mask = nullptr);
void run_fill(const Scalar& value, const Dims& shape, const Memory& out);
void run_iota(const Scalar& start, const Scalar& step, std::int64_t n, std::byte* out);
// Folds `in` of `shape` over `axes`; `out` is the result without them. `mask`, if any, is broadcast
// to shape.
void run_reduce(ReduceKind kind, DType operand, DType result, const Dims& shape, const Dims& axes,
                const Memory& in, const Memory* mask, const Memory& out);
// out = in at in.strides and, besides, the indices (Int64) times `step` bytes.
void run_gather(DType t, const Dims& shape, const Memory& in, const Memory& index,
                std::int64_t step, const Memory& out);
// An operand of a product: see tracer/contraction.hpp.
struct Factor {
  DType dtype;
  const Dims& shape;
  Memory memory;
  std::uint64_t contents = 0;  // as of an Operand
};
void run_product(DType t, const tracer::ProductAxes& axes, const Factor& a, const Factor& b,
                 std::byte* c);

}  // namespace plait::engine
