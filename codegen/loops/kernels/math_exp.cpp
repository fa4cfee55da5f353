// exp, exp2, expm1, log, log2, log10, log1p.
#include <cmath>
#include <cstring>

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

template <double (*scalar)(double)>
PLAIT_COLD void patch_float(vf& result, const vi& mask, const vf& x) {
  for (int i = 0; i < kFloatLanes; ++i)
    if (mask[i]) result[i] = static_cast<float>(scalar(x[i]));
}
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
  static PLAIT_INLINE vf f(vf x) {
    const vi special = (vi)(((vi)x & 0x7fffffff) > __builtin_bit_cast(int, 87.0f));
    vf result = exp_float(special ? vf{} : x);
    if (any(special)) [[unlikely]] {
      const vi masked = (vi)(x == -__builtin_inff());  // which makes them frequent
      result = masked ? vf{} : result;
      const vi odd = special & (vi)(((vi)x & 0x7fffffff) >= 0x7f800000);
      if (const vi finite = special & ~odd; any(finite)) exp_tails(result, finite, x);
      if (const vi rest = odd & ~masked; any(rest)) patch_float<exp_special>(result, rest, x);
    }
    return result;
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
  static PLAIT_INLINE vf f(vf x) {
    const vi special = (vi)(((vi)x & 0x7fffffff) > __builtin_bit_cast(int, 125.0f));
    const vf a = special ? vf{} : x;
    const vf shifted = a + 0x1.8p23f, t = a - (shifted - 0x1.8p23f);
    const vf r = t * 0x1.62e43p-1f;
    const vf low = fma(t, splat(0x1.62e43p-1f), -r) + t * -0x1.05c610p-29f;
    vf p = splat(kExpTailFloat[5]);
    for (int i = 4; i >= 0; --i) p = fma(p, r, splat(kExpTailFloat[i]));
    vf result = (vf)((vi)(1.0f + (r + fma(r * r, p, low))) + ((vi)shifted << 23));
    if (any(special)) [[unlikely]]
      patch_float<exp2_special>(result, special, x);
    return result;
  }
};

struct Expm1 {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 700.0);
    const vd a = select(special, vd{}, x);
    const Pair p = expm1_pair(a, vd{});
    vd result = select(within(x, 0x1p-54), x, p.h + p.l);
    if (any(special)) [[unlikely]]
      patch<expm1_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, 700.0);
      const single::Exp e = single::exp_parts(select(special, vd{}, x));
      const vd s = power_of_two(e.k);
      vd result = select(within(x, 0x1p-30), x, fma(s, e.p, s - 1.0));
      if (any(special)) [[unlikely]]
        patch<expm1_special>(result, special, x);
      return result;
    }
  };
};

// log(x), x positive and normal: 0.99 ulp.
PLAIT_INLINE vf log_float(vf x) {
  constexpr int kRootHalf = 0x3f3504f3;
  const vi shifted = (vi)x - kRootHalf;
  const vf k = __builtin_convertvector(shifted >> 23, vf);
  const vf f = (vf)((shifted & 0x7fffff) + kRootHalf) - 1.0f;
  const vf f2 = f * f, f4 = f2 * f2;
  const auto pair = [&](int i) {
    return fma(f, splat(kLogTailFloat[i + 1]), splat(kLogTailFloat[i]));
  };
  const vf high = fma(f2, fma(f2, pair(8), pair(6)), pair(4));
  const vf tail = f2 * fma(f4, high, fma(f2, pair(2), pair(0)));
  const vf whole = k * kLn2Log[0], sum = whole + f;  // exact; |whole| > |f| or whole = 0
  return sum + (tail + fma(k, splat(kLn2Log[1]), f - (sum - whole)));
}

struct Log {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = not_positive_normal(x);
    const Split p = split(select(special, splat(1.0), x));
    const Pair m = log_mantissa<false>(p.m - 1.0, vd{});
    const Pair sum = fast_two_sum(p.k * kLn2[0], m.h);
    vd result = sum.h + (sum.l + fma(p.k, kLn2[1], m.l));
    if (any(special)) [[unlikely]]
      patch<log_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x) {
    const vi special = (vi)((vi)x < 0x00800000) | (vi)((vi)x >= 0x7f800000);
    vf result = log_float(special ? splat(1.0f) : x);
    if (any(special)) [[unlikely]]
      patch_float<log_special>(result, special, x);
    return result;
  }
};

// k scale + log(m) factor, for the logarithms of other bases.
PLAIT_INLINE vd log_in_base(vd x, const double (&unit)[2], const double (&factor)[2]) {
  const Split p = split(x);
  const Pair m = log_mantissa<false>(p.m - 1.0, vd{});
  const Pair t = fast_two_sum(m.h, m.l);
  const Pair scaled = product(t.h, splat(factor[0]));
  const vd tail = scaled.l + fma(t.h, factor[1], t.l * factor[0]);
  const Pair sum = fast_two_sum(p.k * unit[0], scaled.h);
  return sum.h + (sum.l + fma(p.k, unit[1], tail));
}
struct Log2 {
  static PLAIT_INLINE vd f(vd x) {
    constexpr double unit[2] = {1.0, 0.0};
    const vl special = not_positive_normal(x);
    vd result = log_in_base(select(special, splat(1.0), x), unit, kLog2E);
    if (any(special)) [[unlikely]]
      patch<log2_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = not_positive_normal(x);
      const single::Log l = single::log_parts(select(special, splat(1.0), x), single::kLogShort);
      vd result = fma(l.mantissa, splat(kLog2E[0]), l.k);
      if (any(special)) [[unlikely]]
        patch<log2_special>(result, special, x);
      return result;
    }
  };
};
struct Log10 {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = not_positive_normal(x);
    vd result = log_in_base(select(special, splat(1.0), x), kLog10Of2, kLog10E);
    if (any(special)) [[unlikely]]
      patch<log10_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = not_positive_normal(x);
      const single::Log l = single::log_parts(select(special, splat(1.0), x), single::kLogShort);
      vd result = fma(l.mantissa, splat(kLog10E[0]), l.k * (kLog10E[0] * kLn2Full[0]));
      if (any(special)) [[unlikely]]
        patch<log10_special>(result, special, x);
      return result;
    }
  };
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
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = (vl)((bits(x) >= __builtin_bit_cast(long long, 0x1p1000)) |
                              ((vul)bits(x) >= __builtin_bit_cast(unsigned long long, -1.0)));
      const vd a = select(special, vd{}, x);
      const vd value = select(within(x, 0x1p-18), a - 0.5 * (a * a), single::log(1.0 + a));
      vd result = select(within(x, 0x1p-40), x, value);
      if (any(special)) [[unlikely]]
        patch<log1p_special>(result, special, x);
      return result;
    }
  };
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
