// Hyperbolic functions and their inverses, from exponentials and logarithms with tails.
#include <cmath>

#include "codegen/loops/float32.hpp"
#include "codegen/loops/roots.hpp"
#include "codegen/loops/single.hpp"
#include "codegen/loops/vector_loops.hpp"

namespace plait::loops::PLAIT_TIER {
namespace {

// Just below overflow libm squares exp(x / 2), which costs precision; long double does not.
bool near_overflow(double x) { return std::isgreater(std::abs(x), 708.0) && std::abs(x) < 710.475; }
double sinh_special(double x) {
  return near_overflow(x) ? static_cast<double>(std::sinh(static_cast<long double>(x)))
                          : std::sinh(x);
}
double cosh_special(double x) {
  return near_overflow(x) ? static_cast<double>(std::cosh(static_cast<long double>(x)))
                          : std::cosh(x);
}
double tanh_special(double x) { return std::tanh(x); }
double asinh_special(double x) { return std::asinh(x); }
double acosh_special(double x) { return std::acosh(x); }
double atanh_special(double x) { return std::atanh(x); }

// exp(a) and exp(-a) from one reduction, a >= 0: sums and differences of the tables' entries, and
// the even and odd parts of what is left.
struct Halves {
  vd up, down;  // 2^(k/16) and its inverse
  vd low_up, low_down;
  vd r, rl, even, odd;  // cosh(r) - 1, sinh(r) - r
};
PLAIT_INLINE Halves halves(vd a) {
  const Sixteenth s = sixteenth(a, vd{});
  const Root up = root_of_two(s.k), down = root_of_two(-s.k);
  const vd z = s.r * s.r;
  const vd even = fma(fma(fma(z, kCoshTail16[3], kCoshTail16[2]), z, splat(kCoshTail16[1])), z,
                      splat(kCoshTail16[0]));
  const vd odd = fma(fma(z, kSinhTail16[2], kSinhTail16[1]), z, splat(kSinhTail16[0]));
  return {up.value, down.value, up.value * up.low, down.value * down.low,
          s.r,      s.rl,       even * z,          odd * (z * s.r)};
}
struct Sinh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 700.0);
    const Halves e = halves(abs(select(special, vd{}, x)));
    const Pair apart = fast_two_sum(e.up, -e.down), both = fast_two_sum(e.up, e.down);
    const Pair y = product(both.h, e.r);
    const Pair sum = fast_two_sum(apart.h, y.h);  // |apart| > |y| or apart = 0
    const vd rest = fma(both.h, e.odd + e.rl, fma(apart.h, e.even, e.low_up - e.low_down));
    const vd tail = (sum.l + apart.l) + (fma(both.l, e.r, y.l) + rest);
    vd result = select(within(x, 0x1p-28), x, copysign(0.5 * (sum.h + tail), x));
    if (any(special)) [[unlikely]]
      patch<sinh_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, 700.0);
      const single::Exp e = single::exp_parts(abs(select(special, vd{}, x)));
      const vd s = power_of_two(e.k), inverse = power_of_two(-e.k);
      const vd value = 0.5 * ((s - inverse) + (s * e.p - inverse * e.opposite));
      vd result = select(within(x, 0x1p-28), x, copysign(value, x));
      if (any(special)) [[unlikely]]
        patch<sinh_special>(result, special, x);
      return result;
    }
  };
};
struct Cosh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 700.0);
    const Halves e = halves(abs(select(special, vd{}, x)));
    const Pair both = fast_two_sum(e.up, e.down);
    const vd rest = fma(both.h, e.even, fma(e.up - e.down, e.r + e.odd, e.low_up + e.low_down));
    vd result = 0.5 * (both.h + (both.l + rest));
    if (any(special)) [[unlikely]]
      patch<cosh_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, 700.0);
      const single::Exp e = single::exp_parts(select(special, vd{}, x));
      const vd s = power_of_two(e.k), inverse = power_of_two(-e.k);
      vd result = 0.5 * ((s + inverse) + (s * e.p + inverse * e.opposite));
      if (any(special)) [[unlikely]]
        patch<cosh_special>(result, special, x);
      return result;
    }
  };
};
struct Tanh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, HUGE_VAL);
    const vd a = abs(select(special, vd{}, x));
    const Pair e = expm1_pair(2.0 * select(beyond(a, 22.0), splat(22.0), a));
    const Pair t = fast_two_sum(e.h, e.l);
    const Pair two = two_sum(t.h, splat(2.0));
    const Pair q = quotient(t, {two.h, two.l + t.l});
    vd result = select(within(x, 0x1p-28), x, copysign(q.h + q.l, x));
    if (any(special)) [[unlikely]]
      patch<tanh_special>(result, special, x);
    return result;
  }
  static PLAIT_INLINE vf f(vf x, vi&) {
    using namespace float32;
    const vi size = magnitude(x), tiny = below(size, 0x1p-13f);
    const vf a = (vf)(above(size, 9.5f) ? (vi)splat(9.5f) : size);
    // Four intervals between powers of two; the first one is all below 2^-4.
    const vi at = (((vi)a) >> 21) - (__builtin_bit_cast(int, 0x1p-4f) >> 21) + 1;
    const vi first = (vi)(at < 1), index = first ? vi{} : at;
    const vf middle = (vf)((((vi)a) & ~0x1fffff) | 0x100000);
    const vf y = tiny ? vf{} : first ? a : a - middle;
    vf p = look_up(kTanh[6], index);
    for (int i = 5; i >= 2; --i) p = fma(p, y, look_up(kTanh[i], index));
    const vf value = (first ? a : look_up(kTanh[0], index)) + fma(p, y, look_up(kTanh[1], index));
    return (vi)(size > 0x7f800000) ? x : with_sign(value, x);
  }
  static void mend(vf&, const vi&, const vf&) {}  // none is special
};

struct Arcsinh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 0x1p500);
    const vd a = abs(select(special, vd{}, x));
    // a + a^2 / (1 + sqrt(1 + a^2)), less one.
    const Pair square = product(a, a);
    const Pair s = two_sum(splat(1.0), square.h);
    const Pair g = root({s.h, s.l + square.l});
    const Pair d = two_sum(splat(1.0), g.h);
    const Pair w = add({a, vd{}}, quotient(square, {d.h, d.l + g.l}));
    const Pair l = log1p_pair(w.h, w.l);
    vd result = select(within(x, 0x1p-28), x, copysign(l.h + l.l, x));
    if (any(special)) [[unlikely]]
      patch<asinh_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = single::infinite(x);
      const vd a = abs(select(special, vd{}, x)), square = a * a;
      const vd large = single::log(a + sqrt(square + 1.0));
      const vd value = select(within(x, 0x1p-12), fma(square * a, splat(-1.0 / 6), a), large);
      vd result = copysign(value, x);
      if (any(special)) [[unlikely]]
        patch<asinh_special>(result, special, x);
      return result;
    }
  };
};
struct Arccosh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = (vl)((bits(x) < __builtin_bit_cast(long long, 1.0)) |
                            (bits(x) > __builtin_bit_cast(long long, 0x1p500)));
    const vd a = select(special, splat(1.0), x);
    // t + sqrt(t (a + 1)) with t = a - 1, less one.
    const Pair t = two_sum(a, splat(-1.0)), u = two_sum(a, splat(1.0));
    const Pair p = product(t.h, u.h);
    const Pair w = add(t, root({p.h, p.l + fma(t.h, u.l, t.l * u.h)}));
    const Pair l = log1p_pair(w.h, w.l);
    vd result = l.h + l.l;
    if (any(special)) [[unlikely]]
      patch<acosh_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = single::infinite(x) | (vl)(bits(x) < __builtin_bit_cast(long long, 1.0));
      const vd a = select(special, splat(1.0), x);
      vd result = single::log(a + sqrt((a - 1.0) * (a + 1.0)));
      if (any(special)) [[unlikely]]
        patch<acosh_special>(result, special, x);
      return result;
    }
  };
};
struct Arctanh {
  static PLAIT_INLINE vd f(vd x) {
    const vl special = beyond(x, 0x1.fffffffffffffp-1);
    const vd a = abs(select(special, vd{}, x));
    const Pair q = quotient({2.0 * a, vd{}}, two_sum(splat(1.0), -a));
    const Pair l = log1p_pair(q.h, q.l);
    vd result = select(within(x, 0x1p-28), x, copysign(0.5 * (l.h + l.l), x));
    if (any(special)) [[unlikely]]
      patch<atanh_special>(result, special, x);
    return result;
  }
  struct Float {
    static PLAIT_INLINE vd f(vd x) {
      const vl special = beyond(x, 0x1.fffffffffffffp-1);
      const vd a = abs(select(special, vd{}, x));
      const vd large = 0.5 * single::log((1.0 + a) / (1.0 - a));
      const vd value = select(within(x, 0x1p-12), fma(a * a, a * (1.0 / 3), a), large);
      vd result = copysign(value, x);
      if (any(special)) [[unlikely]]
        patch<atanh_special>(result, special, x);
      return result;
    }
  };
};

}  // namespace

Found hyperbolic(OpId op, DType t) {
  switch (op) {
    case OpId::Sinh:
      return unary_math<Sinh>(t);
    case OpId::Cosh:
      return unary_math<Cosh>(t);
    case OpId::Tanh:
      return unary_math<Tanh>(t);
    case OpId::Arcsinh:
      return unary_math<Arcsinh>(t);
    case OpId::Arccosh:
      return unary_math<Arccosh>(t);
    case OpId::Arctanh:
      return unary_math<Arctanh>(t);
    default:
      return {nullptr, {nullptr, 0}};
  }
}

}  // namespace plait::loops::PLAIT_TIER
