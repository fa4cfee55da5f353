// sin, cos, tan and their inverses, hypot, and the absolute value of complex numbers.
#include <cmath>

#include "codegen/loops/float32.hpp"
#include "codegen/loops/modulus.hpp"
#include "codegen/loops/roots.hpp"
#include "codegen/loops/single.hpp"
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

using namespace coefficients;

double sin_special(double x) { return std::sin(x); }
double cos_special(double x) { return std::cos(x); }
double tan_special(double x) { return std::tan(x); }
double asin_special(double x) { return std::asin(x); }
double acos_special(double x) { return std::acos(x); }
double atan_special(double x) { return std::atan(x); }
double atan2_special(double y, double x) { return std::atan2(y, x); }
double hypot_special(double x, double y) { return std::hypot(x, y); }

// x = quadrant pi/2 + r for |x| below kLargest: three exact subtractions, so that r keeps its
// precision next to the multiples of pi/2. Beyond, libm's Payne-Hanek.
constexpr double kLargest = 0x1p19;
struct Angle {
  Pair r;
  vl quadrant;  // in the low bits
};
PLAIT_INLINE Angle reduce_angle(vd x) {
  const Rounded k = rounded(fma(x, 0x1.45f306dc9c883p-1, kRounder));
  const vd a = fma(k.value, -kHalfPi[0], x);
  const Pair b = two_sum(a, k.value * -kHalfPi[1]);
  const Pair c = two_sum(b.h, k.value * -kHalfPi[2]);
  const vd tail = c.l + fma(k.value, -kHalfPi[3], b.l);
  return {fast_two_sum(c.h, tail), k.bits};
}
PLAIT_INLINE Pair sin_pair(Pair r) {
  const vd z = r.h * r.h;
  const vd tail = fma(r.h * z, polynomial_pairs(z, z * z, kSinTail), fma(z * -0.5, r.l, r.l));
  return fast_two_sum(r.h, tail);
}
PLAIT_INLINE Pair cos_pair(Pair r) {
  const Pair z = product(r.h, r.h);
  const vd z2 = z.h * z.h;
  const vd w = 1.0 - 0.5 * z.h, wl = (1.0 - w) - 0.5 * z.h;
  const vd tail = fma(z2, polynomial_pairs(z.h, z2, kCosTail), -(r.h * r.l + 0.5 * z.l));
  return fast_two_sum(w, wl + tail);
}
PLAIT_INLINE vl odd(vl quadrant) { return (vl)((quadrant & 1) != 0); }
PLAIT_INLINE vd flip_sign(vd x, vl quadrant) { return from_bits(bits(x) ^ ((quadrant & 2) << 62)); }

PLAIT_INLINE vi odd(vi quadrant) { return (vi)((quadrant & 1) != 0); }
PLAIT_INLINE vf flip_sign(vf x, vi quadrant) { return (vf)((vi)x ^ ((quadrant & 2) << 30)); }
// Angles that float32 reduces; the others in float64.
template <class F>
PLAIT_INLINE vf turned(vf x, vi& large, vf near_zero, F of_angle) {
  const vi size = float32::magnitude(x), tiny = float32::below(size, 0x1p-13f);
  large = float32::above(size, float32::kLargestAngle);
  const vf value = of_angle(float32::reduce_angle(tiny | large ? vf{} : x));
  return tiny ? near_zero : value;
}

struct Sin {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, kLargest);
    const Angle a = reduce_angle(select(special, vd{}, x));
    const vd s = flip_sign(select(odd(a.quadrant), cos_pair(a.r).h, sin_pair(a.r).h), a.quadrant);
    vd result = select(within(x, 0x1p-27), x, s);
    if (any(special)) [[unlikely]]
      patch<sin_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, kLargest);
      const single::Circle c = single::circle(select(special, vd{}, x));
      const vd s = flip_sign(select(odd(c.quadrant), c.cos, c.sin), c.quadrant);
      vd result = select(within(x, 0x1p-27), x, s);
      if (any(special)) [[unlikely]]
        patch<sin_special>(result, special, x);
      return result;
    }
  };
  static PLAIT_INLINE vf f(vf x, vi& special) {
    return turned(x, special, x, [](float32::Angle a) __attribute__((always_inline)) {
      return flip_sign(odd(a.quadrant) ? float32::cos(a.r) : float32::sin(a.r), a.quadrant);
    });
  }
  static constexpr auto mend = patch_halves<Sin>;
};
struct Cos {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, kLargest);
    const Angle a = reduce_angle(select(special, vd{}, x));
    const vd c = select(odd(a.quadrant), sin_pair(a.r).h, cos_pair(a.r).h);
    vd result = flip_sign(c, a.quadrant + 1);
    if (any(special)) [[unlikely]]
      patch<cos_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, kLargest);
      const single::Circle c = single::circle(select(special, vd{}, x));
      vd result = flip_sign(select(odd(c.quadrant), c.sin, c.cos), c.quadrant + 1);
      if (any(special)) [[unlikely]]
        patch<cos_special>(result, special, x);
      return result;
    }
  };
  static PLAIT_INLINE vf f(vf x, vi& special) {
    return turned(x, special, splat(1.0f), [](float32::Angle a) __attribute__((always_inline)) {
      return flip_sign(odd(a.quadrant) ? float32::sin(a.r) : float32::cos(a.r), a.quadrant + 1);
    });
  }
  static constexpr auto mend = patch_halves<Cos>;
};
struct Tan {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, kLargest);
    const Angle a = reduce_angle(select(special, vd{}, x));
    const Pair s = sin_pair(a.r), c = cos_pair(a.r);
    const vl swap = odd(a.quadrant);
    const Pair n{select(swap, -c.h, s.h), select(swap, -c.l, s.l)};
    const Pair d{select(swap, s.h, c.h), select(swap, s.l, c.l)};
    // r is never 0 in odd quadrants: no number is an odd multiple of pi/2.
    const Pair q = quotient(n, d);
    vd result = select(within(x, 0x1p-27), x, q.h + q.l);
    if (any(special)) [[unlikely]]
      patch<tan_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, kLargest);
      const single::Circle c = single::circle(select(special, vd{}, x));
      const vl swap = odd(c.quadrant);
      const vd q = select(swap, -c.cos, c.sin) / select(swap, c.sin, c.cos);
      vd result = select(within(x, 0x1p-27), x, q);
      if (any(special)) [[unlikely]]
        patch<tan_special>(result, special, x);
      return result;
    }
  };
  static PLAIT_INLINE vf f(vf x, vi& special) {
    return turned(x, special, x, [](float32::Angle a) __attribute__((always_inline)) {
      const float32::Pair t = float32::tan(a.r);
      const vi swap = odd(a.quadrant);
      const vf n = swap ? splat(-1.0f) : t.h, d = swap ? t.h : splat(1.0f);
      const vf inverse = 1.0f / d, q = n * inverse;
      return q + (fma(-q, d, n) + (swap ? -q * t.l : t.l)) * inverse;
    });
  }
  static constexpr auto mend = patch_halves<Tan>;
};

// The angle of (x, y) in the first quadrant, y or x may be 0: atan(c) plus the angle between,
// c in {0, 1/2, 1, 3/2, inf}.
PLAIT_INLINE Pair angle(Pair y, Pair x) {
  const vl half = (vl)(y.h > 0.4375 * x.h), one = (vl)(y.h > 0.6875 * x.h);
  const vl more = (vl)(y.h > 1.1875 * x.h), right = (vl)(y.h > 2.4375 * x.h);
  const auto choose = [&](double a, double b, double c, double d, double e) {
    vd r = select(half, splat(b), splat(a));
    r = select(one, splat(c), r);
    r = select(more, splat(d), r);
    return select(right, splat(e), r);
  };
  const vd c = choose(0, 0.5, 1, 1.5, 0);
  const vd base = choose(0, kAtanHalf[0], kAtanOne[0], kAtanOneHalf[0], kHalfPiFull[0]);
  const vd base_l = choose(0, kAtanHalf[1], kAtanOne[1], kAtanOneHalf[1], kHalfPiFull[1]);
  const Pair cx = product(c, x.h), cy = product(c, y.h);
  const Pair over = two_sum(y.h, -cx.h), under = two_sum(x.h, cy.h);
  const Pair n{select(right, -x.h, over.h),
               select(right, -x.l, over.l + (y.l - fma(c, x.l, cx.l)))};
  const Pair d{select(right, y.h, under.h),
               select(right, y.l, under.l + (x.l + fma(c, y.l, cy.l)))};
  const Pair q = quotient(n, d);
  const vd z = q.h * q.h;
  const vd tail = fma(q.h * z, polynomial_pairs(z, z * z, kAtanTail), q.l);
  const Pair sum = fast_two_sum(base, q.h);
  return {sum.h, sum.l + (base_l + tail)};
}
PLAIT_INLINE Pair supplement(Pair t) {
  const Pair s = two_sum(splat(2 * kHalfPiFull[0]), -t.h);
  return {s.h, s.l + (2 * kHalfPiFull[1] - t.l)};
}
// sqrt(1 - a^2)
PLAIT_INLINE Pair cofunction(vd a) {
  const Pair square = product(a, a);
  const Pair rest = two_sum(splat(1.0), -square.h);
  return root({rest.h, rest.l - square.l});
}

struct Arctan {
  // atan(c) + atan((x - c) / (1 + c x)), c as in angle(). Beside an atan(c) the roundings of the
  // quotient, which is at most 0.42, do not show; without one it is x.
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 0x1p60);
    const vd a = abs(select(special, vd{}, x));
    const vl half = (vl)(a > 0.4375), one = (vl)(a > 0.6875);
    const vl more = (vl)(a > 1.1875), right = (vl)(a > 2.4375);
    const auto choose = [&](double first, double b, double c, double d, double e) {
      vd r = select(half, splat(b), splat(first));
      r = select(one, splat(c), r);
      r = select(more, splat(d), r);
      return select(right, splat(e), r);
    };
    const vd c = choose(0, 0.5, 1, 1.5, 0);
    const vd base = choose(0, kAtanHalf[0], kAtanOne[0], kAtanOneHalf[0], kHalfPiFull[0]);
    const vd base_l = choose(0, kAtanHalf[1], kAtanOne[1], kAtanOneHalf[1], kHalfPiFull[1]);
    const vd q = select(right, splat(-1.0), a - c) / select(right, a, fma(c, a, splat(1.0)));
    const vd z = q * q;
    const Pair sum = fast_two_sum(base, q);
    const vd tail = fma(q * z, polynomial_pairs(z, z * z, kAtanTail), base_l);
    vd result = select(within(x, 0x1p-27), x, copysign(sum.h + (sum.l + tail), x));
    if (any(special)) [[unlikely]]
      patch<atan_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi&) {
    using namespace float32;
    const vi size = magnitude(x), tiny = below(size, 0x1p-13f), inverse = above(size, 1.0f);
    const vf a = tiny ? vf{} : (vf)(above(size, 0x1p30f) ? (vi)splat(0x1p30f) : size);
    const vf n = inverse ? splat(-1.0f) : a, d = inverse ? a : splat(1.0f), q = n / d;
    // What the quotient leaves, -1 / a or nothing, times something like 1 / (1 + q^2).
    const vf rest = fma(-q, d, n) * -q * fma(q * q, splat(-0.5f), splat(1.0f));
    const float32::Pair sum = fast_two_sum(inverse ? splat(kHalfPi[0]) : vf{}, q);
    const vf low = sum.l + ((inverse ? splat(kHalfPi[1]) : vf{}) + rest);
    const vf value = sum.h + cubic(above(size, 0x1p13f) ? vf{} : q, kAtan, low);
    return tiny | (vi)(size > 0x7f800000) ? x : with_sign(value, x);
  }
  static void mend(vf&, const vi&, const vf&) {}  // none is special
};
// asin(a) = s + tail, a <= 1/2, and half of what pi/2 is more than asin(a) beyond.
struct HalfAngle {
  vi large;
  vf s, tail;
  explicit PLAIT_INLINE HalfAngle(vf a) : large(float32::above((vi)a, 0.5f)) {
    const vf z = large ? 0.5f - 0.5f * a : a * a;
    s = large ? sqrt(z) : a;
    const vf rest = fma(-s, s, z) / (s + s + (vf)((vi)(s == 0) & __builtin_bit_cast(int, 1.0f)));
    tail = fma(s * z, float32::polynomial(z, float32::kAsin), large ? rest : vf{});
  }
};
// asin(q) - q for q = a up to 1/2, and for q = sqrt((1 - a) / 2) beyond.
struct Arc {
  vl large;
  Pair q;
  vd rest;
};
PLAIT_INLINE Arc arc(vd a) {
  const vl large = beyond(a, 0.5);
  const vd z = select(large, 0.5 - 0.5 * a, a * a), s = sqrt(z);
  // Half the inverse of the root to 4 bits, enough for its tail.
  const vd half = from_bits(0x5fd6eb50c7b537a9 - ((vl)((vul)bits(z) >> 1)));
  const vd q = select(large, s, a), ql = select(large, fma(-s, s, z) * half, vd{});
  return {large, {q, ql}, fma(q * z, polynomial_pairs(z, z * z, kAsinTail), ql)};
}
struct Arcsin {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 1.0);
    const Arc t = arc(abs(select(special, vd{}, x)));
    const Pair rest = fast_two_sum(splat(kHalfPiFull[0]), -2.0 * t.q.h);
    const vd large = rest.h + (rest.l + fma(-2.0, t.rest, splat(kHalfPiFull[1])));
    const vd value = copysign(select(t.large, large, t.q.h + t.rest), x);
    vd result = select(within(x, 0x1p-27), x, value);
    if (any(special)) [[unlikely]]
      patch<asin_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    using namespace float32;
    const vi size = magnitude(x), tiny = below(size, 0x1p-13f);
    special = above(size, 1.0f);
    const vf a = tiny | special ? vf{} : (vf)size;
    const HalfAngle h(a);
    const float32::Pair sum =
        fast_two_sum(h.large ? splat(kHalfPi[0]) : vf{}, h.large ? -2.0f * h.s : h.s);
    const vf tail = h.large ? fma(h.tail, splat(-2.0f), splat(kHalfPi[1])) : h.tail;
    return tiny ? x : with_sign(sum.h + (sum.l + tail), x);
  }
  static constexpr auto mend = patch_float<asin_special>;
};
struct Arccos {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 1.0), negative = (vl)(bits(x) < 0);
    const vd a = select(special, vd{}, x);
    const Arc t = arc(abs(a));
    // 2 asin(q), or pi less it; pi/2 less the arc sine where x is small.
    const vd q = select(t.large, select(negative, -2.0 * t.q.h, 2.0 * t.q.h), -copysign(t.q.h, a));
    const vd rest =
        select(t.large, select(negative, -2.0 * t.rest, 2.0 * t.rest), -copysign(t.rest, a));
    const vl turned = t.large & ~negative;
    const vd base =
        select(turned, vd{}, select(t.large, splat(2 * kHalfPiFull[0]), splat(kHalfPiFull[0])));
    const vd base_l =
        select(turned, vd{}, select(t.large, splat(2 * kHalfPiFull[1]), splat(kHalfPiFull[1])));
    const Pair sum = fast_two_sum(base, q);
    vd result = sum.h + (sum.l + (base_l + rest));
    if (any(special)) [[unlikely]]
      patch<acos_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi& special) {
    using namespace float32;
    const vi size = magnitude(x), negative = (vi)((vi)x < 0);
    special = above(size, 1.0f);
    const vf a = below(size, 0x1p-30f) | special ? vf{} : (vf)size;
    const HalfAngle h(a);
    // pi/2 less the angle whose sine is x; twice that of the half; pi less that.
    const vi rises = h.large ^ negative;
    const vf sign = rises ? splat(1.0f) : splat(-1.0f), part = h.large ? 2.0f * sign : sign;
    const auto base = [&](int i) {
      return h.large ? (negative ? splat(kPi[i]) : vf{}) : splat(kHalfPi[i]);
    };
    const float32::Pair sum = fast_two_sum(base(0), part * h.s);
    return sum.h + (sum.l + fma(part, h.tail, base(1)));
  }
  static constexpr auto mend = patch_float<acos_special>;
};
struct Arctan2 {
  static PLAIT_INLINE vd f(vd y, vd x) {
    const vl special =
        beyond(y, 0x1p400) | within(y, 0x1p-400) | beyond(x, 0x1p400) | within(x, 0x1p-400);
    const vd a = abs(select(special, splat(1.0), y)), b = abs(select(special, splat(1.0), x));
    const Pair t = angle({a, vd{}}, {b, vd{}}), u = supplement(t);
    vd result = copysign(select((vl)(bits(x) < 0), u.h + u.l, t.h + t.l), y);
    if (any(special)) [[unlikely]]
      patch<atan2_special>(result, special, y, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd y, vd x) {
      const vl special =
          single::infinite(y) | single::infinite(x) | (vl)(((bits(x) | bits(y)) & INT64_MAX) == 0);
      const vd a = abs(select(special, splat(1.0), y)), b = abs(select(special, splat(1.0), x));
      const vl swap = (vl)(bits(a) > bits(b));
      vd t = single::atan(select(swap, b, a) / select(swap, a, b));
      t = select(swap, kHalfPiFull[0] - t, t);
      vd result = copysign(select((vl)(bits(x) < 0), 2 * kHalfPiFull[0] - t, t), y);
      if (any(special)) [[unlikely]]
        patch<atan2_special>(result, special, y, x);
      return result;
    }
  };
};
struct Hypot {
  static PLAIT_INLINE vd f(vd x, vd y) {
    const vl swap = (vl)((bits(x) & INT64_MAX) < (bits(y) & INT64_MAX));
    const vd larger = select(swap, y, x), smaller = select(swap, x, y);
    const vl special = beyond(larger, 0x1p500) | within(larger, 0x1p-400);
    const vd a = select(special, splat(1.0), larger), b = select(special, splat(1.0), smaller);
    const Pair aa = product(a, a), bb = product(b, b);
    const Pair sum = fast_two_sum(aa.h, bb.h);
    const Pair r = root({sum.h, sum.l + (aa.l + bb.l)});
    vd result = r.h + r.l;
    if (any(special)) [[unlikely]]
      patch<hypot_special>(result, special, x, y);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x, vd y) {
      const vl special = single::infinite(x) | single::infinite(y);
      const vd a = select(special, vd{}, x), b = select(special, vd{}, y);
      vd result = sqrt(fma(a, a, b * b));
      if (any(special)) [[unlikely]]
        patch<hypot_special>(result, special, x, y);
      return result;
    }
  };
};

}  // namespace

LoopFn modulus(DType t) { return t == DType::Complex64 ? &modulus_loop<f32> : &modulus_loop<f64>; }

Found trigonometric(OpId op, DType t) {
  switch (op) {
    case OpId::Sin:
      return unary_math<Sin>(t);
    case OpId::Cos:
      return unary_math<Cos>(t);
    case OpId::Tan:
      return unary_math<Tan>(t);
    case OpId::Arcsin:
      return unary_math<Arcsin>(t);
    case OpId::Arccos:
      return unary_math<Arccos>(t);
    case OpId::Arctan:
      return unary_math<Arctan>(t);
    case OpId::Arctan2:
      return binary_math<Arctan2>(t);
    case OpId::Hypot:
      return binary_math<Hypot>(t);
    case OpId::Absolute:  // of the two parts of a complex number
      return binary_math<Modulus>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
