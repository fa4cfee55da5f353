// Functions of complex numbers with C99's branch cuts, by Kahan's formulas; complex64 through
// complex128.
namespace np {

PLAIT_INLINE complex128 times_i(complex128 z) { return {-z.im, z.re}; }
PLAIT_INLINE complex128 over_i(complex128 z) { return {z.im, -z.re}; }
PLAIT_INLINE bool finite(double x) { return fabs(x) < infinity(0.0); }

PLAIT_INLINE complex128 sqrt(complex128 z) {
  const double inf = infinity(0.0);
  if (z.re == 0 && z.im == 0) return {0, z.im};
  if (fabs(z.im) == inf) return {inf, z.im};
  if (z.re == inf) return {z.re, z.im != z.im ? z.im : copysign(0.0, z.im)};
  if (z.re == -inf) return {z.im != z.im ? z.im : 0.0, copysign(inf, z.im)};
  // Scaled, so that the modulus neither overflows nor loses its bits.
  const bool large = fabs(z.re) > 0x1p1020 || fabs(z.im) > 0x1p1020;
  const bool tiny = fabs(z.re) < 0x1p-1000 && fabs(z.im) < 0x1p-1000;
  const double up = large ? 0.0625 : tiny ? 0x1p120 : 1, down = large ? 4 : tiny ? 0x1p-60 : 1;
  const double x = z.re * up, y = z.im * up;
  const double t = sqrt((fabs(x) + hypot(x, y)) * 0.5);
  if (x >= 0) return {t * down, y / (2 * t) * down};
  return {fabs(y) / (2 * t) * down, copysign(t, y) * down};
}
PLAIT_INLINE complex128 exp(complex128 z) {
  if (z.im == 0) return {exp(z.re), z.im};
  if (!finite(z.im)) {
    if (z.re == -infinity(0.0)) return {0, copysign(0.0, z.im)};
    if (z.re == infinity(0.0)) return {z.re, not_a_number(0.0)};
    return {not_a_number(0.0), not_a_number(0.0)};
  }
  if (z.re == -infinity(0.0)) return {copysign(0.0, cos(z.im)), copysign(0.0, sin(z.im))};
  if (z.re > 700 && finite(z.re)) {
    const double half = exp(z.re * 0.5);
    return {half * cos(z.im) * half, half * sin(z.im) * half};
  }
  const double size = exp(z.re);
  return {size * cos(z.im), size * sin(z.im)};
}
PLAIT_INLINE complex128 log(complex128 z) {
  const double a = fabs(z.re), b = fabs(z.im), high = a < b ? b : a, low = a < b ? a : b;
  double size;
  if (high > 0.5 && high < 2 && low <= high)
    size = 0.5 * log1p((high - 1) * (high + 1) + low * low);
  else if (high > 0x1p1020 && finite(high))
    size = log(hypot(high * 0.25, low * 0.25)) + 1.3862943611198906;
  else if (high < 0x1p-1000 && high > 0)
    size = log(hypot(high * 0x1p100, low * 0x1p100)) - 69.31471805599453;
  else
    size = log(hypot(z.re, z.im));
  return {size, arctan2(z.im, z.re)};
}
PLAIT_INLINE complex128 sinh(complex128 z) {
  if (z.im == 0) return {sinh(z.re), z.im};
  if (z.re == 0) return {copysign(0.0, finite(z.im) ? z.re * cos(z.im) : z.re), sin(z.im)};
  if (!finite(z.im))
    return {fabs(z.re) == infinity(0.0) ? z.re : not_a_number(0.0), not_a_number(0.0)};
  if (fabs(z.re) > 700 && finite(z.re)) {
    const double half = exp(fabs(z.re) * 0.5) * 0.5;
    return {copysign(1.0, z.re) * half * cos(z.im) * (2 * half), half * sin(z.im) * (2 * half)};
  }
  return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
}
PLAIT_INLINE complex128 cosh(complex128 z) {
  if (z.im == 0) return {cosh(z.re), copysign(1.0, z.re) * z.im};
  if (z.re == 0) return {cos(z.im), finite(z.im) ? z.re * sin(z.im) : copysign(0.0, z.re)};
  if (!finite(z.im))
    return {fabs(z.re) == infinity(0.0) ? fabs(z.re) : not_a_number(0.0), not_a_number(0.0)};
  if (fabs(z.re) > 700 && finite(z.re)) {
    const double half = exp(fabs(z.re) * 0.5) * 0.5;
    return {half * cos(z.im) * (2 * half), copysign(1.0, z.re) * half * sin(z.im) * (2 * half)};
  }
  return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
}
PLAIT_INLINE complex128 tanh(complex128 z) {
  if (fabs(z.re) > 22) {
    if (!finite(z.im)) return {copysign(1.0, z.re), copysign(0.0, z.im)};
    return {copysign(1.0, z.re), 4 * sin(z.im) * cos(z.im) * exp(-2 * fabs(z.re))};
  }
  if (z.im == 0) return {tanh(z.re), z.im};
  const double t = tan(z.im), s = sinh(z.re), beta = 1 + t * t, rho = sqrt(1 + s * s);
  if (beta == infinity(0.0)) return {rho / s, 1 / t};
  const double d = 1 + beta * s * s;
  return {beta * rho * s / d, t / d};
}
PLAIT_INLINE complex128 arcsin(complex128 z) {
  const double inf = infinity(0.0);
  if (fabs(z.re) == inf || fabs(z.im) == inf) {
    const double x = z.re != z.re ? z.re : copysign(fabs(z.re) == inf ? 1.0 : 0.0, z.re);
    const double y = z.im != z.im ? z.im : fabs(z.im) == inf ? 1.0 : 0.0;
    return {arctan2(x, y), copysign(inf, z.im)};
  }
  const complex128 below = sqrt(complex128{1 - z.re, -z.im}), above = sqrt(complex128{1 + z.re, z.im});
  return {arctan2(z.re, (below * above).re), arcsinh((conjugate(below) * above).im)};
}
PLAIT_INLINE complex128 arccos(complex128 z) {
  const complex128 below = sqrt(complex128{1 - z.re, -z.im}), above = sqrt(complex128{1 + z.re, z.im});
  return {2 * arctan2(below.re, above.re), arcsinh((conjugate(above) * below).im)};
}
PLAIT_INLINE complex128 arccosh(complex128 z) {
  const complex128 below = sqrt(complex128{z.re - 1, z.im}), above = sqrt(complex128{z.re + 1, z.im});
  return {arcsinh((conjugate(below) * above).re), 2 * arctan2(below.im, above.re)};
}
PLAIT_INLINE complex128 arctanh(complex128 z) {
  const double x = fabs(z.re), d = (1 - x) * (1 - x) + z.im * z.im;
  if (d == infinity(0.0) || fabs(z.im) == infinity(0.0))
    return {copysign(0.0, z.re), copysign(1.5707963267948966, z.im)};
  const double re = x == infinity(0.0) ? 0.0 : 0.25 * log1p(4 * x / d);
  return {copysign(re, z.re), 0.5 * arctan2(2 * z.im, (1 - x) * (1 + x) - z.im * z.im)};
}
PLAIT_INLINE complex128 sin(complex128 z) { return over_i(sinh(times_i(z))); }
PLAIT_INLINE complex128 cos(complex128 z) { return cosh(times_i(z)); }
PLAIT_INLINE complex128 tan(complex128 z) { return over_i(tanh(times_i(z))); }
PLAIT_INLINE complex128 arcsinh(complex128 z) { return over_i(arcsin(times_i(z))); }
PLAIT_INLINE complex128 arctan(complex128 z) { return over_i(arctanh(times_i(z))); }
PLAIT_INLINE complex128 exp2(complex128 z) {
  return exp(complex128{z.re * 0.693147180559945309417, z.im * 0.693147180559945309417});
}
PLAIT_INLINE complex128 expm1(complex128 z) {
  const double s = sin(z.im / 2);
  return {expm1(z.re) * cos(z.im) - 2 * s * s, exp(z.re) * sin(z.im)};
}
PLAIT_INLINE complex128 log2(complex128 z) {
  const complex128 l = log(z);
  return {l.re * 1.44269504088896340736, l.im * 1.44269504088896340736};
}
PLAIT_INLINE complex128 log10(complex128 z) {
  const complex128 l = log(z);
  return {l.re * 0.434294481903251827651, l.im * 0.434294481903251827651};
}
PLAIT_INLINE complex128 log1p(complex128 z) {
  return {log(hypot(z.re + 1, z.im)), arctan2(z.im, z.re + 1)};
}

PLAIT_INLINE complex128 twice(complex64 z) { return {z.re, z.im}; }
PLAIT_INLINE complex64 once(complex128 z) { return {float(z.re), float(z.im)}; }
#define PLAIT_COMPLEX(name) \
  PLAIT_INLINE complex64 name(complex64 z) { return once(name(twice(z))); }
PLAIT_COMPLEX(sqrt)
PLAIT_COMPLEX(exp)
PLAIT_COMPLEX(exp2)
PLAIT_COMPLEX(expm1)
PLAIT_COMPLEX(log)
PLAIT_COMPLEX(log2)
PLAIT_COMPLEX(log10)
PLAIT_COMPLEX(log1p)
PLAIT_COMPLEX(sin)
PLAIT_COMPLEX(cos)
PLAIT_COMPLEX(tan)
PLAIT_COMPLEX(arcsin)
PLAIT_COMPLEX(arccos)
PLAIT_COMPLEX(arctan)
PLAIT_COMPLEX(sinh)
PLAIT_COMPLEX(cosh)
PLAIT_COMPLEX(tanh)
PLAIT_COMPLEX(arcsinh)
PLAIT_COMPLEX(arccosh)
PLAIT_COMPLEX(arctanh)
#undef PLAIT_COMPLEX

// Small integer exponents by repeated products, as NumPy does; the rest through the logarithm.
template <class T>
PLAIT_INLINE Complex<T> power(Complex<T> a, Complex<T> b) {
  if (b.re == 0 && b.im == 0) return {1, 0};
  if (a.re == 0 && a.im == 0) {
    if (b.re > 0) return {0, 0};
    return {not_a_number(T()), not_a_number(T())};
  }
  if (b.im == 0 && fabs(b.re) < 100 && b.re == real_trunc(b.re)) {
    unsigned n = unsigned(fabs(b.re));
    if (b.re == 1) return a;
    if (b.re == 2) return a * a;
    if (b.re == 3) return a * (a * a);
    Complex<T> result{1, 0}, p = a;
    for (;;) {
      if (n & 1) result = result * p;
      n >>= 1;
      if (n == 0) break;
      p = p * p;
    }
    return b.re < 0 ? Complex<T>{1, 0} / result : result;
  }
  const complex128 r = exp(complex128{b.re, b.im} * log(complex128{a.re, a.im}));
  return {T(r.re), T(r.im)};
}

template <class T>
PLAIT_INLINE Complex<T> float_power(Complex<T> a, Complex<T> b) {
  return power(a, b);
}

}  // namespace np
