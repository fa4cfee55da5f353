// Between the core's names of dtypes and the public ones, which have the same numbers.
#pragma once
#include "dtype.hpp"
#include "plait/detail/promotion.hpp"

namespace plait::detail {

static_assert(kDTypes == kDTypeCount);
static_assert(static_cast<int>(dtype::complex128) == static_cast<int>(DType::Complex128));
static_assert(static_cast<int>(dtype::float16) == static_cast<int>(DType::Float16));
static_assert(static_cast<int>(dtype::uint4) == static_cast<int>(DType::UInt4));
static_assert(static_cast<int>(weak::complex) == static_cast<int>(Weak::Complex));

constexpr DType core(dtype t) { return static_cast<DType>(t); }
constexpr dtype outer(DType t) { return static_cast<dtype>(t); }
constexpr weak outer(Weak w) { return static_cast<weak>(w); }

}  // namespace plait::detail
