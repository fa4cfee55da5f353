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

// Whether a block leaves the kernel, as what found an error does, and nothing else.
bool leaves_kernel(const Kernel& k, const std::vector<Val>& block);

// Of each parameter: whether indices are checked against it. It is not negative.
std::vector<char> extents(const Kernel& k);

}  // namespace plait::ir
