// Loops over strided operands around one scalar function. The contiguous paths and those with one
// value that does not vary are written so that the compiler vectorises them; `ivdep` holds because
// input and output are either apart or exactly the same memory.
#pragma once
#include <xmmintrin.h>

#include <cstring>

#include "tier.hpp"
#include "types.hpp"

#define PLAIT_INLINE inline __attribute__((always_inline))

namespace plait::loops::PLAIT_TIER {

using Args = void* const*;
using Strides = const std::int64_t*;

template <class T>
PLAIT_INLINE T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <class T>
PLAIT_INLINE void store(void* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

template <class A, class R, class F>
PLAIT_INLINE void unary(Args args, Strides s, std::int64_t n, F f) {
  if (s[0] == sizeof(A) && s[1] == sizeof(R)) {
    const A* a = static_cast<const A*>(args[0]);
    R* r = static_cast<R*>(args[1]);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i]);
    return;
  }
  auto* a = static_cast<const char*>(args[0]);
  auto* r = static_cast<char*>(args[1]);
  for (std::int64_t i = 0; i < n; ++i, a += s[0], r += s[1]) store<R>(r, f(load<A>(a)));
}

template <class A, class B, class R, class F>
PLAIT_INLINE void binary(Args args, Strides s, std::int64_t n, F f) {
  if (s[2] == sizeof(R)) {
    R* r = static_cast<R*>(args[2]);
    const A* a = static_cast<const A*>(args[0]);
    const B* b = static_cast<const B*>(args[1]);
    if (s[0] == sizeof(A) && s[1] == sizeof(B)) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b[i]);
      return;
    }
    if (n > 0 && s[0] == sizeof(A) && s[1] == 0) {
      const B b0 = *b;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a[i], b0);
      return;
    }
    if (n > 0 && s[0] == 0 && s[1] == sizeof(B)) {
      const A a0 = *a;
#pragma GCC ivdep
      for (std::int64_t i = 0; i < n; ++i) r[i] = f(a0, b[i]);
      return;
    }
  }
  auto* a = static_cast<const char*>(args[0]);
  auto* b = static_cast<const char*>(args[1]);
  auto* r = static_cast<char*>(args[2]);
  for (std::int64_t i = 0; i < n; ++i, a += s[0], b += s[1], r += s[2])
    store<R>(r, f(load<A>(a), load<B>(b)));
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
template <class Op, class T, class R = T>
void binary_loop(Args args, Strides s, std::int64_t n) {
  binary<T, T, R>(args, s, n, [](T a, T b) { return static_cast<R>(Op::f(a, b)); });
}

// Comparisons use whichever instruction is fastest; NumPy's comparisons are quiet, so the flags
// that were there before stay as they were.
class QuietFlags {
 public:
  QuietFlags() : saved_(_mm_getcsr()) {}
  ~QuietFlags() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }
  QuietFlags(const QuietFlags&) = delete;
  QuietFlags& operator=(const QuietFlags&) = delete;

 private:
  unsigned saved_;
};

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
