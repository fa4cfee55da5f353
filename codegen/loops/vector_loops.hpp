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

// Out of line, for JIT kernels and for what a loop leaves over: the functions are long.
template <class Op, class T>
[[gnu::noinline]] typename Path<Op, T>::V entry(typename Path<Op, T>::V x) {
  return Path<Op, T>::f(x);
}
template <class Op, class T>
[[gnu::noinline]] typename Path<Op, T>::V entry2(typename Path<Op, T>::V x,
                                                 typename Path<Op, T>::V y) {
  return Path<Op, T>::f(x, y);
}

// V of the elements at `p`, filled up with the first of them.
template <class V, class T>
PLAIT_INLINE V partial(const T* p, std::int64_t count) {
  V x = *p - V{};
  std::memcpy(&x, p, std::size_t(count) * sizeof(T));
  return x;
}

template <class Op, class T>
void vector_unary(Args args, Strides s, std::int64_t n) {
  using P = Path<Op, T>;
  using V = typename P::V;
  Source<T> from(args[0], s[0], n, false);
  Sink<T> to(args[1], s[1], n);
  in_blocks(from.dense() && to.dense(), kPackCount<T>, n,
            [&](std::int64_t begin, std::int64_t count) {
              const T* in = from.block(begin, count);
              T* out = to.block(begin);
              std::int64_t i = 0;
              if constexpr (P::kOwn) {
                for (; i + 2 * P::lanes <= count; i += 2 * P::lanes) {
                  V x = load<V>(in + i), y = load<V>(in + i + P::lanes);
                  P::pair(x, y);
                  store<V>(out + i, x);
                  store<V>(out + i + P::lanes, y);
                }
                if (i + P::lanes <= count) {
                  store<V>(out + i, entry<Op, T>(load<V>(in + i)));
                  i += P::lanes;
                }
              } else {
                for (; i + P::lanes <= count; i += P::lanes)
                  store<V>(out + i, P::f(load<V>(in + i)));
              }
              if (i < count) {
                const V r = entry<Op, T>(partial<V>(in + i, count - i));
                std::memcpy(out + i, &r, std::size_t(count - i) * sizeof(T));
              }
              to.done(begin, count);
            });
}

template <class Op, class T>
void vector_binary(Args args, Strides s, std::int64_t n) {
  using P = Path<Op, T>;
  using V = typename P::V;
  Source<T> left(args[0], s[0], n, s[1] != 0), right(args[1], s[1], n, true);
  Sink<T> to(args[2], s[2], n);
  const bool whole = (left.dense() || left.one()) && (right.dense() || right.one()) && to.dense();
  in_blocks(whole, kPackCount<T>, n, [&](std::int64_t begin, std::int64_t count) {
    const T *a = left.block(begin, count), *b = right.block(begin, count);
    T* out = to.block(begin);
    const V x0 = *a - V{}, y0 = *b - V{};
    std::int64_t i = 0;
    for (; i + P::lanes <= count; i += P::lanes) {
      const V x = left.one() ? x0 : load<V>(a + i);
      const V y = right.one() ? y0 : load<V>(b + i);
      store<V>(out + i, P::f(x, y));
    }
    if (i < count) {
      const V x = left.one() ? x0 : partial<V>(a + i, count - i);
      const V y = right.one() ? y0 : partial<V>(b + i, count - i);
      const V r = entry2<Op, T>(x, y);
      std::memcpy(out + i, &r, std::size_t(count - i) * sizeof(T));
    }
    to.done(begin, count);
  });
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

// One register in, one out.
template <class Op>
VectorFn unary_entry(DType t) {
  if constexpr (kVectorCalls) {
    if (t == DType::Float64) return {reinterpret_cast<void*>(&entry<Op, f64>), kLanes};
    if (t == DType::Float32)
      return {reinterpret_cast<void*>(&entry<Op, f32>), Path<Op, f32>::lanes};
  }
  return {nullptr, 0};
}
template <class Op>
VectorFn binary_entry(DType t) {
  if constexpr (kVectorCalls) {
    if (t == DType::Float64) return {reinterpret_cast<void*>(&entry2<Op, f64>), kLanes};
    if (t == DType::Float32) return {reinterpret_cast<void*>(&entry2<Op, f32>), kLanes};
  }
  return {nullptr, 0};
}

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
Found error_function(OpId op, DType t);
Found float_division(OpId op, DType t);

}  // namespace plait::loops::PLAIT_TIER
