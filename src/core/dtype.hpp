// The 13 native dtypes, in NumPy's type-number order, and NEP 50 promotion.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plait {

enum class DType : std::uint8_t {
  Bool,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Float16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};
inline constexpr int kDTypeCount = 14;

// Python scalars and C++ arithmetic scalars are weak: they adapt to the other operand's dtype
// within their kind.
enum class Weak : std::uint8_t { None, Bool, Int, Float, Complex };

enum class Kind : std::uint8_t { Bool, Signed, Unsigned, Float, Complex };
enum class Casting : std::uint8_t { No, Equiv, Safe, SameKind, Unsafe };

constexpr std::size_t itemsize(DType t) {
  constexpr std::uint8_t sizes[kDTypeCount] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr Kind kind(DType t) {
  constexpr Kind kinds[kDTypeCount] = {Kind::Bool,     Kind::Signed, Kind::Unsigned, Kind::Signed,
                                       Kind::Unsigned, Kind::Signed, Kind::Unsigned, Kind::Signed,
                                       Kind::Unsigned, Kind::Float,  Kind::Float,    Kind::Float,
                                       Kind::Complex,  Kind::Complex};
  return kinds[static_cast<int>(t)];
}
constexpr bool is_integer(DType t) { return kind(t) == Kind::Signed || kind(t) == Kind::Unsigned; }
constexpr bool is_float(DType t) { return kind(t) == Kind::Float; }
constexpr bool is_complex(DType t) { return kind(t) == Kind::Complex; }

// NumPy's names: "bool", "int8", ... "complex128".
std::string_view name(DType t);
// NumPy's one-letter codes: "?bBhHiIlLefdFD" (the 64-bit integers are 'l' and 'L').
char code(DType t);
DType from_code(char c);  // throws InternalError for any other letter

// numpy.promote_types; symmetric, table driven.
DType promote(DType a, DType b);
// NEP 50: what a weak scalar becomes beside a strong dtype (int beside Float32 -> Float32, float
// beside Int8 -> Float64 ...).
DType promote_weak(DType strong, Weak weak);
// numpy.can_cast(from, to, casting).
bool can_cast(DType from, DType to, Casting casting);
// The dtype a weak scalar has on its own: Bool, Int64, Float64, Complex128.
DType default_dtype(Weak weak);

}  // namespace plait
