#include "distributions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace plait::numpy {
namespace {

// What a law of either precision draws.
template <class T>
struct Standard;
template <>
struct Standard<double> {
  RandomStream& s;
  double uniform() { return s.uniform(); }
  double normal() { return s.normal(); }
  double exponential() { return s.exponential(); }
};
template <>
struct Standard<float> {
  RandomStream& s;
  float uniform() { return s.uniform_float(); }
  float normal() { return s.normal_float(); }
  float exponential() { return s.exponential_float(); }
};

template <class T>
T gamma_of(Standard<T> s, T shape) {
  if (shape == 1) return s.exponential();
  if (shape == 0) return 0;
  if (shape < 1) {
    for (;;) {
      const T u = s.uniform(), v = s.exponential();
      if (u <= 1 - shape) {
        const T x = std::pow(u, 1 / shape);
        if (x <= v) return x;
      } else {
        const T y = -std::log((1 - u) / shape);
        const T x = std::pow(1 - shape + shape * y, 1 / shape);
        if (x <= v + y) return x;
      }
    }
  }
  const T b = shape - T(1) / 3, c = 1 / std::sqrt(9 * b);
  for (;;) {
    T x, v;
    do {
      x = s.normal();
      v = 1 + c * x;
    } while (v <= 0);
    v = v * v * v;
    const T u = s.uniform();
    if (u < 1 - T(0.0331) * (x * x) * (x * x)) return b * v;
    if (std::log(u) < T(0.5) * x * x + b * (1 - v + std::log(v))) return b * v;
  }
}

// log(gamma(x)): Zhang and Jin, "Computation of special functions" (1996).
double log_gamma(double x) {
  constexpr double kSeries[] = {
      8.333333333333333e-02, -2.777777777777778e-03, 7.936507936507937e-04, -5.952380952380952e-04,
      8.417508417508418e-04, -1.917526917526918e-03, 6.410256410256410e-03, -2.955065359477124e-02,
      1.796443723688307e-01, -1.39243221690590e+00};
  if (x == 1 || x == 2) return 0;
  const std::int64_t n = x < 7 ? static_cast<std::int64_t>(7 - x) : 0;
  double at = x + static_cast<double>(n), sum = kSeries[9];
  const double x2 = (1 / at) * (1 / at);
  for (int k = 8; k >= 0; --k) sum = sum * x2 + kSeries[k];
  double out = sum / at + 0.5 * 1.8378770664093453 + (at - 0.5) * std::log(at) - at;
  for (std::int64_t k = 0; k < n; ++k) {
    out -= std::log(at - 1);
    at -= 1;
  }
  return out;
}

// log(k!).
double log_factorial(std::int64_t k) {
  constexpr std::size_t kTable = 126;
  static const auto table = [] {
    std::array<double, kTable> t{};
    long double sum = 0;
    for (std::size_t i = 2; i < kTable; ++i) {
      sum += std::log(static_cast<long double>(i));
      t[i] = static_cast<double>(sum);
    }
    return t;
  }();
  if (k < std::int64_t{kTable}) return table[static_cast<std::size_t>(k)];
  const auto x = static_cast<double>(k);
  return (x + 0.5) * std::log(x) - x +
         (0.9189385332046728 + (1 / x) * (1 / 12. - 1 / (360. * x * x)));
}

constexpr double kPi = 3.14159265358979323846;

}  // namespace

double standard_gamma(RandomStream& s, double shape) {
  return gamma_of(Standard<double>{s}, shape);
}
float standard_gamma_float(RandomStream& s, float shape) {
  return gamma_of(Standard<float>{s}, shape);
}
double chisquare(RandomStream& s, double degrees) { return 2 * standard_gamma(s, degrees / 2); }

double beta(RandomStream& s, double a, double b) {
  if (a > 1 || b > 1) {
    const double x = standard_gamma(s, a), y = standard_gamma(s, b);
    return x / (x + y);
  }
  constexpr double kTiny = 3e-103;  // nothing but 0 and 1 would be drawn
  if (a < kTiny && b < kTiny) return (a + b) * s.uniform() < a ? 1 : 0;
  for (;;) {
    const double u = s.uniform(), v = s.uniform();
    const double x = std::pow(u, 1 / a), y = std::pow(v, 1 / b);
    if (!(x + y <= 1 && u + v > 0)) continue;
    if (x > 0 && y > 0) return x / (x + y);
    const double ratio = std::log(u) / a - std::log(v) / b;  // a power is too small
    return ratio > 0 ? std::exp(-std::log1p(std::exp(-ratio)))
                     : std::exp(ratio - std::log1p(std::exp(ratio)));
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
        -mean + k * log_mean - log_gamma(k + 1))
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

double noncentral_chisquare(RandomStream& s, double degrees, double noncentrality) {
  if (std::isnan(noncentrality)) return noncentrality;
  if (noncentrality == 0) return chisquare(s, degrees);
  if (degrees > 1) {
    const double x = chisquare(s, degrees - 1), n = s.normal() + std::sqrt(noncentrality);
    return x + n * n;
  }
  const auto more = static_cast<double>(2 * poisson(s, noncentrality / 2));
  return chisquare(s, degrees + more);
}

double wald(RandomStream& s, double mean, double scale) {
  const double n = s.normal(), y = mean * n * n;
  const double x = mean * (1 - 2 / (1 + std::sqrt(1 + 4 * scale / y)));
  return s.uniform() <= mean / (mean + x) ? x : mean * mean / x;
}

double vonmises(RandomStream& s, double mode, double kappa) {
  if (std::isnan(kappa)) return kappa;
  if (kappa < 1e-8) return kPi * (2 * s.uniform() - 1);
  if (kappa > 1e6) {  // a normal distribution, wrapped
    const double x = mode + std::sqrt(1 / kappa) * s.normal();
    return x < -kPi ? x + 2 * kPi : x > kPi ? x - 2 * kPi : x;
  }
  double r = 1 / kappa + kappa;
  if (kappa >= 1e-5) {
    const double t = 1 + std::sqrt(1 + 4 * kappa * kappa);
    const double rho = (t - std::sqrt(2 * t)) / (2 * kappa);
    r = (1 + rho * rho) / (2 * rho);
  }
  for (;;) {
    const double z = std::cos(kPi * s.uniform()), w = (1 + r * z) / (r + z);
    const double y = kappa * (r - w), v = s.uniform();
    if (!(y * (2 - y) - v >= 0 || std::log(y / v) + 1 - y >= 0)) continue;
    const double angle = s.uniform() < 0.5 ? -std::acos(w) : std::acos(w), x = angle + mode;
    const double wrapped = std::fmod(std::fabs(x) + kPi, 2 * kPi) - kPi;
    return x < 0 ? -wrapped : wrapped;
  }
}

std::int64_t logseries(RandomStream& s, double p) {
  const double r = std::log1p(-p);
  for (;;) {
    const double v = s.uniform();
    if (v >= p) return 1;
    const double q = -std::expm1(r * s.uniform());
    if (v > q * q) return v >= q ? 1 : 2;
    if (v == 0) continue;
    const auto n = static_cast<std::int64_t>(std::floor(1 + std::log(v) / std::log(q)));
    if (n >= 1) return n;
  }
}

std::int64_t zipf(RandomStream& s, double a) {
  if (a >= 1025) return 1;  // the powers below would be infinite
  constexpr auto kMost = static_cast<double>(INT64_MAX);
  const double below = a - 1, b = std::pow(2., below), least = std::pow(kMost, -below);
  for (;;) {
    const double drawn = s.uniform(), u = drawn * least + (1 - drawn), v = s.uniform();
    const double x = std::floor(std::pow(u, -1 / below));
    if (x > kMost || x < 1) continue;
    const double t = std::pow(1 + 1 / x, below);
    if (v * x * (t - 1) / (b - 1) <= t / b)
      return x == kMost ? INT64_MAX : static_cast<std::int64_t>(x);
  }
}

std::int64_t Binomial::operator()(RandomStream& s, std::int64_t n, double p) {
  if (n == 0 || p == 0) return 0;
  const double rarer = p <= 0.5 ? p : 1 - p;
  if (n != n_ || rarer != p_) {
    n_ = n;
    p_ = rarer;
    prepare();
  }
  const std::int64_t x = is_small_ ? invert(s) : reject(s);
  return p <= 0.5 ? x : n - x;
}

void Binomial::prepare() {
  const auto n = static_cast<double>(n_);
  q_ = 1 - p_;
  is_small_ = p_ * n <= 30;
  if (is_small_) {
    none_ = std::exp(n * std::log1p(-p_));
    const double mean = n * p_;
    most_ = static_cast<std::int64_t>(std::min(n, mean + 10 * std::sqrt(mean * q_ + 1)));
    return;
  }
  // A triangle in the middle, a parallelogram on either side of it and two exponential tails.
  const double middle = n * p_ + p_;
  mode_ = static_cast<std::int64_t>(std::floor(middle));
  const auto m = static_cast<double>(mode_);
  triangle_ = std::floor(2.195 * std::sqrt(n * p_ * q_) - 4.6 * q_) + 0.5;
  center_ = m + 0.5;
  left_ = center_ - triangle_;
  right_ = center_ + triangle_;
  c_ = 0.134 + 20.5 / (15.3 + m);
  double a = (middle - left_) / (middle - left_ * p_);
  left_rate_ = a * (1 + a / 2);
  a = (right_ - middle) / (right_ * q_);
  right_rate_ = a * (1 + a / 2);
  to_sides_ = triangle_ * (1 + 2 * c_);
  to_left_tail_ = to_sides_ + c_ / left_rate_;
  to_right_tail_ = to_left_tail_ + c_ / right_rate_;
}

std::int64_t Binomial::invert(RandomStream& s) const {
  for (;;) {
    double u = s.uniform(), px = none_;
    for (std::int64_t x = 0; x <= most_; ++x) {
      if (!(u > px)) return x;
      u -= px;
      const std::int64_t next = x + 1;
      px = (static_cast<double>(n_ - next + 1) * p_ * px) / (static_cast<double>(next) * q_);
    }
  }
}

std::int64_t Binomial::reject(RandomStream& s) const {
  const auto n = static_cast<double>(n_), m = static_cast<double>(mode_);
  const double variance = n * p_ * q_;
  for (;;) {
    const double u = s.uniform() * to_right_tail_;
    double v = s.uniform(), y;
    if (u <= triangle_) return static_cast<std::int64_t>(std::floor(center_ - triangle_ * v + u));
    if (u <= to_sides_) {
      const double x = left_ + (u - triangle_) / c_;
      v = v * c_ + 1 - std::fabs(m - x + 0.5) / triangle_;
      if (v > 1) continue;
      y = std::floor(x);
    } else if (u <= to_left_tail_) {
      y = std::floor(left_ + std::log(v) / left_rate_);
      if (y < 0 || v == 0) continue;
      v = v * (u - to_sides_) * left_rate_;
    } else {
      y = std::floor(right_ - std::log(v) / right_rate_);
      if (y > n || v == 0) continue;
      v = v * (u - to_left_tail_) * right_rate_;
    }
    const double k = std::fabs(y - m);
    if (k <= 20 || k >= variance / 2 - 1) {
      // The density by its recurrence from the mode on.
      const double odds = p_ / q_, a = odds * (n + 1);
      double density = 1;
      for (double i = m + 1; i <= y; ++i) density *= a / i - odds;
      for (double i = y + 1; i <= m; ++i) density /= a / i - odds;
      if (v <= density) return static_cast<std::int64_t>(y);
      continue;
    }
    const double rho =
        (k / variance) * ((k * (k / 3 + 0.625) + 0.16666666666666666) / variance + 0.5);
    const double t = -k * k / (2 * variance), log_v = std::log(v);
    if (log_v < t - rho) return static_cast<std::int64_t>(y);
    if (log_v > t + rho) continue;
    // Stirling's, with the terms and the signs of NumPy 2.4, which are not those of the series.
    const auto rest = [](double x) {
      const double x2 = x * x;
      return (13680. - (462. - (132. - (99. - 140. / x2) / x2) / x2) / x2) / x / 166320.;
    };
    const double x1 = y + 1, f1 = m + 1, z = n + 1 - m, w = n - y + 1;
    if (log_v <= center_ * std::log(f1 / x1) + (n - m + 0.5) * std::log(z / w) +
                     (y - m) * std::log(w * p_ / (x1 * q_)) + rest(f1) + rest(z) + rest(x1) +
                     rest(w))
      return static_cast<std::int64_t>(y);
  }
}

namespace {

// One of the good after the other.
std::int64_t hypergeometric_by_items(RandomStream& s, std::int64_t good, std::int64_t bad,
                                     std::int64_t sample) {
  const std::int64_t total = good + bad;
  const bool is_most = sample > total / 2;
  std::int64_t left = total, good_left = good;
  std::int64_t to_draw = is_most ? total - sample : sample;
  for (; to_draw > 0 && good_left > 0 && left > good_left; --to_draw) {
    --left;
    if (static_cast<std::int64_t>(s.masked(static_cast<std::uint64_t>(left))) < good_left)
      --good_left;
  }
  if (left == good_left) good_left -= to_draw;
  return is_most ? good_left : good - good_left;
}

// Stadlober's ratio of uniforms.
std::int64_t hypergeometric_by_ratio(RandomStream& s, std::int64_t good, std::int64_t bad,
                                     std::int64_t sample) {
  const std::int64_t total = good + bad, drawn = std::min(sample, total - sample);
  const std::int64_t fewer = std::min(good, bad), more = std::max(good, bad);
  const auto size = static_cast<double>(total), n = static_cast<double>(drawn);
  const double p = static_cast<double>(fewer) / size, q = static_cast<double>(more) / size;
  const double a = n * p + 0.5;
  const double variance = static_cast<double>(total - drawn) * n * p * q / (size - 1);
  const double c = std::sqrt(variance + 0.5);
  const double h = 1.7155277699214135 * c + 0.8989161620588988;  // 2 sqrt(2/e), 3 - 2 sqrt(3/e)
  const auto mode =
      static_cast<std::int64_t>(std::floor((n + 1) * static_cast<double>(fewer + 1) / (size + 2)));
  const auto density = [&](std::int64_t k) {
    return log_factorial(k) + log_factorial(fewer - k) + log_factorial(drawn - k) +
           log_factorial(more - drawn + k);
  };
  const double at_mode = density(mode);
  const double bound =
      std::min(static_cast<double>(std::min(drawn, fewer) + 1), std::floor(a + 16 * c));
  for (;;) {
    const double u = s.uniform(), v = s.uniform(), x = a + h * (v - 0.5) / u;
    if (x < 0 || x >= bound) continue;
    auto k = static_cast<std::int64_t>(std::floor(x));
    const double t = at_mode - density(k);
    if (u * (4 - u) - 3 > t && (u * (u - t) >= 1 || 2 * std::log(u) > t)) continue;
    if (good > bad) k = drawn - k;
    return drawn < sample ? good - k : k;
  }
}

}  // namespace

std::int64_t hypergeometric(RandomStream& s, std::int64_t good, std::int64_t bad,
                            std::int64_t sample) {
  return sample >= 10 && sample <= good + bad - 10 ? hypergeometric_by_ratio(s, good, bad, sample)
                                                   : hypergeometric_by_items(s, good, bad, sample);
}

void multinomial(RandomStream& s, Binomial& binomial, std::int64_t n, const double* p,
                 std::int64_t kinds, std::int64_t* out) {
  double rest = 1;
  for (std::int64_t i = 0; i < kinds - 1 && n > 0; ++i) {
    out[i] = binomial(s, n, p[i] / rest);
    n -= out[i];
    rest -= p[i];
  }
  if (n > 0) out[kinds - 1] = n;
}

void multivariate_hypergeometric(RandomStream& s, const std::vector<std::int64_t>& colors,
                                 std::int64_t sample, bool by_counts, std::int64_t n,
                                 std::int64_t* out) {
  const auto kinds = static_cast<std::int64_t>(colors.size());
  const std::int64_t total = std::accumulate(colors.begin(), colors.end(), std::int64_t{0});
  const bool is_most = sample > total / 2;
  const std::int64_t to_draw = is_most ? total - sample : sample;
  std::vector<std::int64_t> items;
  if (by_counts)
    for (std::size_t i = 0; i < colors.size(); ++i)
      items.insert(items.end(), static_cast<std::size_t>(colors[i]), static_cast<std::int64_t>(i));
  for (; sample > 0 && n > 0; --n, out += kinds) {
    std::int64_t left = to_draw, others = total;
    if (by_counts) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) {
        std::swap(items[i], items[i + s.masked(items.size() - i - 1)]);
        ++out[items[i]];
      }
    } else {
      for (std::int64_t i = 0; left > 0 && i + 1 < kinds; ++i) {
        const std::int64_t color = colors[static_cast<std::size_t>(i)];
        others -= color;
        out[i] = hypergeometric(s, color, others, left);
        left -= out[i];
      }
      if (left > 0) out[kinds - 1] = left;
    }
    for (std::int64_t i = 0; is_most && i < kinds; ++i)
      out[i] = colors[static_cast<std::size_t>(i)] - out[i];
  }
}

void dirichlet(RandomStream& s, const std::vector<double>& alpha, std::int64_t n, double* out) {
  const std::size_t kinds = alpha.size();
  if (kinds == 0) return;
  const bool is_small = *std::max_element(alpha.begin(), alpha.end()) < 0.1;
  std::vector<double> tails(kinds);  // the sums from each to the last
  std::partial_sum(alpha.rbegin(), alpha.rend(), tails.rbegin());
  for (; n > 0; --n, out += kinds) {
    if (!is_small) {
      double sum = 0;
      for (std::size_t i = 0; i < kinds; ++i) sum += out[i] = standard_gamma(s, alpha[i]);
      const double inverse = 1 / sum;
      for (std::size_t i = 0; i < kinds; ++i) out[i] *= inverse;
    } else if (tails[0] > 0) {  // a stick is broken, as all of the gammas might be 0
      double left = 1;
      for (std::size_t i = 0; i + 1 < kinds; ++i) {
        const double part = beta(s, alpha[i], tails[i + 1]);
        out[i] = left * part;
        left *= 1 - part;
        if (tails[i + 1] == 0) break;
      }
      out[kinds - 1] = left;
    }
  }
}

}  // namespace plait::numpy
