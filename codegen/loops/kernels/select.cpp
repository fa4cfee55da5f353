// where(condition, x, y) moves values, so that one loop a width serves every dtype.
#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <class T>
void where(Args args, Strides s, std::int64_t n) {
  ternary<std::uint8_t, T, T, T>(args, s, n,
                                 [](std::uint8_t c, T x, T y) { return c != 0 ? x : y; });
}

}  // namespace

LoopFn select_loop(OpId op, DType t) {
  if (op != OpId::Where) return nullptr;
  switch (itemsize(t)) {
    case 1:
      return &where<std::uint8_t>;
    case 2:
      return &where<std::uint16_t>;
    case 4:
      return &where<std::uint32_t>;
    case 8:
      return &where<std::uint64_t>;
    default:
      return &where<Complex<std::uint64_t>>;
  }
}

}  // namespace plait::loops::PLAIT_TIER
