// Random arrays: by an engine, whose numbers are NumPy's (random_engine.hpp), and from one
// process-wide generator, whose numbers are not. The same seed gives the same numbers for any
// number of threads.
#pragma once
#include "plait/random_engine.hpp"  // IWYU pragma: export

namespace plait::random {

/// Begins the process's generator anew.
PLAIT_API void seed(std::uint64_t value);

/// Normal numbers, of float or double, by the process's generator.
template <class T = double>
array<T> randn(const extents& shape, T mean = T(0), T deviation = T(1)) {
  static_assert(std::is_floating_point_v<T>, "plait: randn gives float or double");
  return array<T>(detail::random("normal", detail::span_of(shape), mean, deviation, dtype_of_v<T>));
}
/// Uniform in [low, high), of float or double, by the process's generator.
template <class T = double>
array<T> rand(const extents& shape, T low = T(0), T high = T(1)) {
  static_assert(std::is_floating_point_v<T>, "plait: rand gives float or double; see randint");
  return array<T>(detail::random("uniform", detail::span_of(shape), low, high, dtype_of_v<T>));
}
/// Integers in [low, high), by the process's generator. ValueError when high <= low.
template <class T = std::int64_t>
array<T> randint(const extents& shape, std::int64_t low, std::int64_t high) {
  static_assert(std::is_same_v<T, bool> || detail::is_integer(dtype_of_v<T>),
                "plait: randint gives integers");
  return array<T>(detail::random_integers(detail::span_of(shape), low, high, dtype_of_v<T>));
}

}  // namespace plait::random
