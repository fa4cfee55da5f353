// Elements in memory, read and written where they lie: nothing is recorded or evaluated.
#pragma once
#include "array.hpp"

namespace plait::tracer {

// set_item() where own_memory() gives the memory and nothing has to be evaluated first, for a
// scalar of the array's dtype; false, and nothing happened, where it is not so.
bool set_item_now(const Array& a, std::span<const std::int64_t> index, const Scalar& v);
// Copies the elements of one array to another of its dtype and shape, which nobody else has seen.
// The caller holds the lock; both are in memory on the host.
void copy_elements(const Array& from, const Array& to);

}  // namespace plait::tracer
