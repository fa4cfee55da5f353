// The loop of one cast; the kernels cast_int and cast_float instantiate it.
#pragma once
#include "codegen/loops/convert.hpp"

namespace plait::loops::PLAIT_TIER {

template <class From, class To>
void cast_loop(Args args, Strides s, std::int64_t n) {
  unary<From, To>(args, s, n, [](From x) -> To {
    if constexpr (requires { x.re; }) {
      if constexpr (requires(To t) { t.re; })
        return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
      else if constexpr (std::is_same_v<To, bool>)
        return (x.re != 0) | (x.im != 0);
      else
        return convert<To>(x.re);
    } else if constexpr (requires(To t) { t.re; }) {
      return {convert<decltype(To::re)>(x), 0};
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != 0;
    } else {
      return convert<To>(x);
    }
  });
}

template <class From>
LoopFn cast_from(DType to) {
  // Integers of one width differ in nothing that truncation of an integer can see.
  if (std::is_integral_v<From>) to = to == DType::Bool ? to : as_unsigned(to);
  switch (to) {
    case DType::Bool:
      return &cast_loop<From, bool>;
    case DType::UInt8:
      return &cast_loop<From, std::uint8_t>;
    case DType::UInt16:
      return &cast_loop<From, std::uint16_t>;
    case DType::UInt32:
      return &cast_loop<From, std::uint32_t>;
    case DType::UInt64:
      return &cast_loop<From, std::uint64_t>;
    case DType::Float32:
      return &cast_loop<From, f32>;
    case DType::Float64:
      return &cast_loop<From, f64>;
    case DType::Complex64:
      return &cast_loop<From, c64>;
    case DType::Complex128:
      return &cast_loop<From, c128>;
    default:
      break;
  }
  if constexpr (!std::is_integral_v<From>) {
    switch (to) {
      case DType::Int8:
        return &cast_loop<From, std::int8_t>;
      case DType::Int16:
        return &cast_loop<From, std::int16_t>;
      case DType::Int32:
        return &cast_loop<From, std::int32_t>;
      case DType::Int64:
        return &cast_loop<From, std::int64_t>;
      default:
        break;
    }
  }
  return nullptr;
}

LoopFn cast_from_integer(DType from, DType to);
LoopFn cast_from_float(DType from, DType to);

}  // namespace plait::loops::PLAIT_TIER
