#include <algorithm>
#include <complex>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using plait::array;
using plait::range;
using plait::view;
using plait::placeholders::_;

namespace {

// Prices: returns, moving averages, exponential weights, the largest loss from a peak.
void prices() {
  plait::random::engine rng(99);
  const long days = 250, window = 20;
  array<double> price = 100.0 * plait::exp(plait::cumsum(rng.normal(0.0005, 0.01, {days})));
  array<double> returns = plait::diff(plait::log(price));
  array<double> total = plait::concatenate({plait::zeros<double>({1}), plait::cumsum(price)});
  array<double> average =
      (view(total, range(window, _)) - view(total, range(_, -window))) / double(window);
  array<double> peak = plait::accumulate(plait::ufunc::maximum, price, 0);
  const double loss = plait::max(1.0 - price / peak).item();
  const double yearly = plait::stddev(returns, 0, 1).item() * std::sqrt(252.0);
  auto above = view(price, range(window - 1, _)) > average;
  const auto crossings = plait::count_nonzero(plait::diff(above.astype<int>())).item();

  const std::vector<double> p(price.begin(), price.end());
  double top = 0, worst = 0, mean = 0, squares = 0;
  long crossed = 0;
  bool was = false;
  for (std::size_t i = 0; i < p.size(); ++i) {
    top = std::max(top, p[i]);
    worst = std::max(worst, 1 - p[i] / top);
    if (i > 0) mean += std::log(p[i] / p[i - 1]) / double(days - 1);
    if (i + 1 >= std::size_t(window)) {
      double sum = 0;
      for (std::size_t j = i + 1 - std::size_t(window); j <= i; ++j) sum += p[j];
      expect_near(average(i + 1 - std::size_t(window)), sum / double(window), 1e-11,
                  "moving average");
      const bool is = p[i] > sum / double(window);
      if (i + 1 > std::size_t(window) && is != was) ++crossed;
      was = is;
    }
  }
  for (std::size_t i = 1; i < p.size(); ++i)
    squares += std::pow(std::log(p[i] / p[i - 1]) - mean, 2);
  expect_near(loss, worst, 1e-12, "loss");
  expect_near(yearly, std::sqrt(squares / double(days - 2) * 252), 1e-10, "volatility");
  expect(crossings == crossed, "crossings");
}

// Black and Scholes over a grid of strikes and maturities; parity of calls and puts.
void options() {
  const double spot = 100, rate = 0.03, volatility = 0.2;
  array<double> strike = plait::linspace(80.0, 120.0, 9);
  array<double> years = array<double>{0.25, 0.5, 1.0, 2.0}.reshape({4, 1});
  auto cumulative = [](const array<double>& x) { return 0.5 * plait::erfc(-x / std::sqrt(2.0)); };
  array<double> spread = volatility * plait::sqrt(years);
  array<double> d1 =
      (plait::log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread;
  array<double> d2 = d1 - spread;
  array<double> call = spot * cumulative(d1) - strike * plait::exp(-rate * years) * cumulative(d2);
  array<double> put = strike * plait::exp(-rate * years) * cumulative(-d2) - spot * cumulative(-d1);
  expect(plait::allclose(call - put, spot - strike * plait::exp(-rate * years)), "parity");
  for (long i = 0; i < 4; ++i)
    for (long j = 0; j < 9; ++j) {
      const double t = years.get(i, 0), k = strike.get(j), s = volatility * std::sqrt(t);
      const double a = (std::log(spot / k) + (rate + 0.5 * volatility * volatility) * t) / s;
      const double own = 0.5 * spot * std::erfc(-a / std::sqrt(2.0)) -
                         0.5 * k * std::exp(-rate * t) * std::erfc(-(a - s) / std::sqrt(2.0));
      expect_near(call(i, j), own, 1e-12, "call");
    }
}

// A low-pass filter through the Fourier transform.
void low_pass() {
  const long n = 256;
  auto t = plait::arange<double>(0, n) / double(n);
  const double pi = std::acos(-1.0);
  array<double> slow = plait::sin(2 * pi * 3.0 * t),
                signal = slow + 0.5 * plait::sin(2 * pi * 60.0 * t);
  array<std::complex<double>> spectrum = plait::fft::rfft(signal);
  array<double> frequency = plait::fft::rfftfreq(n, 1.0 / double(n));
  spectrum[frequency > 20.0] = 0.0;
  array<double> filtered = plait::fft::irfft(spectrum, n);
  for (long i = 0; i < n; ++i)
    expect_near(filtered(i), std::sin(2 * pi * 3.0 * double(i) / double(n)), 1e-12, "filtered");
  auto power = plait::square(plait::abs(plait::fft::fft(signal)));
  expect_near(plait::sum(power).item() / double(n), plait::sum(signal * signal).item(), 1e-12,
              "Parseval");
  expect(plait::argmax(power).item() == 3, "strongest");
}

// A convolution by transforms, and directly.
void smoothing() {
  array<double> v = plait::linspace(0.0, 2.0, 30), w{1.0, 2.0, 1.0};
  v = v * v;
  array<double> full = plait::convolve(v, w, plait::convolve_mode::full);
  auto by_fft = plait::fft::irfft(plait::fft::rfft(v, 32) * plait::fft::rfft(w, 32), 32);
  expect(plait::allclose(full, by_fft), "transforms");
  for (long i = 0; i < 32; ++i) {
    double sum = 0;
    for (long j = 0; j < 3; ++j)
      if (i - j >= 0 && i - j < 30) sum += v.get(i - j) * w.get(j);
    expect_near(full(i), sum, 1e-13, "convolution");
  }
  array<double> narrow{1.0, std::numeric_limits<double>::infinity()};
  array<double> edge = plait::convolve(array<double>{1.0, 2.0}, narrow, plait::convolve_mode::full);
  expect(edge(0) == 1.0 && std::isinf(edge(1)) && std::isinf(edge(2)),
         "infinities stay where they are");
}

// A table of measurements: interpolation, derivatives, integrals.
void calculus() {
  array<double> x = plait::linspace(0.0, 3.0, 301);
  array<double> y = plait::exp(-x) * plait::sin(4.0 * x);
  const double h = 0.01;
  array<double> slope = plait::gradient(y, h);
  array<double> exact = plait::exp(-x) * (4.0 * plait::cos(4.0 * x) - plait::sin(4.0 * x));
  expect(plait::max(plait::abs(view(slope - exact, range(1, -1)))).item() < 2e-3, "derivative");
  double sum = 0;
  for (long i = 0; i + 1 < 301; ++i) {
    const double a = 0.01 * double(i), b = a + 0.01;
    sum += 0.005 * (std::exp(-a) * std::sin(4 * a) + std::exp(-b) * std::sin(4 * b));
  }
  expect_near(plait::trapezoid(y, x).item(), sum, 1e-12, "integral");
  array<double> running = plait::cumsum(0.5 * (view(y, range(1, _)) + view(y, range(_, -1)))) * h;
  expect_near(running(-1), sum, 1e-12, "running integral");
  array<double> between = plait::interp(array<double>{0.005, 1.234, 99.0}, x, y);
  expect_near(between(0), (y(0) + y(1)) / 2, 1e-12, "between two points");
  expect_near(between(1), 0.6 * y(123) + 0.4 * y(124), 1e-12, "inside");
  expect(between(2) == y(300), "beyond");
}

// Conjugate gradients on Poisson's matrix, against elimination.
void poisson() {
  const long n = 30;
  array<double> a = 2.0 * plait::eye(n) - plait::eye(n, n, 1) - plait::eye(n, n, -1);
  array<double> b = plait::ones<double>({n});
  array<double> x = plait::zeros<double>({n}), r = b.copy(), p = b.copy();
  double rr = plait::dot(r, r).item();
  for (int i = 0; i < 100 && rr > 1e-24; ++i) {
    array<double> ap = plait::matmul(a, p);
    const double alpha = rr / plait::dot(p, ap).item();
    x += alpha * p;
    r -= alpha * ap;
    const double next = plait::dot(r, r).item();
    p = r + next / rr * p;
    rr = next;
  }
  for (long i = 0; i < n; ++i)
    expect_near(x(i), 0.5 * double(i + 1) * double(n - i), 1e-9, "solution");
  expect(plait::allclose(plait::linalg::solve(a, b), x), "solve");
  expect_near(plait::linalg::det(a).item(), double(n + 1), 1e-10, "determinant");
  expect(plait::allclose(plait::matmul(plait::linalg::inv(a), a), plait::eye(n)), "inverse");
  expect_near(plait::linalg::eigvalsh(a)(0), 2 - 2 * std::cos(std::acos(-1.0) / double(n + 1)),
              1e-11, "eigenvalue");
}

}  // namespace

const std::vector<Program>& series() {
  static const std::vector<Program> programs{{"prices", prices},     {"options", options},
                                             {"low pass", low_pass}, {"smoothing", smoothing},
                                             {"calculus", calculus}, {"poisson", poisson}};
  return programs;
}
