// Connected components, as scipy.ndimage.label:
//
//   auto [labels, count] = plait::label(image > 0.5);
#pragma once
#include "plait/array.hpp"

namespace plait {

/// What label() gives: the number of each element's component, and how many there are.
struct label_result {
  array<std::int32_t> labels;
  std::int64_t count;  // of the components
};

namespace detail {
PLAIT_API Handle label(const Handle& a, std::int64_t connectivity, std::int64_t& count);
}  // namespace detail

/// Elements that are not zero have the number of their component, from 1 on in the order in which
/// C order meets them first; all others have 0. Neighbours differ by one along `connectivity` axes
/// at most: with 1 they share a face, with as many as there are axes a corner is enough. Evaluates.
/// ValueError for another connectivity, DTypeError for complex elements (scipy.ndimage.label).
template <class A, detail::if_array<A> = 0>
label_result label(const A& a, std::int64_t connectivity = 1) {
  std::int64_t count = 0;
  array<std::int32_t> labels(detail::label(a.handle(), connectivity, count));
  return {std::move(labels), count};
}

}  // namespace plait
