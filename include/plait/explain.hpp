// Seeing and steering the engine.
#pragma once
#include <cstddef>

#include "plait/array.hpp"

namespace plait {

/// How the pending arrays would be computed: a text that begins with "1 region" or "N regions",
/// then each region's loop nest, what fused and what did not and why, bytes moved and times. Does
/// not evaluate.
template <class... T>
std::string explain(const array<T>&... arrays) {
  const detail::Handle handles[] = {arrays.handle()...};
  return detail::explain(handles, sizeof...(T));
}

/// The array, evaluated.
template <class T>
array<T> eval(const array<T>& a) {
  return a.eval();
}
/// Evaluates several arrays in one plan.
template <class... T>
void eval(const array<T>&... arrays) {
  const detail::Handle handles[] = {arrays.handle()...};
  detail::evaluate(handles, sizeof...(T));
}

/// Threads of the parallel loops. Results do not depend on the number.
PLAIT_API void set_num_threads(int n);
/// How many threads there are for loops.
PLAIT_API int num_threads();

/// Gives memory back that is kept for later: freed buffers, plans, kernels. Returns the bytes
/// counted of it.
PLAIT_API std::size_t trim();

/// The version of the library: "0.1.0".
PLAIT_API const char* version();

}  // namespace plait
