// Indices of arrays in memory: whether they stay within an axis.
#pragma once
#include "direct_rows.hpp"

namespace plait::engine {

enum class Indices : std::uint8_t { Fine, Negative, Outside };
// Of integers of any dtype along an axis of `extent`; negative ones count from its end.
Indices look_at_indices(DType t, const Dims& shape, const Memory& at, std::int64_t extent);
// The same indices from 0 on.
void wrap_indices(std::int64_t* at, std::int64_t n, std::int64_t extent);

struct Ends {
  std::int64_t least, greatest;
};
Ends ends_of(const std::int64_t* values, std::int64_t n);  // n > 0

}  // namespace plait::engine
