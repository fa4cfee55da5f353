// Whole arrays compared: within tolerances, or exactly.
#pragma once
#include "plait/array.hpp"

namespace plait {

namespace detail {
// A number to compare with, in the type that it takes beside an array of T.
template <class T, class V>
array<T> beside(const array<T>&, const V& v, std::true_type) {
  return array<T>(full({nullptr, 0}, Value::of(element_value<T>(v))));
}
template <class T, class V>
array<double> beside(const array<T>&, const V& v, std::false_type) {
  return array<double>(full({nullptr, 0}, Value::of(static_cast<double>(v))));
}
template <class T, class U>
const array<U>& beside(const array<T>&, const array<U>& b) {
  return b;
}
template <class T, class V, class = std::enable_if_t<!is_array_type<V>::value>>
auto beside(const array<T>& a, const V& v) {
  return beside(a, v, std::bool_constant<(kind_of(dtype_of_v<T>) >= kind::floating)>());
}
}  // namespace detail

/// abs(a - b) <= atol + rtol * abs(b), and equal infinities; with equal_nan, NaNs too
/// (numpy.isclose). `b` is an array or a number.
template <class T, class B>
array<bool> isclose(const array<T>& a, const B& b, double rtol = 1e-5, double atol = 1e-8,
                    bool equal_nan = false) {
  return array<bool>(
      detail::isclose(a.handle(), detail::beside(a, b).handle(), {rtol, atol, equal_nan}));
}
/// Whether all are close (numpy.allclose). Evaluates.
template <class T, class B>
bool allclose(const array<T>& a, const B& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false) {
  return detail::allclose(a.handle(), detail::beside(a, b).handle(), {rtol, atol, equal_nan});
}
/// Whether shapes and all elements are equal (numpy.array_equal). Evaluates.
template <class T, class U>
bool array_equal(const array<T>& a, const array<U>& b, bool equal_nan = false) {
  return detail::array_equal(a.handle(), b.handle(), equal_nan);
}

}  // namespace plait
