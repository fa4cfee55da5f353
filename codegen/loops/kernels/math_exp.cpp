// exp, exp2, expm1, log, log2, log10, log1p.
#include <cmath>
#include <cstring>

#include "codegen/loops/float32.hpp"
#include "codegen/loops/single.hpp"
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

double exp_special(double x) {
  // Masked values make -inf frequent.
  if (std::isless(x, -746.0)) return x == -HUGE_VAL ? 0.0 : std::exp(-746.0);
  return std::exp(x);
}
double exp2_special(double x) { return std::exp2(x); }
double expm1_special(double x) { return std::expm1(x); }
double log_special(double x) { return std::log(x); }
double log2_special(double x) { return std::log2(x); }
double log10_special(double x) { return std::log10(x); }
double log1p_special(double x) { return std::log1p(x); }

// Results that float32 has no normal number for, of finite lanes: rounded from float64, with its
// flags.
PLAIT_COLD void exp_tails(vf& result, const vi& mask, const vf& x) {
  const vf lanes = mask ? x : vf{};
  const vf inside = lanes < -150.0f ? splat(-150.0f) : lanes > 100.0f ? splat(100.0f) : lanes;
  vf_half parts[sizeof(vf) / sizeof(vf_half)];
  std::memcpy(parts, &inside, sizeof inside);
  for (vf_half& part : parts) {
    const single::Exp e = single::exp_parts(widen(part));
    part = narrow(scale(1.0 + e.p, e.k));
  }
  vf tails;
  std::memcpy(&tails, parts, sizeof tails);
  result = mask ? tails : result;
}
struct Exp {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 708.0);
    const vd a = select(special, vd{}, x);
    const Rounded k = rounded(fma(a, kLog2E[0], kRounder));
    const vd r = fma(k.value, -kLn2[1], fma(k.value, -kLn2[0], a));
    const vd r2 = r * r;
    vd result = scale(1.0 + fma(r2, polynomial_pairs(r, r2, kExpTail), r), k.bits);
    if (any(special)) [[unlikely]]
      patch<exp_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    const vi size = float32::magnitude(x), tiny = float32::below(size, 0x1p-30f);
    special = float32::above(size, 87.0f);
    return exp_float(special | tiny ? vf{} : x);
  }
  static PLAIT_COLD void mend(vf& result, const vi& special, const vf& x) {
    const vi masked = (vi)(x == -__builtin_inff());  // which makes them frequent
    result = masked ? vf{} : result;
    const vi odd = special & (vi)(((vi)x & 0x7fffffff) >= 0x7f800000);
    if (const vi finite = special & ~odd; any(finite)) exp_tails(result, finite, x);
    if (const vi rest = odd & ~masked; any(rest)) patch_float<exp_special>(result, rest, x);
  }
};

struct Exp2 {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 1021.0);
    const vd a = select(special, vd{}, x);
    const Rounded k = rounded(a + kRounder);
    const vd t = a - k.value;
    const vd r = t * kLn2Full[0];
    const vd rl = fma(t, kLn2Full[0], -r) + t * kLn2Full[1];
    vd result = scale(1.0 + (r + exp_tail(r, rl)), k.bits);
    if (any(special)) [[unlikely]]
      patch<exp2_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    const vi size = float32::magnitude(x), tiny = float32::below(size, 0x1p-30f);
    special = float32::above(size, 125.0f);
    const vf a = special | tiny ? vf{} : x;
    const vf shifted = a + 0x1.8p23f, t = a - (shifted - 0x1.8p23f);
    const vf r = t * 0x1.62e43p-1f;
    const vf low = fma(t, splat(0x1.62e43p-1f), -r) + t * -0x1.05c610p-29f;
    vf p = splat(kExpTailFloat[5]);
    for (int i = 4; i >= 0; --i) p = fma(p, r, splat(kExpTailFloat[i]));
    return (vf)((vi)(1.0f + (r + fma(r * r, p, low))) + ((vi)shifted << 23));
  }
  static constexpr auto mend = patch_float<exp2_special>;
};

struct Expm1 {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 700.0);
    const vd a = select(special, vd{}, x);
    const Pair p = expm1_pair(a);
    vd result = select(within(x, 0x1p-54), x, p.h + p.l);
    if (any(special)) [[unlikely]]
      patch<expm1_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    const vi size = float32::magnitude(x), tiny = float32::below(size, 0x1p-30f);
    special = (vi)((vi)x > __builtin_bit_cast(int, 88.0f)) | (vi)(size > 0x7f800000);
    // -1 from far above -30 on.
    const vf a = ((vi)x < 0) & float32::above(size, 30.0f) ? splat(-30.0f) : x;
    const float32::Pair e = float32::expm1(special | tiny ? vf{} : a);
    return tiny ? x : e.h + e.l;
  }
  static constexpr auto mend = patch_float<expm1_special>;
};

PLAIT_INLINE vf ordinary(vf x, vi& special) {
  special = (vi)((vi)x < 0x00800000) | (vi)((vi)x >= 0x7f800000);
  return special ? splat(1.0f) : x;
}
struct Log {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = not_positive_normal(x);
    const Pair l = log_pair(split(select(special, splat(1.0), x)));
    vd result = l.h + l.l;
    if (any(special)) [[unlikely]]
      patch<log_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    return float32::natural(float32::log_parts(ordinary(x, special)));
  }
  static constexpr auto mend = patch_float<log_special>;
};

// The logarithm to another base: that of 2 as `unit`, 1 / ln(base) as `factor`, and tables to it.
template <int n>
PLAIT_INLINE vd log_in_base(vd x, const double (&unit)[2], const double (&factor)[2],
                            const double (&table)[16], const double (&low)[16],
                            const double (&tail)[n]) {
  const Split s = split(x);
  const Pair r = rest_of_split(s);
  const vd r2 = r.h * r.h;
  const Pair scaled = product(r.h, splat(factor[0]));
  const Pair sum = fast_two_sum(fma(s.k, unit[0], look_up(table, s.part)), scaled.h);
  const vd rest =
      fma(s.k, unit[1], look_up(low, s.part)) + fma(r.h, factor[1], fma(r.l, factor[0], scaled.l));
  return sum.h + (sum.l + fma(r2, polynomial_pairs(r.h, r2, tail), rest));
}
struct Log2 {
  static PLAIT_INLINE vd f(vd x) {
    constexpr double unit[2] = {1.0, 0.0};
    const vl special = not_positive_normal(x);
    vd result = log_in_base(select(special, splat(1.0), x), unit, kLog2E, kLog2Table, kLog2TableLow,
                            kLog1pTail2);
    if (any(special)) [[unlikely]]
      patch<log2_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    constexpr float unit[] = {1, 0}, factor[] = {0x1.715476p0f, 0x1.4ae0cp-26f};
    return float32::in_base(float32::log_parts(ordinary(x, special)), unit, factor);
  }
  static constexpr auto mend = patch_float<log2_special>;
};
struct Log10 {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = not_positive_normal(x);
    vd result = log_in_base(select(special, splat(1.0), x), kLog10Of2, kLog10E, kLog10Table,
                            kLog10TableLow, kLog1pTail10);
    if (any(special)) [[unlikely]]
      patch<log10_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    constexpr float unit[] = {0x1.344p-2f, 0x1.3509f8p-18f},
                    factor[] = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
    return float32::in_base(float32::log_parts(ordinary(x, special)), unit, factor);
  }
  static constexpr auto mend = patch_float<log10_special>;
};

struct Log1p {
  static PLAIT_INLINE vd f(vd x) {
    // -1 and below, and what is not finite or beyond 2^1000.
    const vl special = (vl)((bits(x) >= __builtin_bit_cast(long long, 0x1p1000)) |
                            ((vul)bits(x) >= __builtin_bit_cast(unsigned long long, -1.0)));
    const Pair p = log1p_pair(select(special, vd{}, x), vd{});
    vd result = select(within(x, 0x1p-54), x, p.h + p.l);
    if (any(special)) [[unlikely]]
      patch<log1p_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    // -1 and below, and what is not finite or beyond 2^100.
    special = (vi)(((vi)x >= __builtin_bit_cast(int, 0x1p100f)) |
                   ((vu)x >= __builtin_bit_cast(unsigned, -1.0f)));
    const vi tiny = float32::below(float32::magnitude(x), 0x1p-30f);
    const vf l = float32::natural(float32::log1p_parts(special | tiny ? vf{} : x));
    return tiny ? x : l;
  }
  static constexpr auto mend = patch_float<log1p_special>;
};

}  // namespace

Found exponential(OpId op, DType t) {
  switch (op) {
    case OpId::Exp:
      return unary_math<Exp>(t);
    case OpId::Exp2:
      return unary_math<Exp2>(t);
    case OpId::Expm1:
      return unary_math<Expm1>(t);
    case OpId::Log:
      return unary_math<Log>(t);
    case OpId::Log2:
      return unary_math<Log2>(t);
    case OpId::Log10:
      return unary_math<Log10>(t);
    case OpId::Log1p:
      return unary_math<Log1p>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
