// xtensor: the impulse response of minimum phase that has a given autocorrelation, by Kolmogorov's
// factorisation, and back.
#include <complex>
#include <vector>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

using Arr = tensor<double>;

auto spectral_fact(const Arr& r) -> Arr {
  const auto n = int(r.shape()[0]);
  const auto m = 20 * n;
  // The matrix depends on n alone.
  static int cached_n = 0;
  static Arr cached_A;
  if (n != cached_n) {
    Arr w = plait::linspace<double>(0, 2 * pi, size_t(m), false);
    auto cols = plait::arange(1.0, double(n));
    Arr An = 2.0 * plait::cos(plait::outer(w, cols));
    cached_A = plait::concatenate({plait::ones<double>({m, 1}), An}, 1);
    cached_n = n;
  }
  const auto& A = cached_A;
  Arr R = plait::dot(A, r);
  Arr alpha = 0.5 * plait::log(plait::abs(R));
  auto alphatmp = plait::fft::fft(alpha);
  auto ind = size_t(m) / 2;
  view(alphatmp, range(ind, m)) = -view(alphatmp, range(ind, m));
  alphatmp[0] = 0.;
  alphatmp[ind] = 0.;
  const std::complex<double> j_{0, 1};
  Arr phi = plait::real(plait::fft::ifft(j_ * alphatmp));
  auto alpha1 = view(alpha, range(0, m, 20));
  auto phi1 = view(phi, range(0, m, 20));
  Arr h = plait::real(plait::fft::ifft(plait::exp(alpha1 + j_ * phi1)));
  return h;
}

auto inverse_spectral_fact(const Arr& h) -> Arr {
  auto n = h.shape()[0];
  Arr padded = plait::zeros<double>({2 * n});
  view(padded, range(0, n)) = h;
  auto H = plait::fft::rfft(padded);
  Arr R = plait::eval(plait::abs(H) * plait::abs(H));
  auto autocorr = plait::fft::irfft(plait::cast<std::complex<double>>(R));
  return plait::eval(view(autocorr, range(0, n)));
}

Reals loops(const Reals& r) {
  const size_t n = r.size(), m = 20 * n;
  const auto turn = [m](size_t i, size_t j) { return 2 * pi * double(i * j % m) / double(m); };
  Reals alpha(m), phi(m), h(n);
  for (size_t i = 0; i < m; ++i) {
    double R = r[0];
    for (size_t k = 1; k < n; ++k) R += 2 * r[k] * std::cos(turn(i, k));
    alpha[i] = 0.5 * std::log(std::fabs(R));
  }
  std::vector<std::complex<double>> f(m);
  for (size_t k = 1; k < m; ++k) {
    if (k == m / 2) continue;
    for (size_t i = 0; i < m; ++i) f[k] += std::polar(alpha[i], -turn(i, k));
    f[k] *= std::complex<double>(0, k < m / 2 ? 1 : -1);
  }
  for (size_t i = 0; i < m; i += 20)
    for (size_t k = 0; k < m; ++k)
      phi[i] += (f[k] * std::polar(1.0, turn(i, k))).real() / double(m);
  for (size_t t = 0; t < n; ++t)
    for (size_t i = 0; i < n; ++i)
      h[t] +=
          (std::polar(std::exp(alpha[i * 20]), phi[i * 20] + turn(i * 20, t))).real() / double(n);
  return h;
}

}  // namespace

void spectral() {
  const Arr h =
      plait::pow(0.5, plait::arange<double>(0, 16)) * plait::cos(plait::arange<double>(0, 16));
  const Arr r = inverse_spectral_fact(h);
  for (size_t lag = 0; lag < 16; ++lag) {
    double sum = 0;
    for (size_t t = 0; t + lag < 16; ++t) sum += h(t) * h(t + lag);
    expect_near(r(lag), sum, 1e-12, "autocorrelation");
  }
  const Arr got = spectral_fact(r);
  expect_same(got, loops(Reals(r.begin(), r.end())), 1e-10, "factor");
  expect(plait::allclose(plait::abs(got), plait::abs(h), 1e-3, 1e-4),
         "the response is found again");
  expect(plait::array_equal(spectral_fact(r), got), "with the matrix that was kept");
}

}  // namespace ported
