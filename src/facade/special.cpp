// Elementwise functions in the library's own names, and window functions: NumPy's sequences
// (numpy/lib/_function_base_impl.py).
#include <cmath>

#include "errors.hpp"
#include "plait/plait.hpp"

namespace plait::detail {

namespace {

constexpr double kPi = 3.141592653589793;

void refuse_complex(const char* function, const any_array& a) {
  if (iscomplexobj(a))
    throw DTypeError(std::string(function) + ": takes real numbers, not " + to_string(a.dtype()));
}
// NumPy's loops for floats take small integers as small floats; its functions in Python take all
// integers as float64.
any_array for_loop(const char* function, const any_array& a) {
  refuse_complex(function, a);
  return is_float(a.dtype()) ? a : a.astype(float_for(a.dtype()));
}
any_array for_function(const char* function, const any_array& a) {
  refuse_complex(function, a);
  return is_float(a.dtype()) ? a : a.astype<double>();
}
// f of an array of floats or doubles; of narrower floats as floats.
template <class F>
auto of_floats(const any_array& a, F f) {
  if (a.dtype() != dtype::float64 && a.dtype() != dtype::float32)
    return f(a.astype<float>(), a.dtype());
  return visit<float, double>(a, [&](auto x) { return f(x, a.dtype()); });
}

// The sum of a series of Chebyshev polynomials (Clenshaw).
template <std::size_t N>
any_array chebyshev(const any_array& x, const double (&c)[N]) {
  any_array b0 = x * 0.0 + c[0], b1 = zeros_like(b0), b2 = b1;
  for (std::size_t i = 1; i < N; ++i) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + c[i];
  }
  return 0.5 * (b0 - b2);
}

// Of exp(-x) * i0(x) on [0, 8], and of exp(-x) * sqrt(x) * i0(x) from there on (Cephes).
constexpr double kSmall[] = {
    -4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16, 1.715391285555133e-15,
    -1.1685332877993451e-14, 7.676185498604936e-14,  -4.856446783111929e-13, 2.95505266312964e-12,
    -1.726826291441556e-11,  9.675809035373237e-11,  -5.189795601635263e-10, 2.6598237246823866e-09,
    -1.300025009986248e-08,  6.046995022541919e-08,  -2.670793853940612e-07, 1.1173875391201037e-06,
    -4.4167383584587505e-06, 1.6448448070728896e-05, -5.754195010082104e-05, 0.00018850288509584165,
    -0.0005763755745385824,  0.0016394756169413357,  -0.004324309995050576,  0.010546460394594998,
    -0.02373741480589947,    0.04930528423967071,    -0.09490109704804764,   0.17162090152220877,
    -0.3046826723431984,     0.6767952744094761};
constexpr double kLarge[] = {
    -7.233180487874754e-18,  -4.830504485944182e-18,  4.46562142029676e-17,
    3.461222867697461e-17,   -2.8276239805165836e-16, -3.425485619677219e-16,
    1.7725601330565263e-15,  3.8116806693526224e-15,  -9.554846698828307e-15,
    -4.150569347287222e-14,  1.54008621752141e-14,    3.8527783827421426e-13,
    7.180124451383666e-13,   -1.7941785315068062e-12, -1.3215811840447713e-11,
    -3.1499165279632416e-11, 1.1889147107846439e-11,  4.94060238822497e-10,
    3.3962320257083865e-09,  2.266668990498178e-08,   2.0489185894690638e-07,
    2.8913705208347567e-06,  6.889758346916825e-05,   0.0033691164782556943,
    0.8044904110141088};

}  // namespace

any_array called(library_function f, const any_array& given) {
  const bool log = f == library_function::lgamma;
  return of_floats(for_function(log ? "lgamma" : "tgamma", given), [&](const auto& a, dtype t) {
    using T = typename std::decay_t<decltype(a)>::value_type;
    return any_array(vectorize([log](T x) { return log ? std::lgamma(x) : std::tgamma(x); }, a))
        .astype(t);
  });
}
any_array ldexp(const any_array& given, const any_array& exponents) {
  // Bounds past every exponent of a double.
  const auto n = clip(exponents.astype<std::int64_t>(), -10'000, 10'000).astype<int>();
  return of_floats(for_loop("ldexp", given), [&](const auto& a, dtype t) {
    using T = typename std::decay_t<decltype(a)>::value_type;
    return any_array(vectorize([](T x, int e) { return std::ldexp(x, e); }, a, n)).astype(t);
  });
}
std::pair<any_array, any_array> frexp(const any_array& given) {
  any_array mantissa, exponent;
  of_floats(for_loop("frexp", given), [&](const auto& a, dtype t) {
    using T = typename std::decay_t<decltype(a)>::value_type;
    array<int> powers = plait::zeros<int>(a.shape());
    auto power = powers.begin();
    const auto part = [&power](T x) { return std::frexp(x, &*power++); };
    mantissa = any_array(vectorize(part, a)).astype(t);
    exponent = powers;
    return 0;
  });
  return {mantissa, exponent};
}

std::pair<any_array, any_array> modf(const any_array& given) {
  return named("modf", [&]() -> std::pair<any_array, any_array> {
    const any_array a = for_loop("modf", given), whole = trunc(a);
    return {copysign(where(isinf(a), 0, a - whole), a), whole};
  });
}
any_array sinc(const any_array& given) {
  return named("sinc", [&] {
    const any_array y = kPi * given;
    return any_array(where(y == 0, 1, sin(y) / y));
  });
}
any_array i0(const any_array& given) {
  return named("i0", [&] {
    const any_array x = abs(for_function("i0", given));
    return any_array(where(x <= 8.0, exp(x) * chebyshev(x / 2.0 - 2.0, kSmall),
                           exp(x) * chebyshev(32.0 / x - 2.0, kLarge) / sqrt(x)));
  });
}
any_array has_imaginary_part(const any_array& a) {
  if (!iscomplexobj(a)) return zeros(dtype::bool_, a.shape());
  return any_array(imag(a.handle())) != 0;
}
any_array infinite(const any_array& a, bool negative) {
  const char* const function = negative ? "isneginf" : "isposinf";
  return named(function, [&] {
    refuse_complex(function, a);
    return any_array(isinf(a) & (negative ? a < 0 : a > 0));
  });
}

any_array unwrap(const any_array& p, double discontinuity, std::int64_t given_axis, double period) {
  return named("unwrap", [&]() -> any_array {
    refuse_complex("unwrap", p);
    const any_array steps = diff(p, 1, given_axis);
    const std::int64_t axis = given_axis < 0 ? given_axis + p.ndim() : given_axis;
    const double half = period / 2;
    any_array within = remainder(steps + half, period) - half;
    within = where((within == -half) & (steps > 0), full_like(within, half), within);
    any_array corrections = within - steps;
    corrections = where(abs(steps) < (discontinuity < 0 ? half : discontinuity),
                        zeros_like(corrections), corrections);
    const auto parts = split(p.astype(corrections.dtype()), {1}, axis);
    return concatenate({parts[0], parts[1] + cumsum(corrections, axis)}, axis);
  });
}

any_array window_of(window w, std::int64_t n) {
  constexpr const char* names[] = {"bartlett", "blackman", "hamming", "hanning"};
  return named(names[static_cast<int>(w)], [&]() -> any_array {
    if (n < 1) return zeros(dtype::float64, {0});
    if (n == 1) return ones(dtype::float64, {1});
    const any_array at =
        plait::arange<double>(static_cast<double>(1 - n), static_cast<double>(n), 2);
    const auto last = static_cast<double>(n - 1);
    switch (w) {
      case window::bartlett:
        return where(at <= 0, 1 + at / last, 1 - at / last);
      case window::blackman:
        return 0.42 + 0.5 * cos(kPi * at / last) + 0.08 * cos(2.0 * kPi * at / last);
      case window::hamming:
        return 0.54 + 0.46 * cos(kPi * at / last);
      case window::hanning:
        return 0.5 + 0.5 * cos(kPi * at / last);
    }
    throw InternalError("unknown window");
  });
}
any_array kaiser(std::int64_t n, double beta) {
  return named("kaiser", [&]() -> any_array {
    if (n == 1) return ones(dtype::float64, {1});
    const double alpha = static_cast<double>(n - 1) / 2;
    const any_array off = (plait::arange<double>(static_cast<double>(n)) - alpha) / alpha;
    return i0(beta * sqrt(1.0 - power(off, 2.0))) / i0(any_array(array<double>(beta)));
  });
}

}  // namespace plait::detail
