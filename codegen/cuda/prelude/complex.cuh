// Complex numbers by NumPy's formulas: Smith's division, lexicographic order; of a product's parts
// one product is rounded and the other not, but in folds, whose steps are operator*.
template <class T>
PLAIT_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
PLAIT_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
PLAIT_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
PLAIT_INLINE Complex<T> operator/(Complex<T> a, Complex<T> b) {
  const T re = np::fabs(b.re), im = np::fabs(b.im);
  if (re >= im) {
    if (re == 0 && im == 0) return {a.re / re, a.im / im};
    const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const T ratio = b.re / b.im, scale = T(1) / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template <class T>
PLAIT_INLINE Complex<T> operator-(Complex<T> a) {
  return {-a.re, -a.im};
}

namespace np {

PLAIT_INLINE Complex<float> multiply(Complex<float> a, Complex<float> b) {
  return {::fmaf(a.re, b.re, -(a.im * b.im)), ::fmaf(a.re, b.im, a.im * b.re)};
}
PLAIT_INLINE Complex<double> multiply(Complex<double> a, Complex<double> b) {
  return {::fma(a.re, b.re, -(a.im * b.im)), ::fma(a.re, b.im, a.im * b.re)};
}
template <class T>
PLAIT_INLINE Complex<T> square(Complex<T> a) {
  return multiply(a, a);
}
template <class T>
PLAIT_INLINE T rounded_product(T a, T b) {
  return a * b;
}

template <class T>
PLAIT_INLINE bool isnan(Complex<T> a) {
  return (a.re != a.re) | (a.im != a.im);
}
template <class T>
PLAIT_INLINE bool isinf(Complex<T> a) {
  return fabs(a.re) == infinity(T()) || fabs(a.im) == infinity(T());
}
template <class T>
PLAIT_INLINE bool isfinite(Complex<T> a) {
  return fabs(a.re) < infinity(T()) && fabs(a.im) < infinity(T());
}
template <class T>
PLAIT_INLINE bool equal(Complex<T> a, Complex<T> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <class T>
PLAIT_INLINE bool not_equal(Complex<T> a, Complex<T> b) {
  return (a.re != b.re) | (a.im != b.im);
}
template <class T>
PLAIT_INLINE bool greater(Complex<T> a, Complex<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im > b.im);
}
template <class T>
PLAIT_INLINE bool greater_equal(Complex<T> a, Complex<T> b) {
  return (a.re > b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im >= b.im);
}
template <class T>
PLAIT_INLINE bool less(Complex<T> a, Complex<T> b) {
  return greater(b, a);
}
template <class T>
PLAIT_INLINE bool less_equal(Complex<T> a, Complex<T> b) {
  return greater_equal(b, a);
}
template <class T>
PLAIT_INLINE Complex<T> least(Complex<T>) {
  return {-infinity(T()), -infinity(T())};
}
template <class T>
PLAIT_INLINE Complex<T> greatest(Complex<T>) {
  return {infinity(T()), infinity(T())};
}
template <class T>
PLAIT_INLINE T real(Complex<T> a) {
  return a.re;
}
template <class T>
PLAIT_INLINE T imag(Complex<T> a) {
  return a.im;
}
template <class T>
PLAIT_INLINE T absolute(Complex<T> a) {
  return hypot(a.re, a.im);
}
template <class T>
PLAIT_INLINE Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
PLAIT_INLINE Complex<T> rint(Complex<T> a) {
  return {rint(a.re), rint(a.im)};
}
template <class T>
PLAIT_INLINE Complex<T> reciprocal(Complex<T> a) {
  if (fabs(a.im) <= fabs(a.re)) {
    const T r = a.im / a.re, d = a.re + a.im * r;
    return {T(1) / d, -r / d};
  }
  const T r = a.re / a.im, d = a.re * r + a.im;
  return {r / d, T(-1) / d};
}
template <class T>
PLAIT_INLINE Complex<T> sign(Complex<T> a) {
  const T size = hypot(a.re, a.im), inf = infinity(T());
  if (size != size) return {size, size};
  if (size == inf) {
    if (fabs(a.re) == inf && fabs(a.im) == inf) return {not_a_number(T()), not_a_number(T())};
    if (fabs(a.re) == inf) return {copysign(T(1), a.re), 0};
    if (fabs(a.im) == inf) return {0, copysign(T(1), a.im)};
  }
  if (size == 0) return {0, 0};
  return {a.re / size, a.im / size};
}

}  // namespace np
