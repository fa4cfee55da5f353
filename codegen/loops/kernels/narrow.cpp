// Casts between the narrow dtypes and what is computed in.
#include "core/narrow.hpp"

#include "codegen/loops/drivers.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

template <DType t>
LoopFn widening() {
  if constexpr (is_float(t)) {
    using Bits = std::conditional_t<itemsize(t) == 2, std::uint16_t, std::uint8_t>;
    return [](Args args, Strides s, std::int64_t n) {
      unary<Bits, f32>(args, s, n, [](Bits b) -> f32 { return from_narrow<t>(b); });
    };
  } else {
    return [](Args args, Strides s, std::int64_t n) {
      unary<std::uint8_t, std::uint8_t>(args, s, n,
                                        [](std::uint8_t b) { return from_narrow_int<t>(b); });
    };
  }
}

template <DType t>
LoopFn narrowing() {
  if constexpr (is_float(t)) {
    using Bits = std::conditional_t<itemsize(t) == 2, std::uint16_t, std::uint8_t>;
    return [](Args args, Strides s, std::int64_t n) {
      unary<f32, Bits>(args, s, n, [](f32 v) { return static_cast<Bits>(to_narrow<t>(v)); });
    };
  } else {
    return [](Args args, Strides s, std::int64_t n) {
      unary<std::uint8_t, std::uint8_t>(args, s, n,
                                        [](std::uint8_t v) { return to_narrow_int<t>(v); });
    };
  }
}

}  // namespace

LoopFn narrow_cast(DType from, DType to) {
  if (from == to) {
    const DType bits = itemsize(from) == 2 ? DType::UInt16 : DType::UInt8;
    return cast(bits, bits);
  }
  if (is_narrow(to))
    return from == computes_in(to) ? dispatch_narrow(to, []<DType t>() { return narrowing<t>(); })
                                   : nullptr;
  return to == computes_in(from) ? dispatch_narrow(from, []<DType t>() { return widening<t>(); })
                                 : nullptr;
}

}  // namespace plait::loops::PLAIT_TIER
