// Cores of the functions of float32 that are computed in float32: where a rounding on the way
// would show in the result, what it leaves is carried along. Callers keep special arguments away,
// and tiny ones, whose squares underflow.
#pragma once
#include "codegen/loops/exp_log.hpp"

namespace plait::loops::PLAIT_TIER::float32 {

PLAIT_INLINE vi magnitude(vf x) { return (vi)x & 0x7fffffff; }
PLAIT_INLINE vi below(vi magnitude, float limit) {
  return (vi)(magnitude < __builtin_bit_cast(int, limit));
}
PLAIT_INLINE vi above(vi magnitude, float limit) {  // NaN is
  return (vi)(magnitude > __builtin_bit_cast(int, limit));
}
// The sign of x on a number that has none.
PLAIT_INLINE vf with_sign(vf size, vf x) {
  return (vf)((vi)size | ((vi)x & static_cast<int>(0x80000000)));
}

using Pair = Sum<vf>;

// The lowest power first.
template <int n>
PLAIT_INLINE vf polynomial(vf x, const float (&c)[n]) {
  vf p = splat(c[n - 1]);
  for (int i = n - 2; i >= 0; --i) p = fma(p, x, splat(c[i]));
  return p;
}

// tanh(c + y) = T[0] + T[1] + y (T[2] + y (T[3] ...)) on four intervals between powers of two, c
// their middles; on the first one, below 2^-4, less y and with c = 0. Errors below 2^-26.
inline constexpr float kTanh[7][32] = {
    {0x0.0p+0f,      0x1.1f86bep-4f, 0x1.5f22d2p-4f, 0x1.9e9356p-4f, 0x1.ddd092p-4f,
     0x1.1e1dd0p-3f, 0x1.5c9308p-3f, 0x1.9a5f1cp-3f, 0x1.d7665cp-3f, 0x1.18a39ap-2f,
     0x1.52c2c6p-2f, 0x1.8a87e2p-2f, 0x1.bfae6ap-2f, 0x1.050870p-1f, 0x1.3157e0p-1f,
     0x1.578900p-1f, 0x1.77d838p-1f, 0x1.9e5cb6p-1f, 0x1.c278a6p-1f, 0x1.d9c6fap-1f,
     0x1.e8789ep-1f, 0x1.f4bfd6p-1f, 0x1.fbd50ap-1f, 0x1.fe767ap-1f, 0x1.ff6f18p-1f,
     0x1.ffdfa8p-1f, 0x1.fffba0p-1f, 0x1.ffff68p-1f, 0x1.ffffecp-1f, 0x1.fffffep-1f},
    {0x0.0p+0f,        -0x1.3a17fap-29f, -0x1.2659b0p-32f, 0x1.f48db8p-30f,  0x1.493e06p-29f,
     0x1.57365cp-29f,  -0x1.bb0c72p-28f, -0x1.899af8p-31f, 0x1.f37706p-28f,  -0x1.94b7bap-30f,
     -0x1.3c4f3ep-27f, -0x1.699878p-27f, 0x1.72e49cp-27f,  -0x1.a1256ap-26f, -0x1.608ea4p-29f,
     -0x1.de5accp-26f, 0x1.c680b0p-26f,  -0x1.16eca6p-27f, -0x1.ab6372p-26f, 0x1.fcc390p-26f,
     0x1.9d81bcp-26f,  0x1.85bfa4p-26f,  -0x1.461470p-27f, -0x1.45958cp-26f, -0x1.62ae24p-27f,
     -0x1.bd58d0p-26f, -0x1.a07c2ep-26f, 0x1.3fb26ep-27f,  -0x1.0eb872p-26f, 0x1.f4b3aep-26f},
    {0x0.0p+0f,       0x1.fd7a22p-1f,  0x1.fc3cbep-1f,  0x1.fac13ep-1f,  0x1.f9085ap-1f,
     0x1.f601cap-1f,  0x1.f12b00p-1f,  0x1.eb715ap-1f,  0x1.e4dfb2p-1f,  0x1.d98b36p-1f,
     0x1.c7f724p-1f,  0x1.b3ff2ep-1f,  0x1.9e23aep-1f,  0x1.7aeae6p-1f,  0x1.49e6c0p-1f,
     0x1.197fcep-1f,  0x1.d834d2p-2f,  0x1.615002p-2f,  0x1.cea744p-3f,  0x1.265e34p-3f,
     0x1.6fcfa6p-4f,  0x1.64108ap-5f,  0x1.09a7aap-6f,  0x1.88ef6ep-8f,  0x1.21a7b4p-9f,
     0x1.02c03ep-11f, 0x1.183476p-14f, 0x1.2f61b4p-17f, 0x1.48779cp-20f, 0x1.056412p-24f},
    {0x0.0p+0f,        -0x1.1e1c08p-4f,  -0x1.5c8e36p-4f,  -0x1.9a5416p-4f,  -0x1.d75004p-4f,
     -0x1.18883cp-3f,  -0x1.5279fep-3f,  -0x1.89e50ep-3f,  -0x1.be6cb8p-3f,  -0x1.038f70p-2f,
     -0x1.2daf98p-2f,  -0x1.4ff712p-2f,  -0x1.6a1d3ap-2f,  -0x1.825de8p-2f,  -0x1.897d22p-2f,
     -0x1.79c0e4p-2f,  -0x1.5aa222p-2f,  -0x1.1df030p-2f,  -0x1.970ea6p-3f,  -0x1.1064a8p-3f,
     -0x1.5ee8a4p-4f,  -0x1.5c3afap-5f,  -0x1.077a22p-6f,  -0x1.87ba6cp-8f,  -0x1.21503ap-9f,
     -0x1.025c70p-11f, -0x1.17d708p-14f, -0x1.2efeb2p-17f, -0x1.480cbap-20f, -0x1.03bfb4p-24f},
    {-0x1.55553ep-2f, -0x1.4fdf32p-2f, -0x1.49c322p-2f, -0x1.470f98p-2f, -0x1.42b2d6p-2f,
     -0x1.3ab040p-2f, -0x1.2ed696p-2f, -0x1.20460ap-2f, -0x1.101beep-2f, -0x1.e8f38ep-3f,
     -0x1.987afcp-3f, -0x1.42490cp-3f, -0x1.d71984p-4f, -0x1.bcf1b0p-5f, 0x1.d6bceap-7f,
     0x1.07228ep-4f,  0x1.843dccp-4f,  0x1.c68fbcp-4f,  0x1.97d94cp-4f,  0x1.33de62p-4f,
     0x1.a85d42p-5f,  0x1.bbcdecp-6f,  0x1.5993f4p-7f,  0x1.03964ap-8f,  0x1.80e73ep-10f,
     0x1.586026p-12f, 0x1.7529b0p-15f, 0x1.941038p-18f, 0x1.b57a98p-21f, 0x1.888580p-25f},
    {0x0.0p+0f,        0x1.7a0c3ep-5f,   0x1.cbf9bap-5f,   0x1.0d81f2p-4f,   0x1.33c6ccp-4f,
     0x1.6b15d8p-4f,   0x1.af9414p-4f,   0x1.ed56e0p-4f,   0x1.11e96ap-3f,   0x1.32e21ap-3f,
     0x1.4ffc72p-3f,   0x1.5bfef4p-3f,   0x1.58429ap-3f,   0x1.39e1f2p-3f,   0x1.e93d66p-4f,
     0x1.474008p-4f,   0x1.632684p-5f,   0x1.e12ea0p-9f,   -0x1.59e5ccp-6f,  -0x1.9bb1eep-6f,
     -0x1.559b36p-6f,  -0x1.95dbd6p-7f,  -0x1.515cc4p-8f,  -0x1.0341e6p-9f,  -0x1.83982ap-11f,
     -0x1.68b0fcp-13f, -0x1.8747b0p-16f, -0x1.a7be98p-19f, -0x1.cacc18p-22f, -0x1.e7d4dap-28f},
    {0x1.107864p-3f,  0x1.c97534p+3f,  -0x1.20ec60p+4f, -0x1.1752f4p+2f, -0x1.56ab86p+1f,
     -0x1.fbe9bcp-1f, 0x1.5529acp-1f,  0x1.9afcb8p-2f,  0x1.84427ep-1f,  -0x1.5a9cf4p-10f,
     0x1.47bf78p-4f,  -0x1.a2c45cp-5f, -0x1.5c1ff2p-6f, -0x1.7678c6p-5f, -0x1.d95960p-5f,
     -0x1.f2ca10p-5f, -0x1.bfd290p-5f, -0x1.075428p-5f, -0x1.39a3ecp-7f, 0x1.75fca4p-10f,
     0x1.2be1fep-8f,  0x1.04b734p-8f,  0x1.f62580p-10f, 0x1.93f33ap-11f, 0x1.32d908p-12f,
     0x1.1e7fe6p-14f, 0x1.3761ecp-17f, 0x1.514bf0p-20f, 0x1.6d362ep-23f, 0x1.5fb1a8p-26f},
};

// x^3 P(x^2) + rest, where it is a fifth of the result: the cube in two parts.
template <int n>
PLAIT_INLINE vf cubic(vf x, const float (&c)[n], vf rest) {
  const Pair z = product(x, x), cube = product(x, z.h);
  const vf p = polynomial(z.h, c);
  return fma(cube.h, p, fma(fma(x, z.l, cube.l), p, rest));
}

// Angles: constants in parts of 24 bits.
inline constexpr float kHalfPi[] = {0x1.921fb6p0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
inline constexpr float kPi[] = {0x1.921fb6p1f, -0x1.777a5cp-24f};
// (sin(r) / r - 1) / z, z = r^2, |r| <= 1.01 pi / 4; error 2^-27.9.
inline constexpr float kSin[] = {-0x1.555546p-3f, 0x1.110778p-7f, -0x1.9953fep-13f};
// (cos(r) - 1 + z / 2) / z^2; error 2^-33.
inline constexpr float kCos[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f};
// (tan(r) / r - 1) / z; error 2^-29.5.
inline constexpr float kTan[] = {0x1.55556p-2f,  0x1.110d9ep-3f,  0x1.bad9c2p-5f, 0x1.5cc0d4p-6f,
                                 0x1.62cb2ep-7f, 0x1.9c12d6p-14f, 0x1.1e91bp-8f};
// (atan(q) / q - 1) / z, z = q^2, q <= 1; error 2^-28.5.
inline constexpr float kAtan[] = {-0x1.55553ep-2f, 0x1.9991e4p-3f, -0x1.2420acp-3f,
                                  0x1.c08fb2p-4f,  -0x1.58185p-4f, 0x1.da6f4p-5f,
                                  -0x1.fe27f6p-6f, 0x1.64fb64p-7f, -0x1.d50fdap-10f};
// (asin(q) / q - 1) / z, q <= 1 / 2; error 2^-27.6.
inline constexpr float kAsin[] = {0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bbap-5f, 0x1.8c3e2ap-6f,
                                  0x1.595c8cp-5f};

// x = quadrant pi/2 + r.h + r.l, |x| <= 2^17. The first product is subtracted exactly: both are
// multiples of 2^-23, and what is left is below 1.
constexpr float kLargestAngle = 0x1p17f;
struct Angle {
  Pair r;
  vi quadrant;  // in the low bits
};
PLAIT_INLINE Angle reduce_angle(vf x) {
  const vf shifted = fma(x, splat(0x1.45f306p-1f), splat(0x1.8p23f)), k = shifted - 0x1.8p23f;
  const Pair p = product(k, splat(kHalfPi[1]));
  const Pair r = two_sum(fma(k, splat(-kHalfPi[0]), x), -p.h);
  return {{r.h, fma(k, splat(-kHalfPi[2]), r.l - p.l)}, (vi)shifted};
}
PLAIT_INLINE vf sin(Pair r) {
  const vf z = r.h * r.h;
  return r.h + fma(r.h * z, polynomial(z, kSin), fma(z * r.l, splat(-0.5f), r.l));
}
PLAIT_INLINE vf cos(Pair r) {
  const vf z = fma(r.h, r.h, r.h * (r.l + r.l));
  return fma(z, fma(z, polynomial(z, kCos), splat(-0.5f)), splat(1.0f));
}
PLAIT_INLINE Pair tan(Pair r) {
  const Pair t = fast_two_sum(r.h, cubic(r.h, kTan, r.l));
  return {t.h, fma(t.h * t.h, r.l, t.l)};
}

// log(x) = k log(2) + f + tail, x positive and normal.
constexpr int kRootHalf = 0x3f3504f3;
struct Log {
  vf k, f, tail;
};
PLAIT_INLINE vf log_tail(vf f) {
  const vf f2 = f * f, f4 = f2 * f2;
  const auto pair = [&](int i) {
    return fma(f, splat(kLogTailFloat[i + 1]), splat(kLogTailFloat[i]));
  };
  const vf high = fma(f4, splat(kLogTailFloat[9]), fma(f2, pair(7), pair(5)));
  return fma(f * f2, fma(f4, high, fma(f2, pair(3), pair(1))), f2 * kLogTailFloat[0]);
}
PLAIT_INLINE Log log_parts(vf x) {
  const vi shifted = (vi)x - kRootHalf;
  const vf f = (vf)((shifted & 0x7fffff) + kRootHalf) - 1.0f;
  return {__builtin_convertvector(shifted >> 23, vf), f, log_tail(f)};
}
// Of 1 + x > 0.
PLAIT_INLINE Log log1p_parts(vf x) {
  const vi shifted = (vi)(1.0f + x) - kRootHalf;
  const vf inverse = (vf)(0x3f800000 - (shifted & static_cast<int>(0xff800000)));
  const Pair f = fast_two_sum(inverse - 1.0f, x * inverse);
  return {__builtin_convertvector(shifted >> 23, vf), f.h, log_tail(f.h) + fma(f.h, -f.l, f.l)};
}
// 0.99 ulp.
PLAIT_INLINE vf natural(Log l) {
  const vf whole = l.k * kLn2Log[0], sum = whole + l.f;  // exact; |whole| > |f| or whole = 0
  return sum + (l.tail + fma(l.k, splat(kLn2Log[1]), l.f - (sum - whole)));
}
// unit = log_b(2), the first part times k exact; factor = log_b(e).
PLAIT_INLINE vf in_base(Log l, const float (&unit)[2], const float (&factor)[2]) {
  const Pair p = product(l.f, splat(factor[0]));
  const vf rest = fma(l.tail, splat(factor[0]), fma(l.f, splat(factor[1]), p.l));
  const Pair sum = fast_two_sum(l.k * unit[0], p.h);
  return sum.h + (sum.l + fma(l.k, splat(unit[1]), rest));
}

// exp(x) = s (1 + p.h + p.l) for |x| <= 88.
struct Exp {
  Pair p;
  vf s;
};
PLAIT_INLINE Exp exp_parts(vf x) {
  const vf shifted = fma(x, splat(float(kLog2E[0])), splat(0x1.8p23f)), k = shifted - 0x1.8p23f;
  const vf exact = fma(k, splat(-kLn2Float[0]), x), r = fma(k, splat(-kLn2Float[1]), exact);
  const vf rest = fma(k, splat(-kLn2Float[1]), exact - r);
  return {fast_two_sum(r, fma(r * r, polynomial(r, kExpTailFloat), rest)),
          (vf)(((vi)shifted << 23) + 0x3f800000)};
}
// exp(x) - 1
PLAIT_INLINE Pair expm1(vf x) {
  const Exp e = exp_parts(x);
  const vf less = e.s - 1.0f, rest = (e.s - less) - 1.0f;
  const Pair sum = fast_two_sum(less, e.s * e.p.h);
  return {sum.h, fma(e.s, e.p.l, sum.l + rest)};
}

}  // namespace plait::loops::PLAIT_TIER::float32
