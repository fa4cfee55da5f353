// Views: arrays whose assignment writes to elements, and arrays that are only read.
#pragma once
#include "plait/array.hpp"

namespace plait {

/// What view() gives: an array whose assignment writes through to the elements, where assignment to
/// an `array<T>` makes the name mean another array. swap() exchanges elements, too. Only std::move
/// moves the view itself, so that containers of views can drop, insert and reorder them.
template <class T>
class array_view : public array<T> {
 public:
  using iterator = element_iterator<T>;
  explicit array_view(detail::Handle h) : array<T>(std::move(h)) {}
  using array<T>::begin;
  using array<T>::end;
  /// Of the view of a named array, whose memory they are.
  iterator begin() && { return iterator(this->handle_, 0); }
  /// Behind the last element.
  iterator end() && { return iterator(this->handle_, detail::size_of(this->handle_)); }
  array_view(const array_view& o) : array<T>(o) {}
  array_view(array_view&& o) noexcept : array<T>(std::move(o)), moved_(true) {}
  template <class... I>
  element_reference<T> operator()(I... index) const& {
    return element_reference<T>(this->handle_, index...);
  }
  template <class... I>
  element_reference<T> operator()(I... index) && {
    return element_reference<T>(std::move(this->handle_), index...);
  }
  // By value: the move constructor has run where the source was given away by std::move, and has
  // not where it is what view() returned.
  array_view& operator=(array_view o) & {
    if (o.moved_ || !this->handle_)
      this->handle_ = o.handle_;
    else
      this->assign(o);
    return *this;
  }
  array_view& operator=(const array_view& o) && {
    this->assign(o);
    return *this;
  }
  template <class B, class = std::enable_if_t<detail::operand_traits<B>::valid>>
  array_view& operator=(const B& value) {
    this->assign(value);
    return *this;
  }
  array_view& operator=(std::initializer_list<detail::nested<T>> values) {
    this->assign(array<T>(values));
    return *this;
  }

 private:
  bool moved_ = false;
};

namespace detail {
// An array that is only read, though the variable that it is may not be const.
template <class T>
class read_only : public array<T> {
 public:
  using iterator = typename array<T>::const_iterator;
  using reverse_iterator = typename array<T>::const_reverse_iterator;
  explicit read_only(Handle h) : array<T>(std::move(h)) {}
  template <class... I>
  T operator()(I... index) const {
    return this->get(index...);
  }
  template <class... I>
  T at(I... index) const {
    return this->get(index...);
  }
  T operator[](const extents& index) const { return base()[index]; }
  template <class I, std::enable_if_t<is_extent<I>, int> = 0>
  T operator[](const I& index) const {
    return this->get(index);
  }
  template <class A, std::enable_if_t<is_array_type<A>::value, int> = 0>
  array<T> operator[](const A& index) const {
    return base()[index];
  }
  const T* data() const& { return base().data(); }
  const T* data() const&& = delete;
  iterator begin() const { return this->cbegin(); }
  iterator end() const { return this->cend(); }
  reverse_iterator rbegin() const { return this->crbegin(); }
  reverse_iterator rend() const { return this->crend(); }
  template <class... A>
  void assign(const A&...) = delete;
  template <class... A>
  void fill(const A&...) = delete;
  template <class... A>
  void set(const A&...) = delete;
#define PLAIT_CONSTANT(op) \
  template <class B>       \
  read_only& operator op(const B&) = delete;
  PLAIT_CONSTANT(+=)
  PLAIT_CONSTANT(-=)
  PLAIT_CONSTANT(*=)
  PLAIT_CONSTANT(/=)
  PLAIT_CONSTANT(%=)
  PLAIT_CONSTANT(&=)
  PLAIT_CONSTANT(|=)
  PLAIT_CONSTANT(^=)
  PLAIT_CONSTANT(<<=)
  PLAIT_CONSTANT(>>=)
#undef PLAIT_CONSTANT

 private:
  const array<T>& base() const { return *this; }
};
}  // namespace detail

/// What view() of a const array gives: nothing writes through it, nor through what is made of it.
template <class T>
class array_view<const T> : public detail::read_only<T> {
 public:
  explicit array_view(detail::Handle h) : detail::read_only<T>(std::move(h)) {}
  array_view(const array_view&) = default;
  template <class B>
  array_view& operator=(const B&) = delete;
  array_view& operator=(const array_view&) = delete;
};

/// Exchanges the elements of two views. ShapeError.
template <class T>
void swap(array_view<T>& a, array_view<T>& b) {
  detail::swap_elements(a.handle(), b.handle());
}
template <class T>
void swap(array_view<T>&& a, array_view<T>&& b) {
  detail::swap_elements(a.handle(), b.handle());
}

}  // namespace plait

// Called by its full name, std::swap would move the views, and copy the references.
namespace std {  // NOLINT(cert-dcl58-cpp)
template <class T>
void swap(plait::array_view<T>& a, plait::array_view<T>& b) {
  plait::swap(a, b);
}
template <class T>
void swap(plait::element_reference<T>& a, plait::element_reference<T>& b) {
  plait::swap(a, b);
}
template <class T>
void swap(const plait::element_reference<T>& a, const plait::element_reference<T>& b) {
  plait::swap(a, b);
}
}  // namespace std
