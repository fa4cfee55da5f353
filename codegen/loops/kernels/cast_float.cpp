// Casts from the floating-point dtypes, Float16 aside.
#include "codegen/loops/cast_loops.hpp"

namespace plait::loops::PLAIT_TIER {

LoopFn cast_from_float(DType from, DType to) {
  switch (from) {
    case DType::Float32:
      return cast_from<f32>(to);
    case DType::Float64:
      return cast_from<f64>(to);
    case DType::Complex64:
      return cast_from<c64>(to);
    case DType::Complex128:
      return cast_from<c128>(to);
    default:
      return nullptr;
  }
}

}  // namespace plait::loops::PLAIT_TIER
