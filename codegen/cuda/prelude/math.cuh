// Functions of real numbers under NumPy's names: CUDA's, 1 to 2 ULP in double.
namespace np {

#define PLAIT_MATH(name, single, twice)                          \
  PLAIT_INLINE float name(float x) { return ::single(x); } \
  PLAIT_INLINE double name(double x) { return ::twice(x); }
PLAIT_MATH(fabs, fabsf, fabs)
PLAIT_MATH(sqrt, sqrtf, sqrt)
PLAIT_MATH(cbrt, cbrtf, cbrt)
PLAIT_MATH(exp, expf, exp)
PLAIT_MATH(exp2, exp2f, exp2)
PLAIT_MATH(expm1, expm1f, expm1)
PLAIT_MATH(log, logf, log)
PLAIT_MATH(log2, log2f, log2)
PLAIT_MATH(log10, log10f, log10)
PLAIT_MATH(log1p, log1pf, log1p)
PLAIT_MATH(erf, erff, erf)
PLAIT_MATH(erfc, erfcf, erfc)
PLAIT_MATH(sin, sinf, sin)
PLAIT_MATH(cos, cosf, cos)
PLAIT_MATH(tan, tanf, tan)
PLAIT_MATH(arcsin, asinf, asin)
PLAIT_MATH(arccos, acosf, acos)
PLAIT_MATH(arctan, atanf, atan)
PLAIT_MATH(sinh, sinhf, sinh)
PLAIT_MATH(cosh, coshf, cosh)
PLAIT_MATH(tanh, tanhf, tanh)
PLAIT_MATH(arcsinh, asinhf, asinh)
PLAIT_MATH(arccosh, acoshf, acosh)
PLAIT_MATH(arctanh, atanhf, atanh)
PLAIT_MATH(real_floor, floorf, floor)
PLAIT_MATH(real_ceil, ceilf, ceil)
PLAIT_MATH(real_trunc, truncf, trunc)
PLAIT_MATH(rint, rintf, rint)
#undef PLAIT_MATH
#define PLAIT_MATH(name, single, twice)                                      \
  PLAIT_INLINE float name(float x, float y) { return ::single(x, y); } \
  PLAIT_INLINE double name(double x, double y) { return ::twice(x, y); }
PLAIT_MATH(real_power, powf, pow)
PLAIT_MATH(arctan2, atan2f, atan2)
PLAIT_MATH(hypot, hypotf, hypot)
PLAIT_MATH(copysign, copysignf, copysign)
PLAIT_MATH(nextafter, nextafterf, nextafter)
PLAIT_MATH(real_fmod, fmodf, fmod)
#undef PLAIT_MATH
PLAIT_INLINE bool signbit(float a) { return to_bits(a) >> 31; }
PLAIT_INLINE bool signbit(double a) { return to_bits(a) >> 63; }

}  // namespace np
