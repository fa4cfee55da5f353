// Casts from Bool and the integers.
#include "codegen/loops/cast_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

using Inexact = Types<f32, f64, c64, c128>;

template <class From>
LoopFn from_unsigned(DType to) {
  if (to == DType::Bool) return &cast_loop<From, bool>;
  const LoopFn fn = cast_to<From>(Unsigneds{}, to);
  return fn ? fn : cast_to<From>(Inexact{}, to);
}

template <class From, class... Wider>
LoopFn from_signed(DType to) {
  const LoopFn fn = cast_to<From>(Types<Wider...>{}, to);
  return fn ? fn : cast_to<From>(Inexact{}, to);
}

}  // namespace

LoopFn cast_from_integer(DType from, DType to) {
  // Truncation looks at bits alone, and so does what is as wide; the sign matters to what is wider.
  if (!is_float(to) && !is_complex(to)) {
    if (to != DType::Bool) to = as_unsigned(to);
    if (itemsize(to) <= itemsize(from)) from = as_unsigned(from);
  }
  switch (from) {
    case DType::Bool:
    case DType::UInt8:
      return from_unsigned<std::uint8_t>(to);
    case DType::UInt16:
      return from_unsigned<std::uint16_t>(to);
    case DType::UInt32:
      return from_unsigned<std::uint32_t>(to);
    case DType::UInt64:
      return from_unsigned<std::uint64_t>(to);
    case DType::Int8:
      return from_signed<std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t>(to);
    case DType::Int16:
      return from_signed<std::int16_t, std::uint32_t, std::uint64_t>(to);
    case DType::Int32:
      return from_signed<std::int32_t, std::uint64_t>(to);
    case DType::Int64:
      return from_signed<std::int64_t>(to);
    default:
      return nullptr;
  }
}

LoopFn cast(DType from, DType to) {
  if (is_narrow(from) || is_narrow(to)) return narrow_cast(from, to);
  if (from == DType::Float16 && to == DType::Float16)
    return cast_from_integer(DType::UInt16, DType::UInt16);
  if (from == DType::Float16 || to == DType::Float16) return half_cast(from, to);
  return is_float(from) || is_complex(from) ? cast_from_float(from, to)
                                            : cast_from_integer(from, to);
}

}  // namespace plait::loops::PLAIT_TIER
