// Iterators over the elements of an array in C order, and over its sub-arrays along an axis.
#pragma once
#include <iterator>

#include "plait/detail/core.hpp"

namespace plait {

/// An iterator over the elements of an array in C order, whatever its strides. E is const where
/// elements are only read; the memory is the array's, as data() is.
template <class E>
class element_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::remove_const_t<E>;
  using difference_type = std::ptrdiff_t;
  using pointer = E*;
  using reference = E&;

  element_iterator() = default;
  element_iterator(const detail::Handle& a, std::int64_t index) {
    const detail::Elements e = detail::elements(a, !std::is_const_v<E>);
    first_ = static_cast<E*>(e.first);
    place_ = e.place + index;
  }
  template <class M, std::enable_if_t<std::is_same_v<const M, E> && !std::is_same_v<M, E>, int> = 0>
  element_iterator(const element_iterator<M>& o) : first_(o.first_), place_(o.place_) {}

  reference operator*() const { return at(place_); }
  pointer operator->() const { return &at(place_); }
  reference operator[](difference_type n) const { return at(place_ + n); }

  element_iterator& operator++() { return *this += 1; }
  element_iterator& operator--() { return *this -= 1; }
  element_iterator operator++(int) {
    element_iterator before = *this;
    ++place_;
    return before;
  }
  element_iterator operator--(int) {
    element_iterator before = *this;
    --place_;
    return before;
  }
  element_iterator& operator+=(difference_type n) {
    place_ += n;
    return *this;
  }
  element_iterator& operator-=(difference_type n) { return *this += -n; }
  friend element_iterator operator+(element_iterator i, difference_type n) { return i += n; }
  friend element_iterator operator+(difference_type n, element_iterator i) { return i += n; }
  friend element_iterator operator-(element_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const element_iterator& a, const element_iterator& b) {
    return a.place_ - b.place_;
  }
#define PLAIT_COMPARE(op)                                                         \
  friend bool operator op(const element_iterator& a, const element_iterator& b) { \
    return a.place_ op b.place_;                                                  \
  }
  PLAIT_COMPARE(==)
  PLAIT_COMPARE(!=)
  PLAIT_COMPARE(<)
  PLAIT_COMPARE(<=)
  PLAIT_COMPARE(>)
  PLAIT_COMPARE(>=)
#undef PLAIT_COMPARE

 private:
  template <class>
  friend class element_iterator;
  using byte = std::conditional_t<std::is_const_v<E>, const char, char>;

  // Loops ask no more than the sign: what lies otherwise is not the case to compile for.
  E& at(std::int64_t place) const {
    if (__builtin_expect(place >= 0, 1)) return first_[place];
    return *reinterpret_cast<E*>(reinterpret_cast<byte*>(first_) + detail::offset_of(place));
  }

  E* first_ = nullptr;
  std::int64_t place_ = 0;
};

}  // namespace plait
