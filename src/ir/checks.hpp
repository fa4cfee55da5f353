// The checks that a sequential kernel makes of indices, as Builder::index writes them.
#pragma once
#include <optional>
#include <vector>

#include "ir.hpp"

namespace plait::ir {

// Whether `v` is an application of `fn`.
bool is(const Kernel& k, Val v, OpId fn);

// `outside` says that `i` is not in [-extent, extent).
struct IndexCheck {
  Val i, extent, index;
};
std::optional<IndexCheck> index_check(const Kernel& k, Val outside);

// Of each parameter: whether indices are checked against it. It is not negative.
std::vector<char> extents(const Kernel& k);

}  // namespace plait::ir
