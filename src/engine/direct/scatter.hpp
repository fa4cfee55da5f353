// Stores at computed places.
#pragma once
#include "core/op_table.hpp"
#include "direct_rows.hpp"

namespace plait::engine {

// to at to.strides and, besides, the indices (Int64) times `step` bytes = value, in the order in
// which the indices lie in memory: where two name one element the later value stays. The value's
// memory is not that of `to`.
void run_scatter(DType t, const Dims& shape, const Memory& value, const Memory& index,
                 std::int64_t step, const Memory& to);

// The same with to = fn(to, value): each element after the one before. For addition, subtraction,
// multiplication and the extrema of numbers that are not complex.
bool combines(OpId fn, DType t);
void run_combine(OpId fn, DType t, const Dims& shape, const Memory& value, const Memory& index,
                 std::int64_t step, const Memory& to);

// The same for any function of two operands that both have the dtype of its loop, an element at a
// time. The value has it, too; `t` is cast to it and the result is cast to `t`.
void run_combine_by_loop(OpId fn, const LoopTypes& loop, DType t, const Dims& shape,
                         const Memory& value, const Memory& index, std::int64_t step,
                         const Memory& to);

// out[k * item + d * axis] = coordinate d of places[k] in an array of `shape`, in C order.
void write_coordinates(const std::int64_t* places, std::int64_t n, const Dims& shape,
                       std::int64_t* out, std::int64_t item, std::int64_t axis);

// Of so many elements into memory of so many bytes, on one thread, roughly.
double scatter_seconds(std::int64_t elements, std::int64_t bytes);

}  // namespace plait::engine
