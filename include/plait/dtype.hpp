// The element types of arrays and their C++ types. Promotion (NEP 50) is in detail/promotion.hpp.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "plait/detail/promotion.hpp"

namespace plait {

namespace detail {
PLAIT_API std::uint16_t float_to_bits(float v, dtype t);
PLAIT_API float bits_to_float(std::uint16_t bits, dtype t);
}  // namespace detail

/// A float of one or two bytes as stored in memory. Arithmetic happens in arrays; a single value
/// converts, rounded to nearest even.
template <dtype D>
struct stored_float {
  using bits_type = std::conditional_t<detail::size_of(D) == 1, std::uint8_t, std::uint16_t>;
  bits_type bits = 0;
  stored_float() = default;
  explicit stored_float(float v) : bits(static_cast<bits_type>(detail::float_to_bits(v, D))) {}
  operator float() const { return detail::bits_to_float(bits, D); }
};
/// An integer of less than 8 bits as stored in memory: in the low bits of a byte whose other bits
/// are zero. A number that it cannot hold wraps.
template <dtype D>
struct stored_int {
  std::uint8_t bits = 0;
  stored_int() = default;
  template <class V, std::enable_if_t<
                         std::is_convertible_v<V, int> && !std::is_same_v<V, stored_int>, int> = 0>
  explicit constexpr stored_int(const V& v)
      : bits(static_cast<std::uint8_t>(static_cast<int>(v) & ((1 << detail::bits_of(D)) - 1))) {}
  constexpr operator int() const {
    constexpr int sign =
        detail::kind_of(D) == detail::kind::signed_int ? 1 << (detail::bits_of(D) - 1) : 0;
    return (bits ^ sign) - sign;
  }
};

/// numpy.float16. Those of ml_dtypes are named likewise: bfloat16, float8_e4m3fn, int4 ...
using float16 = stored_float<dtype::float16>;
#define PLAIT_NARROW_FLOAT(id, name, ...) using name = stored_float<dtype::name>;
#define PLAIT_NARROW_INT(id, name, ...) using name = stored_int<dtype::name>;
#include "plait/detail/dtypes.def"
/// numpy.complex64.
using complex64 = std::complex<float>;
/// numpy.complex128.
using complex128 = std::complex<double>;

namespace detail {

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
struct element<stored_float<D>> {
  static constexpr bool valid = true;
  static constexpr plait::dtype value = D;
};
template <dtype D>
struct element<stored_int<D>> : element<stored_float<D>> {};
template <dtype D>
struct type_of {
  using type = std::conditional_t<is_float(D), stored_float<D>, stored_int<D>>;
};
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
PLAIT_ELEMENT(float, float32)
PLAIT_ELEMENT(double, float64)
PLAIT_ELEMENT(std::complex<float>, complex64)
PLAIT_ELEMENT(std::complex<double>, complex128)
#undef PLAIT_ELEMENT

}  // namespace detail

/// Whether arrays can hold elements of a C++ type.
template <class T>
inline constexpr bool is_element_v = detail::element<T>::valid;
/// The dtype of a C++ element type.
template <class T>
inline constexpr dtype dtype_of_v = detail::element<T>::value;
/// The C++ element type of a dtype.
template <dtype D>
using element_t = typename detail::type_of<D>::type;
namespace detail {
// void: of arrays whose element type is known at run time only.
template <class T, class U, bool = std::is_void_v<T> || std::is_void_v<U>>
struct promoted_element {
  using type = void;
};
template <class T, class U>
struct promoted_element<T, U, false> {
  static constexpr std::optional<dtype> common = common_dtype(dtype_of_v<T>, dtype_of_v<U>);
  static_assert(common.has_value(),
                "plait: no dtype holds the values of both element types: convert one of the arrays "
                "with astype() (NumPy raises DTypePromotionError)");
  using type = element_t<common.value_or(dtype_of_v<T>)>;
};
}  // namespace detail
/// What an operation on two arrays of these elements computes in, where both have a common type.
template <class T, class U>
using promote_t = typename detail::promoted_element<T, U>::type;

/// The bytes of an element (numpy.dtype.itemsize).
constexpr int itemsize(dtype t) { return detail::size_of(t); }
/// NumPy's name of a dtype, or ml_dtypes': "bool", "int8" ...
PLAIT_API std::string to_string(dtype t);
/// The dtype of such a name. DTypeError for others.
PLAIT_API dtype to_dtype(const std::string& name);

}  // namespace plait
