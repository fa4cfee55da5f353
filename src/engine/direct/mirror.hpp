// The other half of a symmetric matrix.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/dtype.hpp"

namespace plait::engine {

// Whether computing half of an (n, n) product of depth k, and copying, beats computing all of it.
bool mirror_pays(std::int64_t n, std::int64_t k);
// c (count, n, n), C-contiguous: below each diagonal what is above it.
void mirror_upper(DType t, std::byte* c, std::int64_t n, std::int64_t count = 1);

}  // namespace plait::engine
