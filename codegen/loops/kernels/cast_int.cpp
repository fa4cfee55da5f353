// Casts from Bool and the integers.
#include "codegen/loops/cast_loops.hpp"

namespace plait::loops::PLAIT_TIER {

LoopFn cast_from_integer(DType from, DType to) {
  switch (from) {
    case DType::Bool:
    case DType::UInt8:
      return cast_from<std::uint8_t>(to);
    case DType::Int8:
      return cast_from<std::int8_t>(to);
    case DType::Int16:
      return cast_from<std::int16_t>(to);
    case DType::UInt16:
      return cast_from<std::uint16_t>(to);
    case DType::Int32:
      return cast_from<std::int32_t>(to);
    case DType::UInt32:
      return cast_from<std::uint32_t>(to);
    case DType::Int64:
      return cast_from<std::int64_t>(to);
    case DType::UInt64:
      return cast_from<std::uint64_t>(to);
    default:
      return nullptr;
  }
}

LoopFn cast(DType from, DType to) {
  if (from == DType::Float16 && to == DType::Float16)
    return cast_from<std::uint16_t>(DType::UInt16);
  if (from == DType::Float16 || to == DType::Float16) return half_cast(from, to);
  const LoopFn fn = cast_from_integer(from, to);
  return fn ? fn : cast_from_float(from, to);
}

}  // namespace plait::loops::PLAIT_TIER
