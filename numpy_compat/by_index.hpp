// Combining by index, recorded: for what is still to be computed then.
#pragma once
#include "functions.hpp"

namespace plait::numpy {

// All of the indices are in [0, bound), whatever they turn out to be: those of extremes. Nothing
// for those in memory.
std::optional<std::int64_t> index_bound(const Array& indices);
// Whether these indices (Int64, 1-D) and values are recorded: enough of them, and some of it is yet
// to be computed. Recording asks nothing of the indices: whoever does it knows that they are
// inside.
bool combined_later(const Array& indices, const Array& values, std::int64_t elements);
// `a` with values[i] combined into a[indices[i]].
Array combined(OpId fn, const Array& a, const Array& indices, const Array& values);

}  // namespace plait::numpy
