// Array loops and register entry points around the vector functions. A function is a struct with
// f(vd[, vd]); float32 goes through it in float64, through that of Op::Float where there is one,
// unless the struct has an f(vf, special) of its own, which says which lanes mend() has to compute.
// What fills the last vector up is an element of the array, so that it raises no flag of its own.
#pragma once
#include <cstring>

#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

PLAIT_INLINE vd widen(vf_half x) { return __builtin_convertvector(x, vd); }
PLAIT_INLINE vf_half narrow(vd x) { return __builtin_convertvector(x, vf_half); }

// The lanes of `mask`, computed by Op::Float.
template <class Op>
PLAIT_COLD void patch_halves(vf& result, const vi& mask, const vf& x) {
  const vf lanes = mask ? x : vf{};
  vf_half parts[2];
  std::memcpy(parts, &lanes, sizeof lanes);
  for (vf_half& part : parts) part = narrow(Op::Float::f(widen(part)));
  vf computed;
  std::memcpy(&computed, parts, sizeof computed);
  result = mask ? computed : result;
}

// How elements of T travel through Op: V in memory, `lanes` a step.
template <class Op, class T>
struct Path;
template <class Op>
struct Path<Op, f64> {
  static constexpr bool kOwn = false;
  using V = vd;
  static constexpr int lanes = kLanes;
  template <class... A>
  static PLAIT_INLINE vd f(A... a) {
    return Op::f(a...);
  }
};
template <class Op>
struct Path<Op, f32> {
  static constexpr bool kOwn = requires(vf x, vi special) { Op::f(x, special); };
  using V = std::conditional_t<kOwn, vf, vf_half>;
  static constexpr int lanes = kOwn ? kFloatLanes : kLanes;
  template <class... A>
  static PLAIT_INLINE V f(A... a) {
    if constexpr (kOwn)
      return mended(a...);
    else if constexpr (requires { typename Op::Float; })
      return narrow(Op::Float::f(widen(a)...));
    else
      return narrow(Op::f(widen(a)...));
  }
  static PLAIT_INLINE V mended(V x) {
    vi special{};
    V r = Op::f(x, special);
    if (any(special)) [[unlikely]]
      Op::mend(r, special, x);
    return r;
  }
  // Chains of dependences beside each other: one alone leaves most of a core idle.
  static PLAIT_INLINE void pair(V& x, V& y) {
    vi special_x{}, special_y{};
    V r = Op::f(x, special_x), s = Op::f(y, special_y);
    if (any(special_x | special_y)) [[unlikely]] {
      Op::mend(r, special_x, x);
      Op::mend(s, special_y, y);
    }
    x = r, y = s;
  }
};

template <class Op, class T>
void vector_unary(Args args, Strides s, std::int64_t n) {
  using P = Path<Op, T>;
  using V = typename P::V;
  auto* in = static_cast<const char*>(args[0]);
  auto* out = static_cast<char*>(args[1]);
  std::int64_t i = 0;
  if (s[0] == sizeof(T) && s[1] == sizeof(T)) {
    if constexpr (P::kOwn)
      for (; i + 2 * P::lanes <= n; i += 2 * P::lanes) {
        V x = load<V>(in + i * sizeof(T)), y = load<V>(in + (i + P::lanes) * sizeof(T));
        P::pair(x, y);
        store<V>(out + i * sizeof(T), x);
        store<V>(out + (i + P::lanes) * sizeof(T), y);
      }
    for (; i + P::lanes <= n; i += P::lanes) {
      const V x = load<V>(in + i * sizeof(T));
      store<V>(out + i * sizeof(T), P::f(x));
    }
  }
  for (; i < n; i += P::lanes) {
    const std::int64_t count = n - i < P::lanes ? n - i : P::lanes;
    V x;
    for (int k = 0; k < P::lanes; ++k) x[k] = load<T>(in + (i + (k < count ? k : 0)) * s[0]);
    const V r = P::f(x);
    for (int k = 0; k < count; ++k) store<T>(out + (i + k) * s[1], r[k]);
  }
}

template <class Op, class T>
void vector_binary(Args args, Strides s, std::int64_t n) {
  using P = Path<Op, T>;
  using V = typename P::V;
  auto* a = static_cast<const char*>(args[0]);
  auto* b = static_cast<const char*>(args[1]);
  auto* out = static_cast<char*>(args[2]);
  std::int64_t i = 0;
  const auto dense = [](std::int64_t stride) { return stride == sizeof(T) || stride == 0; };
  if (n >= P::lanes && dense(s[0]) && dense(s[1]) && s[2] == sizeof(T)) {
    const V x0 = load<T>(a) - V{}, y0 = load<T>(b) - V{};
    for (; i + P::lanes <= n; i += P::lanes) {
      const V x = s[0] ? load<V>(a + i * sizeof(T)) : x0;
      const V y = s[1] ? load<V>(b + i * sizeof(T)) : y0;
      store<V>(out + i * sizeof(T), P::f(x, y));
    }
  }
  for (; i < n; i += P::lanes) {
    const std::int64_t count = n - i < P::lanes ? n - i : P::lanes;
    V x, y;
    for (int k = 0; k < P::lanes; ++k) {
      const std::int64_t at = i + (k < count ? k : 0);
      x[k] = load<T>(a + at * s[0]);
      y[k] = load<T>(b + at * s[1]);
    }
    const V r = P::f(x, y);
    for (int k = 0; k < count; ++k) store<T>(out + (i + k) * s[2], r[k]);
  }
}

template <class Op>
LoopFn pick_vector_unary(DType t) {
  if (t == DType::Float64) return &vector_unary<Op, f64>;
  return t == DType::Float32 ? &vector_unary<Op, f32> : nullptr;
}
template <class Op>
LoopFn pick_vector_binary(DType t) {
  if (t == DType::Float64) return &vector_binary<Op, f64>;
  return t == DType::Float32 ? &vector_binary<Op, f32> : nullptr;
}

// One register in, one out. The baseline offers none: its calls would not pay.
#if defined(__AVX2__)
template <class Op>
vd entry(vd x) {
  return Op::f(x);
}
template <class Op>
vd entry2(vd x, vd y) {
  return Op::f(x, y);
}
template <class Op>
typename Path<Op, f32>::V float_entry(typename Path<Op, f32>::V x) {
  return Path<Op, f32>::f(x);
}
template <class Op>
vf_half float_entry2(vf_half x, vf_half y) {
  return Path<Op, f32>::f(x, y);
}
template <class Op>
VectorFn unary_entry(DType t) {
  if (t == DType::Float64) return {reinterpret_cast<void*>(&entry<Op>), kLanes};
  if (t == DType::Float32) return {reinterpret_cast<void*>(&float_entry<Op>), Path<Op, f32>::lanes};
  return {nullptr, 0};
}
template <class Op>
VectorFn binary_entry(DType t) {
  if (t == DType::Float64) return {reinterpret_cast<void*>(&entry2<Op>), kLanes};
  if (t == DType::Float32) return {reinterpret_cast<void*>(&float_entry2<Op>), kLanes};
  return {nullptr, 0};
}
#else
template <class Op>
VectorFn unary_entry(DType) {
  return {nullptr, 0};
}
template <class Op>
VectorFn binary_entry(DType) {
  return {nullptr, 0};
}
#endif

// What a family of vector functions offers for one operation.
struct Found {
  LoopFn loop;
  VectorFn entry;
};
template <class Op>
Found unary_math(DType t) {
  return {pick_vector_unary<Op>(t), unary_entry<Op>(t)};
}
template <class Op>
Found binary_math(DType t) {
  return {pick_vector_binary<Op>(t), binary_entry<Op>(t)};
}
Found exponential(OpId op, DType t);
Found trigonometric(OpId op, DType t);
LoopFn modulus(DType t);  // of a complex dtype
Found hyperbolic(OpId op, DType t);
Found power(OpId op, DType t);
Found float_division(OpId op, DType t);

}  // namespace plait::loops::PLAIT_TIER
