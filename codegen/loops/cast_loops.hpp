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

// The loop to the type in the list that `to` names.
template <class From, class... To>
LoopFn cast_to(Types<To...>, [[maybe_unused]] DType to) {
  LoopFn fn = nullptr;
  ((to == dtype_of<To>() ? void(fn = &cast_loop<From, To>) : void()), ...);
  return fn;
}

LoopFn cast_from_integer(DType from, DType to);
LoopFn cast_from_float(DType from, DType to);

}  // namespace plait::loops::PLAIT_TIER
