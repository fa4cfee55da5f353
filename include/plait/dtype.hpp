// The 14 element types, their C++ types, and NEP 50 promotion at compile time. The same rules stand
// in the core's table; tests/unit/facade compares the two for every pair.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "plait/export.hpp"

namespace plait {

// In NumPy's type-number order.
enum class dtype : std::uint8_t {
  bool_,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  complex64,
  complex128,
};
inline constexpr int kDTypes = 14;

// IEEE binary16 as stored in memory. Arithmetic happens in arrays; a single value converts.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  explicit float16(float v) : bits(from_float(v)) {}
  operator float() const { return to_float(bits); }

 private:
  PLAIT_API static std::uint16_t from_float(float v);
  PLAIT_API static float to_float(std::uint16_t bits);
};

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

namespace detail {

enum class kind : std::uint8_t { boolean, unsigned_int, signed_int, floating, complex };
// C++ arithmetic scalars are weak: they take the dtype of the array beside them within their kind.
enum class weak : std::uint8_t { none, boolean, integer, floating, complex };

constexpr kind kind_of(dtype t) {
  if (t == dtype::bool_) return kind::boolean;
  if (t <= dtype::uint64) return static_cast<int>(t) % 2 ? kind::signed_int : kind::unsigned_int;
  return t <= dtype::float64 ? kind::floating : kind::complex;
}
constexpr int size_of(dtype t) {
  constexpr int sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr bool is_integer(dtype t) {
  return kind_of(t) == kind::signed_int || kind_of(t) == kind::unsigned_int;
}
constexpr dtype wider(dtype a, dtype b) { return size_of(a) >= size_of(b) ? a : b; }
// The smallest float that NumPy lets an integer or bool of this size become.
constexpr dtype float_for(dtype t) {
  if (kind_of(t) == kind::floating) return t;
  return size_of(t) == 1 ? dtype::float16 : size_of(t) == 2 ? dtype::float32 : dtype::float64;
}
constexpr dtype real_of(dtype t) {
  return t == dtype::complex64 ? dtype::float32 : t == dtype::complex128 ? dtype::float64 : t;
}
constexpr dtype complex_for(dtype t) {
  if (kind_of(t) == kind::complex) return t;
  return float_for(t) == dtype::float64 ? dtype::complex128 : dtype::complex64;
}
constexpr dtype promote_integers(dtype a, dtype b) {
  if (kind_of(a) == kind_of(b)) return wider(a, b);
  const dtype s = kind_of(a) == kind::signed_int ? a : b, u = s == a ? b : a;
  if (size_of(s) > size_of(u)) return s;
  // No signed type holds every uint64.
  return u == dtype::uint64 ? dtype::float64 : static_cast<dtype>(static_cast<int>(u) + 1);
}

}  // namespace detail

// numpy.promote_types.
constexpr dtype promote(dtype a, dtype b) {
  using detail::kind;
  const kind ka = detail::kind_of(a), kb = detail::kind_of(b);
  if (a == b || kb == kind::boolean) return a;
  if (ka == kind::boolean) return b;
  if (ka == kind::complex || kb == kind::complex)
    return detail::wider(detail::complex_for(a), detail::complex_for(b));
  if (ka == kind::floating || kb == kind::floating)
    return detail::wider(detail::float_for(a), detail::float_for(b));
  return detail::promote_integers(a, b);
}

namespace detail {

constexpr bool can_cast_safely(dtype from, dtype to) { return promote(from, to) == to; }
// numpy.can_cast(from, to, 'same_kind').
constexpr bool can_cast_same_kind(dtype from, dtype to) {
  return can_cast_safely(from, to) || kind_of(from) <= kind_of(to);
}
constexpr dtype default_dtype(weak w) {
  return w == weak::boolean    ? dtype::bool_
         : w == weak::integer  ? dtype::int64
         : w == weak::floating ? dtype::float64
                               : dtype::complex128;
}
// What a weak scalar becomes beside an array of dtype `strong`.
constexpr dtype promote_weak(dtype strong, weak w) {
  const kind k = kind_of(strong);
  if (w == weak::none || w == weak::boolean) return strong;
  if (w == weak::integer) return k == kind::boolean ? dtype::int64 : strong;
  if (w == weak::floating) return k >= kind::floating ? strong : dtype::float64;
  return k == kind::complex                                ? strong
         : k == kind::floating && strong != dtype::float64 ? dtype::complex64
                                                           : dtype::complex128;
}

struct no_element {
  static constexpr bool valid = false;
};
// C++ has more integer types than there are sizes: `long`, `long long` and `char` name elements,
// too, whichever of them the sized types are.
template <class T>
struct integer_element {
  static constexpr bool valid = true;
  static constexpr plait::dtype value =
      sizeof(T) == 8        ? std::is_signed_v<T> ? dtype::int64 : dtype::uint64
      : sizeof(T) == 4      ? std::is_signed_v<T> ? dtype::int32 : dtype::uint32
      : std::is_signed_v<T> ? dtype::int8
                            : dtype::uint8;
};
template <class T>
struct element
    : std::conditional_t<std::is_same_v<T, char> || std::is_same_v<T, long> ||
                             std::is_same_v<T, unsigned long> || std::is_same_v<T, long long> ||
                             std::is_same_v<T, unsigned long long>,
                         integer_element<T>, no_element> {};
template <dtype D>
struct type_of;
#define PLAIT_ELEMENT(cpp, id)                       \
  template <>                                        \
  struct element<cpp> {                              \
    static constexpr bool valid = true;              \
    static constexpr plait::dtype value = dtype::id; \
  };                                                 \
  template <>                                        \
  struct type_of<dtype::id> {                        \
    using type = cpp;                                \
  };
PLAIT_ELEMENT(bool, bool_)
PLAIT_ELEMENT(std::int8_t, int8)
PLAIT_ELEMENT(std::uint8_t, uint8)
PLAIT_ELEMENT(std::int16_t, int16)
PLAIT_ELEMENT(std::uint16_t, uint16)
PLAIT_ELEMENT(std::int32_t, int32)
PLAIT_ELEMENT(std::uint32_t, uint32)
PLAIT_ELEMENT(std::int64_t, int64)
PLAIT_ELEMENT(std::uint64_t, uint64)
PLAIT_ELEMENT(plait::float16, float16)
PLAIT_ELEMENT(float, float32)
PLAIT_ELEMENT(double, float64)
PLAIT_ELEMENT(std::complex<float>, complex64)
PLAIT_ELEMENT(std::complex<double>, complex128)
#undef PLAIT_ELEMENT

}  // namespace detail

// The dtype of a C++ element type; false for types that arrays cannot hold.
template <class T>
inline constexpr bool is_element_v = detail::element<T>::valid;
template <class T>
inline constexpr dtype dtype_of_v = detail::element<T>::value;
// The C++ element type of a dtype.
template <dtype D>
using element_t = typename detail::type_of<D>::type;
namespace detail {
// void: of arrays whose element type is known at run time only.
template <class T, class U>
struct promoted_element {
  using type = element_t<promote(dtype_of_v<T>, dtype_of_v<U>)>;
};
template <class U>
struct promoted_element<void, U> {
  using type = void;
};
template <class T>
struct promoted_element<T, void> {
  using type = void;
};
template <>
struct promoted_element<void, void> {
  using type = void;
};
}  // namespace detail
// What an operation on two arrays of these elements computes in.
template <class T, class U>
using promote_t = typename detail::promoted_element<T, U>::type;

constexpr int itemsize(dtype t) { return detail::size_of(t); }
// NumPy's names: "bool", "int8" ... to_dtype() throws DTypeError for others.
PLAIT_API std::string to_string(dtype t);
PLAIT_API dtype to_dtype(const std::string& name);

}  // namespace plait
