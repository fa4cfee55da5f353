// Sums by label that are written with a one-hot matrix, `label[:, None] == arange(K)`: they are
// recorded as combining by index, which reads each row once and stores no matrix.
#pragma once
#include <optional>

#include "array.hpp"

namespace plait::tracer {

// Positions of extremes along axes are below this, whatever they turn out to be; nothing where the
// node is another, or in memory. Callers hold the lock.
std::optional<std::int64_t> position_bound(const Node& n);

// left @ right, where `left` (classes, n) is a pending one-hot matrix of pending positions and
// `right`, one of a few columns of float64.
std::optional<Array> summed_by_label(const Array& left, const Array& right);
// The sum of a pending one-hot matrix over its labels; exact.
std::optional<Array> counted_by_label(const Array& hot, std::int64_t axis);

}  // namespace plait::tracer
