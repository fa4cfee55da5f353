// Printing in NumPy's style: std::cout << a, to_string(a). Evaluates the array.
#pragma once
#include <iosfwd>

#include "plait/array.hpp"

namespace plait {

/// How arrays are printed, as numpy.set_printoptions has it.
struct print_options {
  int precision = 8;              ///< at most so many digits behind the point
  std::int64_t threshold = 1000;  ///< of more elements the first and last are shown
  std::int64_t edgeitems = 3;     ///< so many of each
  int linewidth = 75;
  bool suppress = false;  ///< no exponents for small numbers, or such beside great ones
};
/// Sets them for all threads (numpy.set_printoptions). ValueError for negative numbers.
PLAIT_API void set_printoptions(const print_options& options);
/// What is set (numpy.get_printoptions).
PLAIT_API print_options get_printoptions();

namespace detail {
PLAIT_API std::string to_text(const Handle& a, const print_options& options);
PLAIT_API void write(std::ostream& out, const Handle& a);
}  // namespace detail

/// What NumPy's str() gives. Evaluates.
template <class T>
std::string to_string(const array<T>& a) {
  return detail::to_text(a.handle(), get_printoptions());
}
/// The same with options of its own.
template <class T>
std::string to_string(const array<T>& a, const print_options& options) {
  return detail::to_text(a.handle(), options);
}
/// "(2, 3)". A shape is a std::vector, which std::cout << does not know.
PLAIT_API std::string to_string(const shape_type& shape);

/// Prints an array as to_string() does. std::fixed and std::scientific have every element with
/// precision() digits; std::setprecision alone stands for the options' precision, and std::setw is
/// the least width of an element. A precision of 6, which streams have from the start, counts with
/// one of the two only.
template <class T>
std::ostream& operator<<(std::ostream& out, const array<T>& a) {
  detail::write(out, a.handle());
  return out;
}
/// Prints the name of a dtype.
PLAIT_API std::ostream& operator<<(std::ostream& out, dtype t);

}  // namespace plait
