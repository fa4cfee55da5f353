#pragma once
#include <cstddef>
#include <type_traits>

namespace plait {

// f(bytes), with the sizes of elements as constants: memcpy() of a size that only the run knows is
// a call, which costs more than the copy. An f with a loop of copies takes its pointers by value:
// the bytes written could be those of a pointer that it refers to.
template <class F>
void with_fixed_size(std::size_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<std::size_t, 1>());
    case 2:
      return f(std::integral_constant<std::size_t, 2>());
    case 4:
      return f(std::integral_constant<std::size_t, 4>());
    case 8:
      return f(std::integral_constant<std::size_t, 8>());
    case 16:
      return f(std::integral_constant<std::size_t, 16>());
    default:
      return f(bytes);
  }
}

}  // namespace plait
