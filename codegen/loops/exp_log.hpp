// Exponential and logarithm cores with a tail: what the exponential family, the hyperbolic
// functions and the power are made of. Arguments are ordinary numbers here; the callers keep
// special ones away, so that no core raises a flag.
#pragma once
#include "codegen/loops/coefficients.hpp"
#include "codegen/loops/vector.hpp"

namespace plait::loops::PLAIT_TIER {

using namespace coefficients;

// exp(r) = 2^k (1 + p.h + p.l) with |p.h| <= 0.42.
struct Exponential {
  Pair p;
  vl k;  // the exponent, in the low bits
};
PLAIT_INLINE vd scale(vd x, vl k) { return from_bits(bits(x) + (k << 52)); }
PLAIT_INLINE vd power_of_two(vl k) { return from_bits((k + 1023) << 52); }

PLAIT_INLINE vd exp_tail(vd r, vd rl) {
  const vd r2 = r * r;
  return fma(r2, polynomial_pairs(r, r2, kExpTail), rl);
}
// exp(x + tail) with the square term in two parts: good to 2^-58 or so.
PLAIT_INLINE Exponential exp_core(vd x, vd tail) {
  const Rounded k = rounded(fma(x, kLog2E[0], kRounder));
  const vd a = fma(k.value, -kLn2[0], x);  // exact
  const Pair r = fast_two_sum(a, fma(k.value, -kLn2[1], tail));
  const Pair square = product(r.h, r.h);
  const vd cubic = square.h * (r.h * polynomial_pairs<1>(r.h, square.h, kExpTail));
  const Pair sum = fast_two_sum(r.h, 0.5 * square.h);
  const vd rest = cubic + fma(0.5, square.l, fma(r.h, r.l, r.l));
  return {fast_two_sum(sum.h, sum.l + rest), k.bits};
}
// exp(x) - 1 for |x| < 700, with a tail.
PLAIT_INLINE Pair expm1_pair(vd x, vd tail) {
  const Exponential e = exp_core(x, tail);
  const vd s = power_of_two(e.k);
  const Pair sum = two_sum(s - 1.0, s * e.p.h);
  return fast_two_sum(sum.h, fma(s, e.p.l, sum.l));
}
// exp(x), |x| < 700, with a tail.
PLAIT_INLINE Pair exp_pair(vd x, vd tail) {
  const Exponential e = exp_core(x, tail);
  const Pair one = fast_two_sum(splat(1.0), e.p.h);
  const vd s = power_of_two(e.k);
  return {s * one.h, s * (one.l + e.p.l)};
}

// exp(x), |x| <= 87.
PLAIT_INLINE vf exp_float(vf x) {
  const vf shifted = fma(x, splat(float(kLog2E[0])), splat(0x1.8p23f));
  const vf k = shifted - 0x1.8p23f;
  const vf r = fma(k, splat(-kLn2Float[1]), fma(k, splat(-kLn2Float[0]), x));
  vf p = splat(kExpTailFloat[5]);
  for (int i = 4; i >= 0; --i) p = fma(p, r, splat(kExpTailFloat[i]));
  return (vf)((vi)(1.0f + fma(r * r, p, r)) + ((vi)shifted << 23));
}

// x = 2^k m, m in [sqrt(1/2), sqrt(2)), x positive and normal.
struct Split {
  vd k, m, inverse;  // inverse = 2^-k
};
PLAIT_INLINE Split split(vd x) {
  // k + 1023, once the exponent field changes at sqrt(2) and not at 2.
  const vl biased = (vl)((vul)(bits(x) + 0x00095f619980c433) >> 52);
  const vd k = from_bits(biased | __builtin_bit_cast(long long, 0x1p52)) - (0x1p52 + 1023);
  return {k, from_bits(bits(x) - ((biased - 1023) << 52)), from_bits((2046 - biased) << 52)};
}

// log(1 + f + fl) where 1 + f is in [sqrt(1/2), sqrt(2)): 2s and the rest of 2 atanh(s),
// s = f / (2 + f). kPrecise carries the second term in two parts, for the power.
template <bool kPrecise>
PLAIT_INLINE Pair log_mantissa(vd f, vd fl) {
  const vd d = f + 2.0;
  const vd dl = (f - (d - 2.0)) + fl;
  const vd inverse = 1.0 / d, s = f * inverse;
  const vd sl = ((fma(-s, d, f) + fl) - s * dl) * inverse;
  const vd z = s * s;
  if constexpr (kPrecise) {
    const vd zl = fma(s, s, -z) + 2.0 * s * sl;
    // s^3 (2/3 + z T(z)), the product with 2/3 in two parts.
    const Pair cube = product(s, z);
    const vd cube_l = cube.l + fma(s, zl, sl * z);
    const Pair third = product(cube.h, splat(kTwoThirds[0]));
    const vd third_l = third.l + fma(cube.h, kTwoThirds[1], cube_l * kTwoThirds[0]);
    const vd tail = cube.h * (z * polynomial_pairs(z, z * z, kLogTail2));
    const Pair sum = fast_two_sum(2.0 * s, third.h);
    return {sum.h, sum.l + (2.0 * sl + (third_l + tail))};
  }
  return {2.0 * s, fma(s * z, polynomial_pairs(z, z * z, kLogTail), 2.0 * sl)};
}
template <bool kPrecise>
PLAIT_INLINE Pair log_pair(const Split& x, vd fl) {
  const Pair m = log_mantissa<kPrecise>(x.m - 1.0, fl);
  const Pair sum = fast_two_sum(x.k * kLn2[0], m.h);
  return fast_two_sum(sum.h, sum.l + fma(x.k, kLn2[1], m.l));
}
// log(1 + x + xl), 1 + x positive and normal.
PLAIT_INLINE Pair log1p_pair(vd x, vd xl) {
  const Pair u = two_sum(splat(1.0), x);
  const Split p = split(u.h);
  return log_pair<false>(p, (u.l + xl) * p.inverse);
}

}  // namespace plait::loops::PLAIT_TIER
