// Recording of calls: rows of core/calls.def on arrays. A call is a node that other operations
// read, as they read any other; what is pending before it is computed with it.
#pragma once
#include <span>
#include <vector>

#include "array.hpp"
#include "core/call_table.hpp"

namespace plait::tracer {

// The results of row `id`, checked by its rule, which throws NumPy's errors. Inputs have the dtypes
// that the row asks for. A single result of the first input's shape is laid out by `order` ('C', or
// 'K': as the first input); results are C-contiguous otherwise.
std::vector<Array> call(CallId id, std::span<const Array> inputs, const CallAttributes& attributes,
                        char order = 'C');

struct AccumulateOptions {
  std::optional<DType> dtype;  // of the folds and the result
  const Array* out = nullptr;  // receives the result, and is returned
};
// What ufunc.accumulate computes in; nothing where NumPy has no loop that could go on with its own
// result, or one that raises for what the values are.
std::optional<DType> accumulation_dtype(OpId fn, DType t, const AccumulateOptions& opt = {});
// fn.accumulate along one axis of an array of at least one. Throws as NumPy does.
Array accumulate(OpId fn, const Array& a, std::int64_t axis, const AccumulateOptions& opt = {});
// fn.reduceat along an axis. Evaluates the indices (Int64, 1-D), and throws IndexError where they
// are outside the axis.
Array reduceat(OpId fn, const Array& a, const Array& indices, std::int64_t axis,
               const std::optional<DType>& dtype = {});

}  // namespace plait::tracer
