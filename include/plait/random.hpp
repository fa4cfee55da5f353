// Random arrays from one process-wide generator. The same seed gives the same numbers for any
// number of threads; they are not NumPy's numbers.
#pragma once
#include "plait/array.hpp"

namespace plait::random {

PLAIT_API void seed(std::uint64_t value);

// Standard normal.
template <class T = double>
array<T> randn(const extents& shape) {
  static_assert(std::is_floating_point_v<T>, "plait: randn gives float or double");
  return array<T>(detail::random("normal", detail::span_of(shape), 0, 1, dtype_of_v<T>));
}
// Uniform in [low, high).
template <class T = double>
array<T> rand(const extents& shape, T low = T(0), T high = T(1)) {
  static_assert(std::is_floating_point_v<T>, "plait: rand gives float or double; see randint");
  return array<T>(detail::random("uniform", detail::span_of(shape), low, high, dtype_of_v<T>));
}
// Integers in [low, high). Throws ValueError when high <= low.
template <class T = std::int64_t>
array<T> randint(const extents& shape, std::int64_t low, std::int64_t high) {
  static_assert(std::is_integral_v<T>, "plait: randint gives integers");
  return array<T>(detail::random_integers(detail::span_of(shape), low, high, dtype_of_v<T>));
}

}  // namespace plait::random
