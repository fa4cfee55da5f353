// Cores of functions of float32 that are computed in float64: good to 2^-32 or so, with neither
// tails nor pairs, since the result is rounded to 24 bits. Callers keep special arguments away, so
// that no core raises a flag.
#pragma once
#include "codegen/loops/exp_log.hpp"

namespace plait::loops::PLAIT_TIER::single {

// Fits at Chebyshev nodes.
// (log(1 + f) - f) / f^2, 1 + f in [sqrt(1/2), sqrt(2)]; error 2^-33.
inline constexpr double kLogShort[] = {
    -0x1.0000000061fefp-1, 0x1.5555558685d77p-2, -0x1.fffffce751925p-3, 0x1.99994a9651e3dp-3,
    -0x1.5556284530038p-3, 0x1.24a4605850c62p-3, -0x1.ffed885e0698bp-4, 0x1.c3b930b4d25c3p-4,
    -0x1.96fbfe69c314bp-4, 0x1.967b6c0072157p-4, -0x1.903d12a2e648cp-4, 0x1.b9ce201bd4f33p-5};
// The same for the power; error 2^-41.
inline constexpr double kLogLong[] = {
    -0x1.0000000000731p-1, 0x1.5555555517c91p-2, -0x1.fffffff8e9cddp-3, 0x1.99999a25994fcp-3,
    -0x1.55555a240a27ep-3, 0x1.24921dad66e24p-3, -0x1.fffd791c14c70p-4, 0x1.c7270b8340040p-4,
    -0x1.99eb887c1dabbp-4, 0x1.73e0bdd3ffce1p-4, -0x1.50100cb1c2c3cp-4, 0x1.3a723d9c5e56fp-4,
    -0x1.4d54ea35d3558p-4, 0x1.44404fb1b6864p-4, -0x1.4807787b453aep-5};
// (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2; error 2^-29.
inline constexpr double kExpShort[] = {0x1.0000000b8f62bp-1,  0x1.5555555a78232p-3,
                                       0x1.5554e9114ecfap-5,  0x1.1110e0f7264eep-7,
                                       0x1.6d431504c52fap-10, 0x1.a124e3f15b319p-13};
// (sin(r) / r - 1) / z, z = r^2, |r| <= pi / 4; error 2^-35.
inline constexpr double kSinShort[] = {-0x1.555555545e0acp-3, 0x1.11110def2e1cap-7,
                                       -0x1.a013a793b9916p-13, 0x1.6dbe0838a1baep-19};
// (cos(r) - 1 + z / 2) / z^2; error 2^-38.
inline constexpr double kCosShort[] = {0x1.5555555502cf4p-5, -0x1.6c16bf54e7232p-10,
                                       0x1.a015c47d92088p-16, -0x1.25244e23e6339p-22};
// (atan(q) / q - 1) / z, z = q^2, q <= 1; error 2^-34.
inline constexpr double kAtanShort[] = {
    -0x1.555555543c557p-2, 0x1.9999971f594fbp-3, -0x1.2491d128f2b18p-3, 0x1.c70a6be6d62e4p-4,
    -0x1.73a719b0c5a8ep-4, 0x1.36bfd2213d25fp-4, -0x1.ffb2b95a3e522p-5, 0x1.837061aca5e9bp-5,
    -0x1.ea18af64b6437p-6, 0x1.cd243cc7134abp-7, -0x1.14abab04854dbp-8, 0x1.36ecfc4cd22a9p-11};

// log(x), x positive and normal.
struct Log {
  vd k, mantissa;
};
template <int n>
PLAIT_INLINE Log log_parts(vd x, const double (&c)[n]) {
  const Split p = split(x);
  const vd f = p.m - 1.0, f2 = f * f;
  return {p.k, fma(f2, polynomial_pairs(f, f2, c), f)};
}
PLAIT_INLINE vd log(vd x) {
  const Log l = log_parts(x, kLogShort);
  return fma(l.k, splat(kLn2Full[0]), l.mantissa);
}

// 2^k (1 + p) and 2^-k (1 + opposite) are exp(x) and exp(-x).
struct Exp {
  vd p, opposite;
  vl k;
};
PLAIT_INLINE Exp exp_of_rest(vd r, vl k) {
  const vd r2 = r * r;
  const vd even = fma(r2, fma(r2, splat(kExpShort[4]), splat(kExpShort[2])), splat(kExpShort[0]));
  const vd odd =
      r * fma(r2, fma(r2, splat(kExpShort[5]), splat(kExpShort[3])), splat(kExpShort[1]));
  return {fma(r2, even + odd, r), fma(r2, even - odd, -r), k};
}
PLAIT_INLINE Exp exp_parts(vd x) {
  const Rounded k = rounded(fma(x, kLog2E[0], kRounder));
  return exp_of_rest(fma(k.value, -kLn2[1], fma(k.value, -kLn2[0], x)), k.bits);
}
// 2^x for |x| <= 1000
PLAIT_INLINE vd exp2(vd x) {
  const Rounded k = rounded(x + kRounder);
  const Exp e = exp_of_rest((x - k.value) * kLn2Full[0], k.bits);
  return scale(1.0 + e.p, e.k);
}

// Sine and cosine of x less quadrant pi/2, for |x| < 2^19.
struct Circle {
  vd sin, cos;
  vl quadrant;  // in the low bits
};
PLAIT_INLINE Circle circle(vd x) {
  const Rounded k = rounded(fma(x, 0x1.45f306dc9c883p-1, kRounder));
  const vd r = fma(k.value, -kHalfPiFull[1], fma(k.value, -kHalfPiFull[0], x));
  const vd z = r * r, z2 = z * z;
  return {fma(r * z, polynomial_pairs(z, z2, kSinShort), r),
          fma(z2, polynomial_pairs(z, z2, kCosShort), 1.0 - 0.5 * z), k.bits};
}

// atan(q), 0 <= |q| <= 1
PLAIT_INLINE vd atan(vd q) {
  const vd z = q * q;
  return fma(q * z, polynomial_pairs(z, z * z, kAtanShort), q);
}

// What is not finite.
PLAIT_INLINE vl infinite(vd x) { return beyond(x, 0x1p128); }

}  // namespace plait::loops::PLAIT_TIER::single
