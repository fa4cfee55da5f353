// Exponential and logarithm cores with a tail: what the exponential family, the hyperbolic
// functions and the power are made of. Arguments are ordinary numbers here; the callers keep
// special ones away, so that no core raises a flag.
#pragma once
#include "codegen/loops/coefficients.hpp"
#include "codegen/loops/tables.hpp"

namespace plait::loops::PLAIT_TIER {

using namespace coefficients;

PLAIT_INLINE vd scale(vd x, vl k) { return from_bits(bits(x) + (k << 52)); }
PLAIT_INLINE vd power_of_two(vl k) { return from_bits((k + 1023) << 52); }

PLAIT_INLINE vd exp_tail(vd r, vd rl) {
  const vd r2 = r * r;
  return fma(r2, polynomial_pairs(r, r2, kExpTail), rl);
}

// x + tail = k ln(2) / 16 + r + rl, |r| <= ln(2) / 32, |x| <= 708.
struct Sixteenth {
  vl k;  // in the low bits
  vd r, rl;
};
PLAIT_INLINE Sixteenth sixteenth(vd x, vd tail) {
  const Rounded k = rounded(fma(x, kSixteenLog2E, kRounder));
  const vd a = fma(k.value, -kLn2Sixteenth[0], x);  // exact
  const Pair r = fast_two_sum(a, fma(k.value, -kLn2Sixteenth[1], tail));
  return {k.bits, r.h, r.l};
}
// 2^(k/16), and what it lacks, relative to it.
struct Root {
  vd value, low;
};
PLAIT_INLINE Root root_of_two(vl k) {
  return {from_bits(bits(look_up(kRoots, k)) + ((k & ~15LL) << 48)), look_up(kRootsLow, k)};
}
// exp(x + tail), |x| <= 708.
PLAIT_INLINE vd exp_with_tail(vd x, vd tail) {
  const Sixteenth s = sixteenth(x, tail);
  const Root e = root_of_two(s.k);
  const vd r2 = s.r * s.r;
  return fma(e.value, s.r + fma(r2, polynomial_pairs(s.r, r2, kExpTail16), s.rl + e.low), e.value);
}
// exp(x) - 1 for |x| < 700, as a sum that is not normalised.
PLAIT_INLINE Pair expm1_pair(vd x) {
  const Sixteenth s = sixteenth(x, vd{});
  const Root e = root_of_two(s.k);
  const vd r2 = s.r * s.r;
  const vd rest = fma(r2, polynomial_pairs(s.r, r2, kExpTail16), s.rl + fma(e.low, s.r, e.low));
  const vd whole = e.value - 1.0, lost = e.value - (whole + 1.0);
  const Pair y = product(e.value, s.r);
  const Pair sum = fast_two_sum(whole, y.h);  // |whole| > |y.h| or whole = 0
  return {sum.h, sum.l + (lost + fma(e.value, rest, y.l))};
}
// exp(x) with a tail, |x| < 700.
PLAIT_INLINE Pair exp_pair(vd x, vd tail) {
  const Sixteenth s = sixteenth(x, tail);
  const Root e = root_of_two(s.k);
  const vd r2 = s.r * s.r;
  const vd rest = fma(r2, polynomial_pairs(s.r, r2, kExpTail16), s.rl + e.low);
  const Pair y = product(e.value, s.r), sum = fast_two_sum(e.value, y.h);
  return fast_two_sum(sum.h, sum.l + fma(e.value, rest, y.l));
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

// x = 2^k m, m in [0.703125, 1.40625), x positive and normal; the sixteenth of that range it is in.
struct Split {
  vd k, m, inverse;  // inverse = 2^-k
  vl part;           // in the low bits
};
PLAIT_INLINE Split split(vd x) {
  const vl shifted = bits(x) + (0x3ff0000000000000 - 0x3fe6800000000000);
  const vl biased = (vl)((vul)shifted >> 52);
  const vd k = from_bits(biased | __builtin_bit_cast(long long, 0x1p52)) - (0x1p52 + 1023);
  return {k, from_bits(bits(x) - ((biased - 1023) << 52)), from_bits((2046 - biased) << 52),
          (vl)((vul)shifted >> 48)};
}

// r where m is (1 + r) times the middle of its sixteenth.
PLAIT_INLINE Pair rest_of_split(const Split& x) {
  const Pair p = product(x.m, look_up(kInverse, x.part));
  return fast_two_sum(p.h - 1.0, p.l);
}
// log(x) as a sum that is not normalised.
PLAIT_INLINE Pair log_pair(const Split& x) {
  const Pair r = rest_of_split(x);
  const vd r2 = r.h * r.h;
  const Pair sum = fast_two_sum(fma(x.k, kLn2[0], look_up(kLogTable, x.part)), r.h);
  const vd low = fma(x.k, kLn2[1], look_up(kLogTableLow, x.part) + r.l);
  return {sum.h, sum.l + fma(r2, polynomial_pairs(r.h, r2, kLog1pTail), low)};
}
// To 2^-63 of it.
PLAIT_INLINE Pair precise_log_pair(const Split& x) {
  const Pair r = rest_of_split(x);
  const vd half = r.h * -0.5, r2 = r.h * r.h;
  const Pair square = product(r.h, half);
  const Pair first = fast_two_sum(fma(x.k, kLn2[0], look_up(kLogTable, x.part)), r.h);
  const Pair second = fast_two_sum(first.h, square.h);
  const vd low = fma(x.k, kLn2[1], look_up(kLogTableLow, x.part));
  const vd rest =
      fma(r2 * r.h, polynomial_pairs(r.h, r2, kLog1pTail3), fma(-r.h, r.l, r.l) + square.l);
  const Pair sum = fast_two_sum(second.h, (first.l + second.l) + (low + rest));
  return sum;
}
// log(1 + x + xl), 1 + x positive and normal, not normalised.
PLAIT_INLINE Pair log1p_pair(vd x, vd xl) {
  const Pair u = two_sum(splat(1.0), x);
  const Split p = split(u.h);
  const vd by = look_up(kInverse, p.part);
  const Pair m = product(p.m, by);
  const Pair r = fast_two_sum(m.h - 1.0, fma((u.l + xl) * p.inverse, by, m.l));
  const vd r2 = r.h * r.h;
  const Pair sum = two_sum(fma(p.k, kLn2[0], look_up(kLogTable, p.part)), r.h);
  const vd low = fma(p.k, kLn2[1], look_up(kLogTableLow, p.part)) + r.l;
  return {sum.h, sum.l + fma(r2, polynomial_pairs(r.h, r2, kLog1pTail), low)};
}

}  // namespace plait::loops::PLAIT_TIER
