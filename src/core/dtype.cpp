#include "dtype.hpp"

#include <array>
#include <utility>

#include "plait/error.hpp"

namespace plait {
namespace {

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

// Of two dtypes of NumPy's.
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
  std::array<std::array<DType, kNumPyDTypes>, kNumPyDTypes> t{};
  for (int a = 0; a < kNumPyDTypes; ++a)
    for (int b = 0; b < kNumPyDTypes; ++b)
      t[a][b] = promote_rule(static_cast<DType>(a), static_cast<DType>(b));
  return t;
}();
DType numpys(DType a, DType b) { return kPromote[static_cast<int>(a)][static_cast<int>(b)]; }

// To NumPy bfloat16 is a type like no other, and float8_e5m2 a float; the other narrow floats pass
// for each other.
bool stands_alone(DType t) { return t == DType::BFloat16 || t == DType::Float8E5M2; }

// What ml_dtypes and NumPy call a safe cast where one dtype at least is narrow.
bool narrow_safe(DType from, DType to) {
  if (!is_narrow(to)) {
    if (is_float(from)) return itemsize(to) >= 4 && (is_float(to) || is_complex(to));
    return is_float(to) || is_complex(to) || kind(to) == Kind::Signed || kind(to) == kind(from);
  }
  if (!is_narrow(from))
    return from == DType::Bool || (is_float(to) && is_integer(from) && itemsize(from) == 1);
  if (is_integer(to)) return kind(from) == kind(to) && from <= to;
  if (stands_alone(to)) return false;
  if (is_float(from)) return !stands_alone(from);
  const bool four_bits = from == DType::Int4 || from == DType::UInt4;
  return !(four_bits && to == DType::Float6E2M3FN);
}

bool safe(DType from, DType to) {
  if (from == to) return true;
  return is_narrow(from) || is_narrow(to) ? narrow_safe(from, to) : numpys(from, to) == to;
}

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

DType from_code(char c) {
  for (int t = 0; t < kNumPyDTypes; ++t)
    if (kDTypeTable[t].code == c) return static_cast<DType>(t);
  throw InternalError(std::string("no dtype has the code '") + c + "'");
}

std::string dtype_class(DType t) {
  if (is_narrow(t)) return "<class 'numpy.dtype[" + std::string(name(t)) + "]'>";
  return "<class 'numpy.dtypes." + std::string(dtype_info(t).class_name) + "DType'>";
}

std::optional<DType> common_dtype(DType a, DType b) {
  if (!is_narrow(a) && !is_narrow(b)) return numpys(a, b);
  if (a > b) std::swap(a, b);
  if (safe(b, a)) return a;
  if (safe(a, b)) return b;
  if (b == DType::Float8E5M2 && !is_narrow(a)) return numpys(a, DType::Float32);
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (const auto t = common_dtype(a, b)) return *t;
  const std::string x = dtype_class(a), y = dtype_class(b);
  throw DTypeError("The DType " + x + " could not be promoted by " + y +
                   ". This means that no common DType exists for the given inputs. For example "
                   "they cannot be stored in a single array unless the dtype is `object`. The full "
                   "list of DTypes is: (" +
                   x + ", " + y + ")");
}

DType numpys_dtype(DType a, DType b) {
  for (int i = 0; i < kNumPyDTypes; ++i)
    if (const auto t = static_cast<DType>(i); safe(a, t) && safe(b, t)) return t;
  return promote(a, b);
}

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
      if (is_narrow(strong) && is_integer(strong)) return DType::Int8;
      return strong == DType::Bool ? DType::Int64 : strong;
    case Weak::Float:
      if (is_narrow(strong)) return is_float(strong) ? DType::Float32 : DType::Float16;
      return is_float(strong) || is_complex(strong) ? strong : DType::Float64;
    case Weak::Complex:
      if (is_complex(strong)) return strong;
      return is_narrow(strong) || strong == DType::Float16 || strong == DType::Float32
                 ? DType::Complex64
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
      return safe(from, to);
    case Casting::SameKind:
      if (safe(from, to)) return true;
      if (is_narrow(to)) return !is_complex(from) || to != DType::Float8E5M2;
      if (is_narrow(from)) return from == DType::Float8E5M2 && to == DType::Float16;
      return kind_rank(from) <= kind_rank(to);
    case Casting::Unsafe:
      return true;
  }
  return false;
}

}  // namespace plait
