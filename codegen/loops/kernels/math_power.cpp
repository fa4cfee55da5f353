// pow, cbrt, logaddexp and logaddexp2.
#include <cmath>

#include "codegen/loops/single.hpp"
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

double pow_special(double x, double y) { return std::pow(x, y); }
// libm's cbrt of a subnormal is off by more than 1 ULP.
double cbrt_special(double x) {
  return x == 0 || !std::isfinite(x) ? x + x
                                     : static_cast<double>(std::cbrt(static_cast<long double>(x)));
}
// NumPy's formulas, whose comparisons make a NaN raise invalid.
double logaddexp_special(double x, double y) {
  if (x == y) return x + M_LN2;
  const double d = x - y;
  if (d > 0) return x + std::log1p(std::exp(-d));
  return d <= 0 ? y + std::log1p(std::exp(d)) : d;
}
double logaddexp2_special(double x, double y) {
  if (x == y) return x + 1;
  const double d = x - y;
  if (d > 0) return x + M_LOG2E * std::log1p(std::exp2(-d));
  return d <= 0 ? y + M_LOG2E * std::log1p(std::exp2(d)) : d;
}

// Negative numbers to the power of integers: the sign that the power of the magnitude gets, and
// where there is no such power.
struct Signed {
  vd magnitude;
  vl sign, none;
};
PLAIT_INLINE Signed signed_base(vd x, vd y) {
  const vd shifted = select(beyond(y, 0x1p50), vd{}, y) + kRounder;
  const vl negative = (vl)(bits(x) < 0), fraction = (vl)(shifted - kRounder != y);
  return {abs(x), negative & (bits(shifted) << 63), negative & fraction};
}
// Squares, cubes and fourth powers, which programs take most, are products.
PLAIT_INLINE vl few(vd y) { return (vl)(y == 2.0) | (vl)(y == 3.0) | (vl)(y == 4.0); }

struct Power {
  static PLAIT_INLINE vd f(vd x, vd y) {
    const vl by_product = few(y) & ~(beyond(x, 0x1p200) | within(x, 0x1p-200));
    if (!any(by_product)) return general(x, y);
    return any(~by_product) ? mixed(x, y, by_product) : product_of(x, y);
  }
  static PLAIT_COLD vd mixed(const vd& x, const vd& y, const vl& by_product) {
    return select(by_product, product_of(select(by_product, x, vd{}), y),
                  general(select(by_product, splat(1.0), x), y));
  }
  static PLAIT_INLINE vd general(vd x, vd y) {
    if (any(not_positive_normal(x))) [[unlikely]]
      return of_any(x, y);
    vl special = beyond(y, 0x1p64);
    vd result = core(x, y, special);
    if (any(special)) [[unlikely]]
      patch<pow_special>(result, special, x, y);
    return result;
  }
  static PLAIT_COLD vd of_any(const vd& x, const vd& y) {
    const Signed s = signed_base(x, y);
    vl special = not_positive_normal(s.magnitude) | beyond(y, 0x1p64) | s.none;
    const vd power = core(select(special, splat(1.0), s.magnitude), y, special);
    vd result = from_bits(bits(power) | s.sign);
    if (any(special)) patch<pow_special>(result, special, x, y);
    return result;
  }
  // x positive and normal; what is `special` already counts as y = 0.
  static PLAIT_INLINE vd core(vd x, vd y, vl& special) {
    const vd b = select(special, vd{}, y);
    const Pair l = precise_log_pair(split(x));
    const Pair p = product(b, l.h);
    const vl far = beyond(p.h, 707.0);
    special |= far;
    return exp_with_tail(select(far, vd{}, p.h), select(far, vd{}, fma(b, l.l, p.l)));
  }
  static PLAIT_INLINE vd product_of(vd x, vd y) {
    const Pair square = product(x, x);
    const vl cube = (vl)(y == 3.0);
    const vd by = select(cube, x, square.h);
    const Pair r = product(square.h, by);
    const vd higher = r.h + (r.l + square.l * select(cube, x, 2.0 * square.h));
    return select((vl)(y == 2.0), square.h, higher);
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x, vd y) {
      const vl square = (vl)(y == 2.0);
      if (!any(~square)) return x * x;
      return select(square, x * x, general(x, y));
    }
    static PLAIT_INLINE vd general(vd x, vd y) {
      if (any(not_positive_normal(x))) [[unlikely]]
        return of_any(x, y);
      const vl special = single::infinite(y);
      vd result = core(x, select(special, vd{}, y));
      if (any(special)) [[unlikely]]
        patch<pow_special>(result, special, x, y);
      return result;
    }
    static PLAIT_COLD vd of_any(const vd& x, const vd& y) {
      const Signed s = signed_base(x, y);
      const vl special = not_positive_normal(s.magnitude) | single::infinite(y) | s.none;
      const vd power = core(select(special, splat(1.0), s.magnitude), select(special, vd{}, y));
      vd result = from_bits(bits(power) | s.sign);
      if (any(special)) patch<pow_special>(result, special, x, y);
      return result;
    }
    static PLAIT_INLINE vd core(vd x, vd y) {
      const single::Log l = single::log_parts(x, single::kLogLong);
      const vd t = y * fma(l.mantissa, splat(kLog2E[0]), l.k);
      return single::exp2(select(beyond(t, 1000.0), copysign(splat(1000.0), t), t));
    }
  };
};

// Kahan's start from the exponent, a polynomial to 23 bits and one Halley step, after FreeBSD's
// s_cbrt.
struct Cbrt {
  // To 23 bits.
  static PLAIT_INLINE vd start(vd a, vd inverse) {
    const vl high = (vl)((vul)bits(a) >> 32);
    const vd high_value = from_bits(high | __builtin_bit_cast(long long, 0x1p52)) - 0x1p52;
    const vl third = bits(high_value * (1.0 / 3.0) + 0x1p52) & 0xffffffff;
    const vd t = from_bits((third + 715094163) << 32);
    const vd r = (t * t) * (t * inverse);
    const vd low = fma(r, fma(r, splat(1.621429720105354466140), splat(-1.88497979543377169875)),
                       splat(1.87595182427177009643));
    const vd high_part = fma(r, splat(0.145996192886612446982), splat(-0.758397934778766047437));
    return t * fma(r * r * r, high_part, low);
  }
  static PLAIT_INLINE vd f(vd x) {
    const vd size = abs(x);
    const vl special = not_positive_normal(size);
    const vd a = select(special, splat(1.0), size);
    const vl high = (vl)((vul)bits(a) >> 32);
    const vd high_value = from_bits(high | __builtin_bit_cast(long long, 0x1p52)) - 0x1p52;
    const vl third = bits(high_value * (1.0 / 3.0) + 0x1p52) & 0xffffffff;
    vd t = from_bits((third + 715094163) << 32);
    const vd r = (t * t) * (t / a);
    const vd low = fma(r, fma(r, splat(1.621429720105354466140), splat(-1.88497979543377169875)),
                       splat(1.87595182427177009643));
    const vd high_part = fma(r, splat(0.145996192886612446982), splat(-0.758397934778766047437));
    t = t * fma(r * r * r, high_part, low);
    t = from_bits((bits(t) + 0x80000000) & static_cast<long long>(0xffffffffc0000000));
    const vd q = a / (t * t);
    const vd correction = (q - t) / (t + t + q);
    vd result = copysign(fma(t, correction, t), x);
    if (any(special)) [[unlikely]]
      patch<cbrt_special>(result, special, x);
    return result;
  }
  // The same start, one Halley step without a division.
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vd size = abs(x);
      const vl special = not_positive_normal(size);
      const vd a = select(special, splat(1.0), size), inverse = 1.0 / a;
      const vd t = start(a, inverse), e = fma(t * t, t * inverse, splat(-1.0));
      vd result = copysign(fma(t * e, fma(e, splat(2.0 / 9), splat(-1.0 / 3)), t), x);
      if (any(special)) [[unlikely]]
        patch<cbrt_special>(result, special, x);
      return result;
    }
  };
};

// Larger operand and minus the distance to the smaller one.
struct Ordered {
  vd larger;
  Pair distance;
};
PLAIT_INLINE Ordered ordered(vd x, vd y) {
  const vl swap = (vl)(x < y);
  const vd a = select(swap, y, x), b = select(swap, x, y);
  return {a, two_sum(b, -a)};
}
// Beyond `far` the sum is the larger operand, unless that is itself tiny.
struct Logaddexp {
  static PLAIT_INLINE vd f(vd x, vd y) {
    vl special = beyond(x, 0x1p1000) | beyond(y, 0x1p1000);
    const Ordered o = ordered(select(special, vd{}, x), select(special, vd{}, y));
    const vl far = beyond(o.distance.h, 600.0);
    special |= far & within(o.larger, 1e-100);
    const Pair e = exp_pair(select(far, vd{}, o.distance.h), select(far, vd{}, o.distance.l));
    const Pair sum = add({o.larger, vd{}}, log1p_pair(e.h, e.l));
    vd result = select(far, o.larger, sum.h + sum.l);
    if (any(special)) [[unlikely]]
      patch<logaddexp_special>(result, special, x, y);
    return result;
  }
};
struct Logaddexp2 {
  static PLAIT_INLINE vd f(vd x, vd y) {
    vl special = beyond(x, 0x1p1000) | beyond(y, 0x1p1000);
    const Ordered o = ordered(select(special, vd{}, x), select(special, vd{}, y));
    const vl far = beyond(o.distance.h, 800.0);
    special |= far & within(o.larger, 1e-100);
    const vd d = select(far, vd{}, o.distance.h), dl = select(far, vd{}, o.distance.l);
    const Pair t = product(d, splat(kLn2Full[0]));
    const Pair e = exp_pair(t.h, t.l + fma(d, kLn2Full[1], dl * kLn2Full[0]));
    const Pair l = log1p_pair(e.h, e.l);
    const Pair p = product(l.h, splat(kLog2E[0]));
    const Pair sum = add({o.larger, vd{}}, {p.h, p.l + fma(l.h, kLog2E[1], l.l * kLog2E[0])});
    // Equal operands by the exact rule, next to -1 above all.
    const vd apart = select((vl)(o.distance.h == 0.0), o.larger + 1.0, sum.h + sum.l);
    vd result = select(far, o.larger, apart);
    if (any(special)) [[unlikely]]
      patch<logaddexp2_special>(result, special, x, y);
    return result;
  }
};

}  // namespace

Found power(OpId op, DType t) {
  switch (op) {
    case OpId::Power:
    case OpId::FloatPower:
      return binary_math<Power>(t);
    case OpId::Cbrt:
      return unary_math<Cbrt>(t);
    case OpId::Logaddexp:
      return binary_math<Logaddexp>(t);
    case OpId::Logaddexp2:
      return binary_math<Logaddexp2>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
