// One element of an array: read, and written through a reference.
#pragma once
#include "plait/detail/result_type.hpp"

// printf("%f", x(0)) would print anything but the element: GCC, unlike Clang, takes any class for
// what "..." stands for, unless it is told that this is an error.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic error "-Wconditionally-supported"
#endif

namespace plait {

template <class T>
class array;

namespace detail {

// A C++ value as an element of T. Throws OverflowError for an integer that T cannot hold.
template <class T, class V>
T element_value(const V& v) {
  if constexpr (std::is_same_v<T, V>) {
    return v;
  } else if constexpr (std::is_integral_v<T> && std::is_integral_v<V> && !std::is_same_v<T, bool>) {
    const T element = static_cast<T>(v);
    if (static_cast<V>(element) != v || (element < T(0)) != (v < V(0)))
      throw_out_of_bounds(std::to_string(v), dtype_of_v<T>);
    return element;
  } else if constexpr (is_integer(dtype_of_v<T>) && is_narrow(dtype_of_v<T>)) {
    const T element(v);
    if constexpr (std::is_integral_v<V> && !std::is_same_v<V, bool>) {
      const int number = element;
      if (static_cast<V>(number) != v || (number < 0) != (v < V(0)))
        throw_out_of_bounds(std::to_string(v), dtype_of_v<T>);
    }
    return element;
  } else if constexpr (std::is_class_v<T> && is_float(dtype_of_v<T>)) {
    return T(static_cast<float>(v));
  } else if constexpr (std::is_arithmetic_v<V> && kind_of(dtype_of_v<T>) == kind::complex) {
    return T(static_cast<typename T::value_type>(v));
  } else {
    return static_cast<T>(v);
  }
}

// One element: from its memory where that is known, else what the recorder says.
template <class T>
T read_element(const Handle& h, const std::int64_t* index, int n) {
  if (const void* p = peek(h, index, n)) return *static_cast<const T*>(p);
  return item(h, index, n).template as<T>();
}
template <class T>
void write_element(const Handle& h, const std::int64_t* index, int n, const T& v) {
  if (void* p = poke(h, index, n))
    *static_cast<T*>(p) = v;
  else
    set_item(h, index, n, Value::of(v));
}

}  // namespace detail

// What x(i, j) gives on a mutable array: reads as T, writes through.
template <class T>
class element_reference {
 public:
  template <class... I>
  explicit element_reference(detail::Handle h, I... index)
      : handle_(std::move(h)), size_(sizeof...(I)), index_{static_cast<std::int64_t>(index)...} {
    static_assert(sizeof...(I) <= 8, "plait: at most 8 indices; take a view first");
  }
  element_reference(const element_reference&) = default;
  operator T() const { return detail::read_element<T>(handle_, index_, size_); }
  const element_reference& operator=(const T& v) const {
    detail::write_element(handle_, index_, size_, v);
    return *this;
  }
  template <class V, std::enable_if_t<std::is_arithmetic_v<V> && !std::is_same_v<V, T>, int> = 0>
  const element_reference& operator=(const V& v) const {
    return *this = detail::element_value<T>(v);
  }
  const element_reference& operator=(const element_reference& o) const { return *this = T(o); }
  const element_reference& operator+=(const T& v) const { return *this = T(T(*this) + v); }
  const element_reference& operator-=(const T& v) const { return *this = T(T(*this) - v); }
  const element_reference& operator*=(const T& v) const { return *this = T(T(*this) * v); }
  const element_reference& operator/=(const T& v) const { return *this = T(T(*this) / v); }

 private:
  template <class>
  friend class array;
  element_reference(detail::Handle h, const extents& index)
      : handle_(std::move(h)), size_(index.size()), index_{} {
    if (size_ > 8) throw IndexError("plait: at most 8 indices; take a view first");
    for (int i = 0; i < size_; ++i) index_[i] = index.data()[i];
  }
  detail::Handle handle_;
  int size_;
  std::int64_t index_[8];
};

// Exchanges the elements.
template <class T>
void swap(const element_reference<T>& a, const element_reference<T>& b) {
  const T before = a;
  a = b;
  b = before;
}

namespace detail {
// As an operand, what it reads.
template <class T>
struct operand_traits<element_reference<T>> : operand_traits<T> {
  static Operand operand(const element_reference<T>& r) { return operand_traits<T>::operand(T(r)); }
};
}  // namespace detail

}  // namespace plait
