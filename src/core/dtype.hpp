// The dtypes of elements (dtypes.def) and NEP 50 promotion.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait {

enum class DType : std::uint8_t {
#define PLAIT_DTYPE(id, ...) id,
#define PLAIT_NARROW_FLOAT(id, ...) id,
#define PLAIT_NARROW_INT(id, ...) id,
#include "plait/detail/dtypes.def"
};
// Those that NumPy has come first: its loops are for them. kDTypeCount counts all.
inline constexpr int kNumPyDTypes = 0
#define PLAIT_DTYPE(...) +1
#include "plait/detail/dtypes.def"
    ;
inline constexpr int kDTypeCount = kNumPyDTypes
#define PLAIT_NARROW_FLOAT(...) +1
#define PLAIT_NARROW_INT(...) +1
#include "plait/detail/dtypes.def"
    ;

// Python scalars and C++ arithmetic scalars are weak: they adapt to the other operand's dtype
// within their kind.
enum class Weak : std::uint8_t { None, Bool, Int, Float, Complex };

enum class Kind : std::uint8_t { Bool, Signed, Unsigned, Float, Complex };
enum class Casting : std::uint8_t { No, Equiv, Safe, SameKind, Unsafe };

// A row of dtypes.def.
struct DTypeInfo {
  std::string_view name;        // NumPy's, or ml_dtypes'
  std::string_view class_name;  // of NumPy's own, in numpy.dtypes
  char code;                    // NumPy's letter; ' ' where NumPy has none
  std::uint8_t bytes;
  Kind kind;
};
inline constexpr DTypeInfo kDTypeTable[kDTypeCount] = {
#define PLAIT_DTYPE(id, name, cls, code, bytes, kind) {name, cls, code, bytes, Kind::kind},
#define PLAIT_NARROW_FLOAT(id, name, bytes, ...) {#name, {}, ' ', bytes, Kind::Float},
#define PLAIT_NARROW_INT(id, name, bits, kind) {#name, {}, ' ', 1, Kind::kind},
#include "plait/detail/dtypes.def"
};
constexpr const DTypeInfo& dtype_info(DType t) { return kDTypeTable[static_cast<int>(t)]; }
constexpr std::size_t itemsize(DType t) { return dtype_info(t).bytes; }
constexpr Kind kind(DType t) { return dtype_info(t).kind; }
constexpr std::string_view name(DType t) { return dtype_info(t).name; }
constexpr char code(DType t) { return dtype_info(t).code; }
DType from_code(char c);  // throws InternalError for a letter that no dtype has
constexpr bool is_integer(DType t) { return kind(t) == Kind::Signed || kind(t) == Kind::Unsigned; }
constexpr bool is_float(DType t) { return kind(t) == Kind::Float; }
constexpr bool is_complex(DType t) { return kind(t) == Kind::Complex; }

// Those of ml_dtypes are for memory. What is computed of them is computed in another dtype, to
// which and from which they are converted.
constexpr bool is_narrow(DType t) { return static_cast<int>(t) >= kNumPyDTypes; }
constexpr DType computes_in(DType t) {
  if (!is_narrow(t)) return t;
  return is_float(t) ? DType::Float32 : kind(t) == Kind::Signed ? DType::Int8 : DType::UInt8;
}

// numpy.promote_types, or nothing where no dtype holds both; symmetric.
std::optional<DType> common_dtype(DType a, DType b);
// The same, for callers that need one: throws DTypeError in NumPy's words.
DType promote(DType a, DType b);
// The first of NumPy's own dtypes that both are cast to safely: what functions take that have no
// loop of the narrow ones.
DType numpys_dtype(DType a, DType b);
// NEP 50: what a weak scalar becomes beside a strong dtype (int beside Float32 -> Float32, float
// beside Int8 -> Float64 ...).
DType promote_weak(DType strong, Weak weak);
// NumPy's class of the dtype, as its messages write it: <class 'numpy.dtypes.Int8DType'>.
std::string dtype_class(DType t);
// numpy.can_cast(from, to, casting). A narrow float is no narrow integer, whatever NumPy says.
bool can_cast(DType from, DType to, Casting casting);
// The dtype a weak scalar has on its own: Bool, Int64, Float64, Complex128.
DType default_dtype(Weak weak);

}  // namespace plait
