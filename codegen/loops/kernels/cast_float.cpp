// Casts from the floating-point dtypes, Float16 aside.
#include "codegen/loops/cast_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

using Complexes = Types<c64, c128>;

template <class From>
LoopFn from_real(DType to) {
  if (to == DType::Bool) return &cast_loop<From, bool>;
  if (is_complex(to)) return cast_to<From>(Complexes{}, to);
  if (is_float(to)) return cast_to<From>(Floats{}, to);
  // Narrow integers are cut off 32 bits, whatever their sign.
  using Distinct =
      Types<std::uint8_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
  return cast_to<From>(Distinct{}, itemsize(to) < 4 ? as_unsigned(to) : to);
}
// Integers take the real part, which a complex number begins with.
template <class From>
LoopFn from_complex(DType to) {
  if (to == DType::Bool) return &cast_loop<From, bool>;
  if (is_complex(to)) return cast_to<From>(Complexes{}, to);
  if (is_float(to)) return cast_to<From>(Floats{}, to);
  return from_real<decltype(From::re)>(to);
}

}  // namespace

LoopFn cast_from_float(DType from, DType to) {
  switch (from) {
    case DType::Float32:
      return from_real<f32>(to);
    case DType::Float64:
      return from_real<f64>(to);
    case DType::Complex64:
      return from_complex<c64>(to);
    case DType::Complex128:
      return from_complex<c128>(to);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
