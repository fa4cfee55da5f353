#include "dtype.hpp"

#include <array>

#include "plait/error.hpp"

namespace plait {
namespace {

constexpr std::string_view kNames[kDTypeCount] = {
    "bool",  "int8",   "uint8",   "int16",   "uint16",  "int32",     "uint32",
    "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"};
constexpr std::string_view kCodes = "?bBhHiIlLefdFD";

constexpr DType signed_of(std::size_t bytes) {
  return bytes == 1   ? DType::Int8
         : bytes == 2 ? DType::Int16
         : bytes == 4 ? DType::Int32
                      : DType::Int64;
}
// The narrowest float that NumPy takes as a safe home of an integer.
constexpr DType float_of(DType t) {
  if (is_float(t)) return t;
  if (t == DType::Bool || itemsize(t) == 1) return DType::Float16;
  return itemsize(t) == 2 ? DType::Float32 : DType::Float64;
}
constexpr DType real_of(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}

constexpr DType promote_rule(DType a, DType b) {
  if (a == b || b == DType::Bool) return a;
  if (a == DType::Bool) return b;
  if (is_complex(a) || is_complex(b)) {
    const DType r = promote_rule(real_of(a), real_of(b));
    // An integer beside a complex needs a float that holds it.
    return float_of(r) == DType::Float64 ? DType::Complex128 : DType::Complex64;
  }
  if (is_float(a) || is_float(b)) {
    const DType fa = float_of(a), fb = float_of(b);
    return fa > fb ? fa : fb;
  }
  if (kind(a) == kind(b)) return a > b ? a : b;
  const DType s = kind(a) == Kind::Signed ? a : b, u = kind(a) == Kind::Signed ? b : a;
  if (itemsize(u) < itemsize(s)) return s;
  return u == DType::UInt64 ? DType::Float64 : signed_of(2 * itemsize(u));
}

constexpr auto kPromote = [] {
  std::array<std::array<DType, kDTypeCount>, kDTypeCount> t{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      t[a][b] = promote_rule(static_cast<DType>(a), static_cast<DType>(b));
  return t;
}();

// NumPy's order of kinds for same_kind casts.
constexpr int kind_rank(DType t) {
  switch (kind(t)) {
    case Kind::Bool:
      return 0;
    case Kind::Unsigned:
      return 1;
    case Kind::Signed:
      return 2;
    case Kind::Float:
      return 3;
    case Kind::Complex:
      return 4;
  }
  return 0;
}

}  // namespace

std::string_view name(DType t) { return kNames[static_cast<int>(t)]; }
char code(DType t) { return kCodes[static_cast<std::size_t>(t)]; }

DType from_code(char c) {
  const auto at = kCodes.find(c);
  if (at == std::string_view::npos)
    throw InternalError(std::string("no native dtype has the code '") + c + "'");
  return static_cast<DType>(at);
}

DType promote(DType a, DType b) { return kPromote[static_cast<int>(a)][static_cast<int>(b)]; }

DType default_dtype(Weak weak) {
  switch (weak) {
    case Weak::Bool:
      return DType::Bool;
    case Weak::Int:
      return DType::Int64;
    case Weak::Float:
      return DType::Float64;
    case Weak::Complex:
      return DType::Complex128;
    case Weak::None:
      break;
  }
  throw InternalError("a strong operand has no default dtype");
}

DType promote_weak(DType strong, Weak weak) {
  switch (weak) {
    case Weak::None:
    case Weak::Bool:
      return strong;
    case Weak::Int:
      return strong == DType::Bool ? DType::Int64 : strong;
    case Weak::Float:
      return is_float(strong) || is_complex(strong) ? strong : DType::Float64;
    case Weak::Complex:
      if (is_complex(strong)) return strong;
      return strong == DType::Float16 || strong == DType::Float32 ? DType::Complex64
                                                                  : DType::Complex128;
  }
  return strong;
}

bool can_cast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::No:
    case Casting::Equiv:
      return from == to;
    case Casting::Safe:
      return promote(from, to) == to;
    case Casting::SameKind:
      return promote(from, to) == to || kind_rank(from) <= kind_rank(to);
    case Casting::Unsafe:
      return true;
  }
  return false;
}

}  // namespace plait
