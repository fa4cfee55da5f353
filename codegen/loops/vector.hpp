// Vectors of one register of the tier, and the few operations on them that the compiler's generic
// vectors lack. A tier without fused multiply-add calls fma() an element at a time, slower and with
// the same bits.
#pragma once
#include <cmath>

#include "codegen/loops/orders.hpp"

namespace plait::loops::PLAIT_TIER {

inline constexpr int kLanes = kVectorBytes / 8;       // float64
inline constexpr int kFloatLanes = kVectorBytes / 4;  // float32
typedef double vd __attribute__((vector_size(kVectorBytes)));
typedef long long vl __attribute__((vector_size(kVectorBytes)));
typedef unsigned long long vul __attribute__((vector_size(kVectorBytes)));
typedef float vf __attribute__((vector_size(kVectorBytes)));
typedef int vi __attribute__((vector_size(kVectorBytes)));
typedef unsigned vu __attribute__((vector_size(kVectorBytes)));
typedef float vf_half __attribute__((vector_size(kVectorBytes / 2)));

#define PLAIT_COLD __attribute__((noinline, cold))

PLAIT_INLINE vd splat(double x) { return x - vd{}; }
PLAIT_INLINE vf splat(float x) { return x - vf{}; }
PLAIT_INLINE vl bits(vd x) { return (vl)x; }
PLAIT_INLINE vd from_bits(vl x) { return (vd)x; }

}  // namespace plait::loops::PLAIT_TIER
#include "codegen/loops/processor/operations.hpp"
namespace plait::loops::PLAIT_TIER {

PLAIT_INLINE vd fma(double a, vd b, vd c) { return fma(splat(a), b, c); }
PLAIT_INLINE vd fma(vd a, double b, vd c) { return fma(a, splat(b), c); }
PLAIT_INLINE vd fma(vd a, vd b, double c) { return fma(a, b, splat(c)); }
PLAIT_INLINE vd fma(vd a, double b, double c) { return fma(a, splat(b), splat(c)); }

PLAIT_INLINE vd abs(vd x) { return from_bits(bits(x) & 0x7fffffffffffffff); }
PLAIT_INLINE vd copysign(vd size, vd sign) {
  return from_bits((bits(size) & 0x7fffffffffffffff) |
                   (bits(sign) & static_cast<long long>(0x8000000000000000)));
}
PLAIT_INLINE vd select(vl mask, vd a, vd b) { return mask ? a : b; }
// |x| > limit, or NaN; no flags.
PLAIT_INLINE vl beyond(vd x, double limit) {
  return (vl)((bits(x) & 0x7fffffffffffffff) > __builtin_bit_cast(long long, limit));
}
// |x| < limit; no flags.
PLAIT_INLINE vl within(vd x, double limit) {
  return (vl)((bits(x) & 0x7fffffffffffffff) < __builtin_bit_cast(long long, limit));
}
// Neither positive, normal and finite.
PLAIT_INLINE vl not_positive_normal(vd x) {
  return (vl)((bits(x) < 0x0010000000000000) | (bits(x) >= 0x7ff0000000000000));
}

// The nearest integer of a number below 2^50: as a float, and in the low bits of `bits`.
inline constexpr double kRounder = 0x1.8p52;
struct Rounded {
  vd value;
  vl bits;
};
PLAIT_INLINE Rounded rounded(vd shifted) { return {shifted - kRounder, bits(shifted)}; }

// Coefficients from `from` on, the lowest power first; in pairs, for a shorter chain of
// dependences.
template <int from = 0, int n>
PLAIT_INLINE vd polynomial_pairs(vd x, vd x2, const double (&c)[n]) {
  constexpr bool odd = (n - from) % 2;
  vd r = odd ? splat(c[n - 1]) : fma(x, splat(c[n - 1]), splat(c[n - 2]));
  for (int i = n - (odd ? 3 : 4); i >= from; i -= 2)
    r = fma(r, x2, fma(x, splat(c[i + 1]), splat(c[i])));
  return r;
}

// An unevaluated sum h + l with |l| small beside |h|.
template <class V>
struct Sum {
  V h, l;
};
using Pair = Sum<vd>;
template <class V>
PLAIT_INLINE Sum<V> fast_two_sum(V a, V b) {  // |a| >= |b| or a = 0
  const V s = a + b;
  return {s, b - (s - a)};
}
template <class V>
PLAIT_INLINE Sum<V> two_sum(V a, V b) {
  const V s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
template <class V>
PLAIT_INLINE Sum<V> product(V a, V b) {
  const V p = a * b;
  return {p, fma(a, b, -p)};
}
PLAIT_INLINE Pair quotient(Pair n, Pair d) {
  const vd inverse = 1.0 / d.h, q = n.h * inverse;
  return {q, (fma(-q, d.h, n.h) + (n.l - q * d.l)) * inverse};
}
PLAIT_INLINE Pair add(Pair a, Pair b) {
  const Pair s = two_sum(a.h, b.h);
  return fast_two_sum(s.h, s.l + (a.l + b.l));
}

// Recomputes the lanes of `mask`, which the fast path got benign values for, one by one.
template <double (*scalar)(double)>
PLAIT_COLD void patch(vd& result, const vl& mask, const vd& x) {
  for (int i = 0; i < kLanes; ++i)
    if (mask[i]) result[i] = scalar(x[i]);
}
template <double (*scalar)(double, double)>
PLAIT_COLD void patch(vd& result, const vl& mask, const vd& x, const vd& y) {
  for (int i = 0; i < kLanes; ++i)
    if (mask[i]) result[i] = scalar(x[i], y[i]);
}

template <double (*scalar)(double)>
PLAIT_COLD void patch_float(vf& result, const vi& mask, const vf& x) {
  for (int i = 0; i < kFloatLanes; ++i)
    if (mask[i]) result[i] = static_cast<float>(scalar(x[i]));
}

}  // namespace plait::loops::PLAIT_TIER
