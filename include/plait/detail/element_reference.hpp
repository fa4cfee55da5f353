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

// Whether elements of an array<V> may be stored as T: complex numbers are not real ones.
template <class T, class V>
constexpr bool is_storable =
    kind_of(dtype_of_v<T>) == kind::complex || kind_of(dtype_of_v<V>) != kind::complex;
template <class T>
constexpr bool is_storable<T, void> = true;

// What stands for the index of an element: integers, and arrays of one.
template <class... I>
constexpr void check_indices() {
  static_assert((std::is_constructible_v<std::int64_t, I> && ...),
                "plait: an element takes integers; view(a, ...) takes range(), all() and arrays");
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

// Arithmetic of complex numbers is templates, which take no class that converts to one.
template <class R, class T>
struct reference_arithmetic {};
template <class R, class U>
struct reference_arithmetic<R, std::complex<U>> {
  U real() const { return static_cast<const R&>(*this).value().real(); }
  U imag() const { return static_cast<const R&>(*this).value().imag(); }
#define PLAIT_ARITHMETIC(op)                                                               \
  friend auto operator op(const R& a, const R& b) { return a.value() op b.value(); }       \
  friend auto operator op(const R& a, const std::complex<U>& b) { return a.value() op b; } \
  friend auto operator op(const std::complex<U>& a, const R& b) { return a op b.value(); }
  PLAIT_ARITHMETIC(+)
  PLAIT_ARITHMETIC(-)
  PLAIT_ARITHMETIC(*)
  PLAIT_ARITHMETIC(/)
  PLAIT_ARITHMETIC(==)
  PLAIT_ARITHMETIC(!=)
#undef PLAIT_ARITHMETIC
};

}  // namespace detail

/// What x(i, j) gives on a mutable array: reads as T, writes through. Like the reference that a
/// std::vector gives, it is good as long as the variable x is; value() is the element by itself. Of
/// a temporary view it keeps the elements.
template <class T>
class [[nodiscard]] element_reference
    : public detail::reference_arithmetic<element_reference<T>, T> {
 public:
  template <class... I>
  explicit element_reference(const detail::Handle& array, I... index)
      : array_(&array), size_(sizeof...(I)), index_{static_cast<std::int64_t>(index)...} {
    detail::check_indices<I...>();
    static_assert(sizeof...(I) <= 8, "plait: at most 8 indices; take a view first");
    detail::check_element(array, size_);
  }
  template <class... I>
  explicit element_reference(detail::Handle&& array, I... index)
      : owner_(std::move(array)), size_(sizeof...(I)), index_{static_cast<std::int64_t>(index)...} {
    static_assert(sizeof...(I) <= 8, "plait: at most 8 indices; take a view first");
    detail::check_element(owner_, size_);
  }
  element_reference(const element_reference&) = default;
  /// The element by itself.
  T value() const { return detail::read_element<T>(handle(), index_, size_); }
  operator T() const { return value(); }
  const element_reference& operator=(const T& v) const {
    detail::write_element(handle(), index_, size_, v);
    return *this;
  }
  template <class V, std::enable_if_t<std::is_arithmetic_v<V> && !std::is_same_v<V, T>, int> = 0>
  const element_reference& operator=(const V& v) const {
    return *this = detail::element_value<T>(v);
  }
  const element_reference& operator=(const element_reference& o) const { return *this = T(o); }
  template <class V, std::enable_if_t<detail::is_storable<T, V> && !std::is_same_v<V, T>, int> = 0>
  const element_reference& operator=(const element_reference<V>& o) const {
    return *this = detail::element_value<T>(o.value());
  }
  /// The element of an array of no axes: x(i) = mean(y). ValueError of others.
  template <class V, std::enable_if_t<detail::is_storable<T, V>, int> = 0>
  const element_reference& operator=(const array<V>& v) const {
    return *this = element_of(v);
  }
  const element_reference& operator+=(const T& v) const { return *this = T(value() + v); }
  template <class V, std::enable_if_t<detail::is_storable<T, V>, int> = 0>
  const element_reference& operator+=(const array<V>& v) const {
    return *this += element_of(v);
  }
  const element_reference& operator-=(const T& v) const { return *this = T(value() - v); }
  template <class V, std::enable_if_t<detail::is_storable<T, V>, int> = 0>
  const element_reference& operator-=(const array<V>& v) const {
    return *this -= element_of(v);
  }
  const element_reference& operator*=(const T& v) const { return *this = T(value() * v); }
  template <class V, std::enable_if_t<detail::is_storable<T, V>, int> = 0>
  const element_reference& operator*=(const array<V>& v) const {
    return *this *= element_of(v);
  }
  const element_reference& operator/=(const T& v) const { return *this = T(value() / v); }
  template <class V, std::enable_if_t<detail::is_storable<T, V>, int> = 0>
  const element_reference& operator/=(const array<V>& v) const {
    return *this /= element_of(v);
  }
#define PLAIT_IN_PLACE(op)                                                 \
  template <class U = T, std::enable_if_t<std::is_integral_v<U>, int> = 0> \
  const element_reference& operator op##=(const T & v) const {             \
    return *this = static_cast<T>(value() op v);                           \
  }
  PLAIT_IN_PLACE(%)
  PLAIT_IN_PLACE(&)
  PLAIT_IN_PLACE(|)
  PLAIT_IN_PLACE(^)
  PLAIT_IN_PLACE(<<)
  PLAIT_IN_PLACE(>>)
#undef PLAIT_IN_PLACE
  const element_reference& operator++() const { return *this = T(value() + T(1)); }
  const element_reference& operator--() const { return *this = T(value() - T(1)); }
  T operator++(int) const {
    const T before = value();
    *this = T(before + T(1));
    return before;
  }
  T operator--(int) const {
    const T before = value();
    *this = T(before - T(1));
    return before;
  }

 private:
  template <class>
  friend class array;
  element_reference(const detail::Handle& array, const extents& index)
      : array_(&array), size_(index.size()), index_{} {
    detail::check_element(array, size_);
    if (size_ > 8) throw IndexError("plait: at most 8 indices; take a view first");
    for (int i = 0; i < size_; ++i) index_[i] = index.data()[i];
  }
  const detail::Handle& handle() const { return owner_ ? owner_ : *array_; }
  template <class V>
  static T element_of(const array<V>& v) {
    if (v.ndim() != 0) throw ValueError("setting an array element with a sequence.");
    if constexpr (std::is_void_v<V>)
      return v.template item<T>();
    else
      return detail::element_value<T>(v.item());
  }

  const detail::Handle* array_ = nullptr;
  detail::Handle owner_;
  int size_;
  std::int64_t index_[8];
};

/// Exchanges the elements.
template <class T>
void swap(const element_reference<T>& a, const element_reference<T>& b) {
  const T before = a.value();
  a = b;
  b = before;
}

namespace detail {
// As an operand, what it reads.
template <class T>
struct operand_traits<element_reference<T>> : operand_traits<T> {
  static Operand operand(const element_reference<T>& r) {
    return operand_traits<T>::operand(r.value());
  }
};
}  // namespace detail

}  // namespace plait
