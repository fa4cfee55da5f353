// Cores of functions of float32 that are computed in float64: good to 2^-32 or so, with neither
// tails nor pairs, since the result is rounded to 24 bits. Callers keep special arguments away, so
// that no core raises a flag.
#pragma once
#include "codegen/loops/exp_log.hpp"

namespace plait::loops::PLAIT_TIER::single {

// Fits at Chebyshev nodes.
// (log(1 + r) - r) / r^2; error 2^-30.8.
inline constexpr double kLogShort[] = {-0x1.fffffed40c758p-2, 0x1.55556729a3240p-2,
                                       -0x1.0027ef069a51bp-2, 0x1.989d977d97596p-3};
// The same for the power.
inline constexpr double kLogLong[] = {-0x1.00000000068d8p-1, 0x1.55555553840d9p-2,
                                      -0x1.fffff825bbf95p-3, 0x1.9999e7277279cp-3,
                                      -0x1.55aede4344325p-3, 0x1.2379d48a778a5p-3};
// (2^t - 1) / t, |t| <= 1/32; error 2^-46.7.
inline constexpr double kExp2Short[] = {0x1.62e42fefa39efp-1, 0x1.ebfbdff6988c8p-3,
                                        0x1.c6b08d6faa2cep-5, 0x1.3b2c4ac7da565p-7,
                                        0x1.5d893e51e42aep-10};
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
  const vd r = fma(p.m, look_up(kInverse, p.part), -1.0), r2 = r * r;
  return {p.k, look_up(kLogTable, p.part) + fma(r2, polynomial_pairs(r, r2, c), r)};
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
  const vd shifted = x + 0x1.8p48;  // in sixteenths
  const vd t = x - (shifted - 0x1.8p48);
  const vl k = bits(shifted);
  const vd root = from_bits(bits(look_up(kRoots, k)) + ((k & ~15LL) << 48));
  return fma(root, t * polynomial_pairs(t, t * t, kExp2Short), root);
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
