// The values that folds start from.
#include <limits>

#include "half.hpp"
#include "op_table.hpp"
#include "scalar.hpp"

namespace plait {
namespace {

template <class T>
T extreme(bool largest) {
  using L = std::numeric_limits<T>;
  if constexpr (L::has_infinity) return largest ? L::infinity() : -L::infinity();
  return largest ? L::max() : L::min();
}

template <class T>
Scalar number(ReduceKind kind, DType t) {
  switch (kind) {
    case ReduceKind::Sum:
      return Scalar::of(t, std::numeric_limits<T>::is_integer ? T(0) : T(-0.0));
    case ReduceKind::Prod:
      return Scalar::of(t, T(1));
    case ReduceKind::Min:
    case ReduceKind::ArgMin:
      return Scalar::of(t, extreme<T>(true));
    case ReduceKind::Max:
    case ReduceKind::ArgMax:
      return Scalar::of(t, extreme<T>(false));
    case ReduceKind::FMin:
    case ReduceKind::FMax:
      if constexpr (std::numeric_limits<T>::has_quiet_NaN)
        return Scalar::of(t, std::numeric_limits<T>::quiet_NaN());
      return Scalar::of(t, extreme<T>(kind == ReduceKind::FMin));
    case ReduceKind::BitAnd:
      if constexpr (std::numeric_limits<T>::is_integer) return Scalar::of(t, T(~T(0)));
      break;
    default:
      break;
  }
  return Scalar::of(t, T(0));
}
template <class T>
Scalar complex_number(ReduceKind kind, DType t) {
  const T part = number<T>(kind, t).template as<T>();
  struct {
    T re, im;
  } z{part, kind == ReduceKind::Prod ? T(0) : part};
  return Scalar::of(t, z);
}

}  // namespace

Scalar fold_identity(ReduceKind kind, DType t) {
  if (kind == ReduceKind::Any) return Scalar::of(DType::Bool, std::uint8_t{0});
  if (kind == ReduceKind::All) return Scalar::of(DType::Bool, std::uint8_t{1});
  switch (t) {
    case DType::Bool: {
      const bool one = kind == ReduceKind::Prod || kind == ReduceKind::Min ||
                       kind == ReduceKind::FMin || kind == ReduceKind::ArgMin ||
                       kind == ReduceKind::BitAnd;
      return Scalar::of(t, std::uint8_t{one});
    }
    case DType::Int8:
      return number<std::int8_t>(kind, t);
    case DType::UInt8:
      return number<std::uint8_t>(kind, t);
    case DType::Int16:
      return number<std::int16_t>(kind, t);
    case DType::UInt16:
      return number<std::uint16_t>(kind, t);
    case DType::Int32:
      return number<std::int32_t>(kind, t);
    case DType::UInt32:
      return number<std::uint32_t>(kind, t);
    case DType::Int64:
      return number<std::int64_t>(kind, t);
    case DType::UInt64:
      return number<std::uint64_t>(kind, t);
    case DType::Float16: {
      // Float16 sums accumulate in Float32.
      if (kind == ReduceKind::Sum) return number<float>(kind, DType::Float32);
      return Scalar::of(t, float_to_half(number<float>(kind, t).as<float>()));
    }
    case DType::Float32:
      return number<float>(kind, t);
    case DType::Float64:
      return number<double>(kind, t);
    case DType::Complex64:
      return complex_number<float>(kind, t);
    case DType::Complex128:
      return complex_number<double>(kind, t);
    default:
      return {};  // nothing is folded in a narrow dtype
  }
}

}  // namespace plait
