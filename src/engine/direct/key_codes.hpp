// Keys as numbers from 0 on that stand for the different ones among them.
#pragma once
#include <cstdint>
#include <vector>

#include "core/dtype.hpp"

namespace plait::engine {

// codes[i] = the rank of keys[i] among the different keys, which lie in one piece and are of Int64,
// UInt64 or Float64: zeros are equal, NaNs too, behind all others. Gives where each of them stands
// first.
std::vector<std::int64_t> code_keys(DType t, const std::byte* keys, std::int64_t n,
                                    std::int64_t* codes);

}  // namespace plait::engine
