// The dtypes (dtypes.def), which of them cast safely to which, and NEP 50 promotion. The templates
// read these rules when they are compiled, the core when it records: there is no second statement
// of them.
#pragma once
#include <cstdint>
#include <optional>

#include "plait/export.hpp"

namespace plait {

/// The element types: those that NumPy has, in its type-number order, and behind them those of
/// ml_dtypes.
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
#define PLAIT_NARROW_FLOAT(id, name, ...) name,
#define PLAIT_NARROW_INT(id, name, ...) name,
#include "plait/detail/dtypes.def"
};
/// How many dtypes there are.
inline constexpr int kDTypes = 0
#define PLAIT_DTYPE(...) +1
#define PLAIT_NARROW_FLOAT(...) +1
#define PLAIT_NARROW_INT(...) +1
#include "plait/detail/dtypes.def"
    ;

namespace detail {

// In NumPy's order for casts of the same kind.
enum class kind : std::uint8_t { boolean, unsigned_int, signed_int, floating, complex };
// C++ arithmetic scalars are weak: they take the dtype of the array beside them within their kind.
enum class weak : std::uint8_t { none, boolean, integer, floating, complex };

namespace rows {
inline constexpr kind Bool = kind::boolean, Unsigned = kind::unsigned_int,
                      Signed = kind::signed_int, Float = kind::floating, Complex = kind::complex;
struct row {
  kind of;
  int bytes, bits;
  char code;  // NumPy's letter
};
inline constexpr row table[] = {
#define PLAIT_DTYPE(id, name, cls, code, bytes, kind) {kind, bytes, 8 * bytes, code},
#define PLAIT_NARROW_FLOAT(id, name, bytes, ...) {Float, bytes, 8 * bytes, ' '},
#define PLAIT_NARROW_INT(id, name, bits, kind) {kind, 1, bits, ' '},
#include "plait/detail/dtypes.def"
};
}  // namespace rows

constexpr kind kind_of(dtype t) { return rows::table[static_cast<int>(t)].of; }
constexpr int size_of(dtype t) { return rows::table[static_cast<int>(t)].bytes; }
constexpr int bits_of(dtype t) { return rows::table[static_cast<int>(t)].bits; }
constexpr bool is_integer(dtype t) {
  return kind_of(t) == kind::signed_int || kind_of(t) == kind::unsigned_int;
}
constexpr bool is_float(dtype t) { return kind_of(t) == kind::floating; }
constexpr bool is_complex(dtype t) { return kind_of(t) == kind::complex; }
// Of ml_dtypes: for memory; computed in another.
constexpr bool is_narrow(dtype t) { return t > dtype::complex128; }
constexpr dtype computes_in(dtype t) {
  if (!is_narrow(t)) return t;
  if (is_float(t)) return dtype::float32;
  return kind_of(t) == kind::signed_int ? dtype::int8 : dtype::uint8;
}

constexpr dtype wider(dtype a, dtype b) { return size_of(a) >= size_of(b) ? a : b; }
// The smallest float that NumPy lets an integer or bool of this size become.
constexpr dtype float_for(dtype t) {
  if (is_float(t)) return t;
  return size_of(t) == 1 ? dtype::float16 : size_of(t) == 2 ? dtype::float32 : dtype::float64;
}
constexpr dtype real_of(dtype t) {
  return t == dtype::complex64 ? dtype::float32 : t == dtype::complex128 ? dtype::float64 : t;
}
constexpr dtype complex_for(dtype t) {
  if (is_complex(t)) return t;
  return float_for(t) == dtype::float64 ? dtype::complex128 : dtype::complex64;
}

// Of two dtypes of NumPy's.
constexpr dtype promote_numpys(dtype a, dtype b) {
  if (a == b || b == dtype::bool_) return a;
  if (a == dtype::bool_) return b;
  if (is_complex(a) || is_complex(b)) return wider(complex_for(a), complex_for(b));
  if (is_float(a) || is_float(b)) return wider(float_for(a), float_for(b));
  if (kind_of(a) == kind_of(b)) return wider(a, b);
  const dtype s = kind_of(a) == kind::signed_int ? a : b, u = s == a ? b : a;
  if (size_of(s) > size_of(u)) return s;
  // No signed type holds every uint64.
  return u == dtype::uint64 ? dtype::float64 : static_cast<dtype>(static_cast<int>(u) + 1);
}

// To NumPy bfloat16 is a type like no other, and float8_e5m2 a float; the other narrow floats pass
// for each other.
constexpr bool stands_alone(dtype t) { return t == dtype::bfloat16 || t == dtype::float8_e5m2; }
// What ml_dtypes and NumPy call a safe cast where one dtype at least is narrow.
constexpr bool is_safe_narrow(dtype from, dtype to) {
  if (!is_narrow(to)) {
    if (is_float(from)) return size_of(to) >= 4 && (is_float(to) || is_complex(to));
    return is_float(to) || is_complex(to) || kind_of(to) == kind::signed_int ||
           kind_of(to) == kind_of(from);
  }
  if (!is_narrow(from))
    return from == dtype::bool_ || (is_float(to) && is_integer(from) && size_of(from) == 1);
  if (is_integer(to)) return kind_of(from) == kind_of(to) && from <= to;
  if (stands_alone(to)) return false;
  if (is_float(from)) return !stands_alone(from);
  return !(bits_of(from) == 4 && to == dtype::float6_e2m3fn);
}

// Sets of dtypes: a bit each.
using dtype_set = std::uint32_t;
static_assert(kDTypes <= 32);
constexpr dtype_set set_of(dtype t) { return dtype_set{1} << static_cast<int>(t); }
struct safe_casts {
  dtype_set to[kDTypes];
};
inline constexpr safe_casts kSafeCasts = [] {
  safe_casts all{};
  for (int i = 0; i < kDTypes; ++i)
    for (int j = 0; j < kDTypes; ++j) {
      const auto from = static_cast<dtype>(i), to = static_cast<dtype>(j);
      const bool safe = is_narrow(from) || is_narrow(to) ? from == to || is_safe_narrow(from, to)
                                                         : promote_numpys(from, to) == to;
      if (safe) all.to[i] |= set_of(to);
    }
  return all;
}();
constexpr dtype_set safe_targets(dtype from) { return kSafeCasts.to[static_cast<int>(from)]; }
constexpr bool can_cast_safely(dtype from, dtype to) {
  return (safe_targets(from) & set_of(to)) != 0;
}
// numpy.can_cast(from, to, 'same_kind'); ml_dtypes takes almost anything.
constexpr bool can_cast_same_kind(dtype from, dtype to) {
  if (can_cast_safely(from, to)) return true;
  if (is_narrow(to)) return !is_complex(from) || to != dtype::float8_e5m2;
  if (is_narrow(from)) return from == dtype::float8_e5m2 && to == dtype::float16;
  return kind_of(from) <= kind_of(to);
}

// numpy.promote_types, or nothing where no dtype holds both; symmetric.
constexpr std::optional<dtype> common_dtype(dtype a, dtype b) {
  if (!is_narrow(a) && !is_narrow(b)) return promote_numpys(a, b);
  const dtype first = a < b ? a : b, second = a < b ? b : a;
  if (can_cast_safely(second, first)) return first;
  if (can_cast_safely(first, second)) return second;
  if (second == dtype::float8_e5m2 && !is_narrow(first))
    return promote_numpys(first, dtype::float32);
  return std::nullopt;
}
constexpr dtype first_of(dtype_set s) { return static_cast<dtype>(__builtin_ctz(s)); }
// The first of NumPy's own dtypes that both are cast to safely: what functions take that have no
// loop of the narrow ones.
constexpr dtype numpys_dtype(dtype a, dtype b) {
  return first_of(safe_targets(a) & safe_targets(b));
}

constexpr dtype default_dtype(weak w) {
  return w == weak::boolean    ? dtype::bool_
         : w == weak::integer  ? dtype::int64
         : w == weak::floating ? dtype::float64
                               : dtype::complex128;
}
// NEP 50: what a weak scalar becomes beside an array of dtype `strong`.
constexpr dtype promote_weak(dtype strong, weak w) {
  const bool narrow = is_narrow(strong);
  switch (w) {
    case weak::none:
    case weak::boolean:
      break;
    case weak::integer:
      if (narrow && is_integer(strong)) return dtype::int8;
      return strong == dtype::bool_ ? dtype::int64 : strong;
    case weak::floating:
      if (narrow) return is_float(strong) ? dtype::float32 : dtype::float16;
      return is_float(strong) || is_complex(strong) ? strong : dtype::float64;
    case weak::complex:
      if (is_complex(strong)) return strong;
      return narrow || strong == dtype::float16 || strong == dtype::float32 ? dtype::complex64
                                                                            : dtype::complex128;
  }
  return strong;
}

[[noreturn]] PLAIT_API void throw_no_common(dtype a, dtype b);

}  // namespace detail

/// The dtype that holds the values of both (numpy.promote_types). DTypeError where there is none,
/// as of bfloat16 and a float8.
constexpr dtype promote(dtype a, dtype b) {
  const std::optional<dtype> t = detail::common_dtype(a, b);
  if (!t) detail::throw_no_common(a, b);
  return *t;
}
/// The dtype that holds the values of all (numpy.result_type). DTypeError where there is none.
template <class... D>
constexpr dtype result_type(dtype first, D... others) {
  ((first = promote(first, others)), ...);
  return first;
}

/// What a cast may do: keep the dtype; keep every value; stay among the numbers of one kind, or go
/// to a greater one; anything.
enum class casting { no, safe, same_kind, unsafe };
/// Whether elements of `from` may become those of `to` (numpy.can_cast).
constexpr bool can_cast(dtype from, dtype to, casting how = casting::safe) {
  switch (how) {
    case casting::no:
      return from == to;
    case casting::safe:
      return detail::can_cast_safely(from, to);
    case casting::same_kind:
      return detail::can_cast_same_kind(from, to);
    case casting::unsafe:
      break;
  }
  return true;
}

}  // namespace plait
