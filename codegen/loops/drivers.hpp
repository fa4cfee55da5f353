// Loops over strided operands around one scalar function. The loops over blocks and those with one
// value that does not vary are written so that the compiler vectorises them; `ivdep` holds because
// input and output are either apart or exactly the same memory.
#pragma once
#include <cstring>

#include "core/processor/float_unit.hpp"
#include "pack.hpp"
#include "tier.hpp"
#include "types.hpp"

namespace plait::loops::PLAIT_TIER {

using Args = void* const*;
using Strides = const std::int64_t*;

template <class A, class R, class F>
PLAIT_INLINE void unary(Args args, Strides s, std::int64_t n, F f) {
  Source<A> from(args[0], s[0], n, false);
  Sink<R> to(args[1], s[1], n);
  in_blocks(from.dense() && to.dense(), kPackCount<A, R>, n,
            [&](std::int64_t begin, std::int64_t count) {
              const A* a = from.block(begin, count);
              R* r = to.block(begin);
#pragma GCC ivdep
              for (std::int64_t i = 0; i < count; ++i) r[i] = f(a[i]);
              to.done(begin, count);
            });
}

// Which operand may be one value for all, with a loop of its own; what else does not vary is spread
// over a block first.
enum class One { None, Right, Either };

template <class A, class B, class R, One kOne = One::Either, class F>
PLAIT_INLINE void binary(Args args, Strides s, std::int64_t n, F f) {
  Source<A> left(args[0], s[0], n, kOne == One::Either && s[1] != 0);
  Source<B> right(args[1], s[1], n, kOne != One::None);
  Sink<R> to(args[2], s[2], n);
  const bool whole = (left.dense() || left.one()) && (right.dense() || right.one()) && to.dense();
  in_blocks(whole, kPackCount<A, B, R>, n, [&](std::int64_t begin, std::int64_t count) {
    const A* a = left.block(begin, count);
    const B* b = right.block(begin, count);
    R* r = to.block(begin);
    if (kOne != One::None && right.one()) {
      const B b0 = *b;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) r[i] = f(a[i], b0);
    } else if (kOne == One::Either && left.one()) {
      const A a0 = *a;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) r[i] = f(a0, b[i]);
    } else {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) r[i] = f(a[i], b[i]);
    }
    to.done(begin, count);
  });
}

template <class A, class B, class C, class R, class F>
PLAIT_INLINE void ternary(Args args, Strides s, std::int64_t n, F f) {
  if (s[3] == sizeof(R) && s[0] == sizeof(A)) {
    const A* a = static_cast<const A*>(args[0]);
    const B* b = static_cast<const B*>(args[1]);
    const C* c = static_cast<const C*>(args[2]);
    R* r = static_cast<R*>(args[3]);
    if (s[1] == sizeof(B) && s[2] == sizeof(C)) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b[i], c[i]);
      return;
    }
    if (n > 0 && s[1] == 0 && s[2] == 0) {
      const B b0 = *b;
      const C c0 = *c;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b0, c0);
      return;
    }
    if (n > 0 && s[1] == sizeof(B) && s[2] == 0) {
      const C c0 = *c;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b[i], c0);
      return;
    }
    if (n > 0 && s[1] == 0 && s[2] == sizeof(C)) {
      const B b0 = *b;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b0, c[i]);
      return;
    }
  }
  auto* a = static_cast<const char*>(args[0]);
  auto* b = static_cast<const char*>(args[1]);
  auto* c = static_cast<const char*>(args[2]);
  auto* r = static_cast<char*>(args[3]);
  for (std::int64_t i = 0; i < n; ++i, a += s[0], b += s[1], c += s[2], r += s[3])
    store<R>(r, f(load<A>(a), load<B>(b), load<C>(c)));
}

// Loops of one functor `Op` with a static f.
template <class Op, class T, class R = T>
void unary_loop(Args args, Strides s, std::int64_t n) {
  unary<T, R>(args, s, n, [](T a) { return static_cast<R>(Op::f(a)); });
}
// Op::kOne says which operands have loops for one value, both if it says nothing; where Op::kTurns,
// operands may be exchanged.
template <class Op, class T, class R = T>
void binary_loop(Args args, Strides s, std::int64_t n) {
  constexpr auto f = [](T a, T b) { return static_cast<R>(Op::f(a, b)); };
  if constexpr (requires { Op::kTurns; }) {
    void* const turned[] = {args[1], args[0], args[2]};
    const std::int64_t strides[] = {s[1], s[0], s[2]};
    const bool turn = s[0] == 0;
    binary<T, T, R, One::Right>(turn ? turned : args, turn ? strides : s, n, f);
  } else if constexpr (requires { Op::kOne; }) {
    binary<T, T, R, Op::kOne>(args, s, n, f);
  } else {
    binary<T, T, R>(args, s, n, f);
  }
}

// The loop of the type in the list that `t` names.
template <class Op, class... Ts>
LoopFn pick_unary(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &unary_loop<Op, Ts>) : void()), ...);
  return fn;
}
template <class Op, class... Ts>
LoopFn pick_binary(Types<Ts...>, DType t) {
  LoopFn fn = nullptr;
  ((t == dtype_of<Ts>() ? void(fn = &binary_loop<Op, Ts>) : void()), ...);
  return fn;
}

}  // namespace plait::loops::PLAIT_TIER
