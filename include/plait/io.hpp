// Printing in NumPy's style. Evaluates the array.
#pragma once
#include <iosfwd>

#include "plait/array.hpp"

namespace plait {

namespace detail {
PLAIT_API void write(std::ostream& out, const Handle& a);
}  // namespace detail

// What NumPy's str() gives.
template <class T>
std::string to_string(const array<T>& a) {
  return detail::to_text(a.handle());
}
template <class T>
std::ostream& operator<<(std::ostream& out, const array<T>& a) {
  detail::write(out, a.handle());
  return out;
}

}  // namespace plait
