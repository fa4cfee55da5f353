#include "distributions.hpp"

#include <cmath>
#include <cstdint>

namespace plait::numpy {

double standard_gamma(RandomStream& s, double shape) {
  if (shape == 1) return s.exponential();
  if (shape == 0) return 0;
  if (shape < 1) {
    for (;;) {
      const double u = s.uniform(), v = s.exponential();
      if (u <= 1 - shape) {
        const double x = std::pow(u, 1 / shape);
        if (x <= v) return x;
      } else {
        const double y = -std::log((1 - u) / shape);
        const double x = std::pow(1 - shape + shape * y, 1 / shape);
        if (x <= v + y) return x;
      }
    }
  }
  const double b = shape - 1. / 3, c = 1 / std::sqrt(9 * b);
  for (;;) {
    double x, v;
    do {
      x = s.normal();
      v = 1 + c * x;
    } while (v <= 0);
    v = v * v * v;
    const double u = s.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x)) return b * v;
    if (std::log(u) < 0.5 * x * x + b * (1 - v + std::log(v))) return b * v;
  }
}

double beta(RandomStream& s, double a, double b) {
  if (a > 1 || b > 1) {
    const double x = standard_gamma(s, a), y = standard_gamma(s, b);
    return x / (x + y);
  }
  for (;;) {
    const double u = s.uniform(), v = s.uniform();
    const double x = std::pow(u, 1 / a), y = std::pow(v, 1 / b);
    if (x + y > 1 || u + v <= 0) continue;
    if (x + y > 0) return x / (x + y);
    const double log_x = std::log(u) / a, log_y = std::log(v) / b;  // both powers are too small
    const double most = std::fmax(log_x, log_y);
    return std::exp(log_x - most - std::log(std::exp(log_x - most) + std::exp(log_y - most)));
  }
}

double laplace(RandomStream& s) {
  for (;;) {
    const double u = s.uniform();
    if (u >= 0.5) return -std::log(2 - u - u);
    if (u > 0) return std::log(u + u);
  }
}
double logistic(RandomStream& s) {
  for (;;)
    if (const double u = s.uniform(); u > 0) return std::log(u / (1 - u));
}
double gumbel(RandomStream& s) {
  for (;;)
    if (const double u = 1 - s.uniform(); u < 1) return -std::log(-std::log(u));
}

double triangular(RandomStream& s, double left, double mode, double right) {
  const double base = right - left, u = s.uniform();
  if (u <= (mode - left) / base) return left + std::sqrt(u * ((mode - left) * base));
  return right - std::sqrt((1 - u) * ((right - mode) * base));
}

std::int64_t poisson(RandomStream& s, double mean) {
  if (mean == 0) return 0;
  if (mean < 10) {
    const double least = std::exp(-mean);
    std::int64_t n = 0;
    for (double product = s.uniform(); product > least; product *= s.uniform()) ++n;
    return n;
  }
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = s.uniform() - 0.5, v = s.uniform(), us = 0.5 - std::fabs(u);
    const auto n = static_cast<std::int64_t>(std::floor((2 * a / us + b) * u + mean + 0.43));
    if (us >= 0.07 && v <= v_r) return n;
    if (n < 0 || (us < 0.013 && v > us)) continue;
    const auto k = static_cast<double>(n);
    if (std::log(v) + std::log(inverse_alpha) - std::log(a / (us * us) + b) <=
        -mean + k * log_mean - std::lgamma(k + 1))
      return n;
  }
}

std::int64_t geometric(RandomStream& s, double p) {
  if (p < 1. / 3) {
    const double n = std::ceil(-s.exponential() / std::log1p(-p));
    return n >= 0x1p63 ? INT64_MAX : static_cast<std::int64_t>(n);
  }
  const double u = s.uniform();
  double term = p, sum = p;
  std::int64_t n = 1;
  for (; u > sum; ++n) sum += term *= 1 - p;
  return n;
}

}  // namespace plait::numpy
