// plait::tensor<T>: an array that is a value, as a std::vector is one, for members of classes,
// elements of containers and whatever else is copied. It is an array<T> to all that takes one.
#pragma once
#include "plait/array.hpp"

namespace plait {

/// An array with the semantics of a value: a copy, and what is assigned, has elements of its own,
/// and `const` is for the elements, too.
///
/// A copy, and a tensor made of a whole array in C order, costs no memory and no time for elements:
/// the two have the same ones until one is written to, and that write copies them. Of views, of
/// memory that is adapted or exported, and of what is not in C order the copy is recorded, as
/// array::copy() records it. A temporary that nobody else holds is taken as it is.
///
/// A tensor is an `array<T>` to all that takes one, to read or to write to: operators, functions,
/// views, compile(). An `array<T>` made of it, here or in a function that was given it as one, is
/// a copy. Views of a tensor that may be written to, and what shape functions such as transpose()
/// make of it, have its elements, as those of an array have; what shape functions make of a const
/// one is a copy.
///
/// Views, pointers and iterators are good until the tensor is assigned to. A pointer or iterator
/// that writes is good only until the tensor is copied, too.
template <class T>
class tensor : public array<T> {
  template <class... A>
  static constexpr bool makes_array = std::is_constructible_v<array<T>, A...>;
  template <class A>
  static constexpr bool converts =
      std::is_convertible_v<A, array<T>> && !std::is_same_v<std::decay_t<A>, tensor>;

 public:
  // An empty 1-D array.
  tensor() : tensor(array<T>()) {}
  tensor(const tensor& o) : array<T>(detail::as_value(), detail::Handle(o.handle_)) {}
  // What was moved from is as a moved array.
  tensor(tensor&& o) noexcept : array<T>(detail::as_value(), std::move(o.handle_)) {}
  tensor(array<T>&& a) : array<T>(detail::as_value(), detail::owned(std::move(a).handle())) {}
  // Nested lists of elements of any depth, C order.
  tensor(std::initializer_list<detail::nested<T>> entries) : tensor(array<T>(entries)) {}
  // All else that an array<T> is made of: arrays, numbers and selections by themselves, ranges and
  // what has other elements by name.
  template <class A, std::enable_if_t<converts<A>, int> = 0>
  tensor(A&& a) : tensor(array<T>(std::forward<A>(a))) {}
  template <class A,
            std::enable_if_t<!std::is_convertible_v<A, array<T>> && makes_array<A>, int> = 0>
  explicit tensor(A&& a) : tensor(array<T>(std::forward<A>(a))) {}
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  tensor(I first, I last) : tensor(array<T>(first, last)) {}

  /// Takes the shape and the values, never the elements themselves. Views of what was there keep
  /// that.
  tensor& operator=(tensor o) & noexcept {
    this->handle_.swap(o.handle_);
    return *this;
  }
  template <class V,
            class Why = detail::why::a_number_is_no_array__a_fill_x_writes_it_to_the_elements,
            std::enable_if_t<std::is_arithmetic_v<V>, int> = 0>
  tensor& operator=(V value) = delete;
  template <
      class U,
      class Why = detail::why::the_element_type_does_not_hold_every_value__convert_with_astype,
      std::enable_if_t<detail::is_explicit<U, T>, int> = 0>
  tensor& operator=(const array<U>& a) = delete;
};
/// tensor t = a + b: of the element type of the array.
template <class A, detail::if_array<A> = 0>
tensor(A&&) -> tensor<detail::element_of<A>>;

}  // namespace plait
