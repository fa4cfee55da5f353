#include <cmath>
#include <random>

#include "box.hpp"
#include "numpy_compat/distributions.hpp"
#include "plait/random.hpp"

namespace plait::random {

struct engine::stream : numpy::RandomStream {
  using RandomStream::RandomStream;
};

engine::engine() : engine(std::uint64_t{std::random_device{}()} << 32 | std::random_device{}()) {}
engine::engine(std::uint64_t seed) : stream_(new stream(seed)) {}
engine::~engine() { delete stream_; }

namespace {

// A new array of T whose elements are what next() gives, in C order.
template <class T, class F>
detail::Handle filled(const extents& shape, F&& next) {
  detail::start();
  const detail::OnHost host;
  const detail::Handle h = detail::empty(detail::span_of(shape), dtype_of_v<T>);
  if (const std::int64_t n = detail::size_of(h); n > 0) {
    T* const out = static_cast<T*>(detail::mutable_data(h));
    for (std::int64_t i = 0; i < n; ++i) out[i] = next();
  }
  return host.placed(h);
}

detail::Handle as(detail::Handle h, dtype t) {
  return t == dtype::int64 ? h : detail::astype(h, t);
}

// Above it, numbers may not fit an int64.
const double kGreatestMean = 0x1p63 - std::sqrt(0x1p63) * 10;

void check_count(const char* function, std::int64_t n) {
  if (n < 0) throw ValueError(std::string(function) + ": negative dimensions are not allowed");
}

}  // namespace

detail::Handle engine::draw_standard(law l, const extents& shape, dtype t) {
  stream& s = *stream_;
  if (t == dtype::float64) return draw(l, l == law::exponential ? 1 : 0, 1, 0, shape);
  return filled<float>(shape, [&] {
    return l == law::uniform  ? s.uniform_float()
           : l == law::normal ? s.normal_float()
                              : s.exponential_float();
  });
}

detail::Handle engine::draw(law l, double first, double second, double third,
                            const extents& shape) {
  stream& s = *stream_;
  const auto check = [](bool possible, const char* problem) {
    if (!possible) throw ValueError(problem);
  };
  const auto drawn = [&](auto next) { return filled<decltype(next())>(shape, next); };
  switch (l) {
    case law::uniform: {
      const double range = second - first;
      if (!std::isfinite(range))
        throw OverflowError("uniform: high - low range exceeds valid bounds");
      check(range >= 0, "uniform: high < low");
      return drawn([&] { return first + range * s.uniform(); });
    }
    case law::normal:
      check(second >= 0, "normal: scale < 0");
      return drawn([&] { return first + second * s.normal(); });
    case law::exponential:
      check(first >= 0, "exponential: scale < 0");
      return drawn([&] { return first * s.exponential(); });
    case law::gamma:
      check(first >= 0, "gamma: shape < 0");
      check(second >= 0, "gamma: scale < 0");
      return drawn([&] { return second * numpy::standard_gamma(s, first); });
    case law::standard_gamma:
      check(first >= 0, "standard_gamma: shape < 0");
      return drawn([&] { return numpy::standard_gamma(s, first); });
    case law::beta:
      check(first > 0, "beta: a <= 0");
      check(second > 0, "beta: b <= 0");
      return drawn([&] { return numpy::beta(s, first, second); });
    case law::chisquare:
      check(first > 0, "chisquare: df <= 0");
      return drawn([&] { return 2 * numpy::standard_gamma(s, first / 2); });
    case law::f:
      check(first > 0, "f: dfnum <= 0");
      check(second > 0, "f: dfden <= 0");
      return drawn([&] {
        const double x = 2 * numpy::standard_gamma(s, first / 2) * second;
        return x / (2 * numpy::standard_gamma(s, second / 2) * first);
      });
    case law::standard_t:
      check(first > 0, "standard_t: df <= 0");
      return drawn([&] {
        const double x = s.normal();
        return std::sqrt(first / 2) * x / std::sqrt(numpy::standard_gamma(s, first / 2));
      });
    case law::lognormal:
      check(second >= 0, "lognormal: sigma < 0");
      return drawn([&] { return std::exp(first + second * s.normal()); });
    case law::laplace:
      check(second >= 0, "laplace: scale < 0");
      return drawn([&] { return first + second * numpy::laplace(s); });
    case law::logistic:
      check(second >= 0, "logistic: scale < 0");
      return drawn([&] { return first + second * numpy::logistic(s); });
    case law::gumbel:
      check(second >= 0, "gumbel: scale < 0");
      return drawn([&] { return first + second * numpy::gumbel(s); });
    case law::rayleigh:
      check(first >= 0, "rayleigh: scale < 0");
      return drawn([&] { return first * std::sqrt(2 * s.exponential()); });
    case law::weibull:
      check(first >= 0, "weibull: a < 0");
      return drawn([&] { return first == 0 ? 0 : std::pow(s.exponential(), 1 / first); });
    case law::pareto:
      check(first > 0, "pareto: a <= 0");
      return drawn([&] { return std::expm1(s.exponential() / first); });
    case law::power:
      check(first > 0, "power: a <= 0");
      return drawn([&] { return std::pow(-std::expm1(-s.exponential()), 1 / first); });
    case law::poisson:
      check(first >= 0, "poisson: lam < 0 or lam is NaN");
      check(first <= kGreatestMean, "poisson: lam value too large");
      return drawn([&] { return numpy::poisson(s, first); });
    case law::geometric:
      check(first > 0 && first <= 1, "geometric: p <= 0, p > 1 or p contains NaNs");
      return drawn([&] { return numpy::geometric(s, first); });
    case law::negative_binomial:
      check(first > 0, "negative_binomial: n <= 0");
      check(second > 0 && second <= 1, "negative_binomial: p <= 0, p > 1 or p contains NaNs");
      return drawn([&] {
        const double mean = (1 - second) / second * numpy::standard_gamma(s, first);
        return numpy::poisson(s, mean);
      });
    case law::triangular:
      check(first <= second, "triangular: left > mode");
      check(second <= third, "triangular: mode > right");
      check(first != third, "triangular: left == right");
      return drawn([&] { return numpy::triangular(s, first, second, third); });
  }
  throw InternalError("unknown distribution");
}

detail::Handle engine::draw_integers(std::int64_t low, std::int64_t high, const extents& shape,
                                     dtype t) {
  detail::check_integers("integers: ", low, high, t);
  const auto first = static_cast<std::uint64_t>(low),
             most = static_cast<std::uint64_t>(high) - first - 1;
  const auto drawn = [&](auto element, auto next) {
    using T = decltype(element);
    return filled<T>(shape, [&] { return static_cast<T>(first + next()); });
  };
  numpy::NarrowIntegers narrow(*stream_, t == dtype::bool_ ? 1 : std::min(detail::bits_of(t), 16),
                               static_cast<std::uint32_t>(most));
  const auto wide = [&] { return stream_->below_or_at(most); };
  const auto parts = [&] { return narrow.next(); };
  switch (t) {
    case dtype::bool_:
      return drawn(bool(), parts);
    case dtype::int8:
      return drawn(std::int8_t(), parts);
    case dtype::uint8:
      return drawn(std::uint8_t(), parts);
    case dtype::int16:
      return drawn(std::int16_t(), parts);
    case dtype::uint16:
      return drawn(std::uint16_t(), parts);
    case dtype::int32:
      return drawn(std::int32_t(), wide);
    case dtype::uint32:
      return drawn(std::uint32_t(), wide);
    case dtype::int64:
      return drawn(std::int64_t(), wide);
    case dtype::uint64:
      return drawn(std::uint64_t(), wide);
    default:
      return detail::astype(drawn(std::int8_t(), parts), t);  // of fewer bits: NumPy has none
  }
}

detail::Handle engine::permuted(std::int64_t n, dtype t) {
  check_count("permutation", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[stream_->masked(i)]);
  std::size_t at = 0;
  return as(filled<std::int64_t>(n, [&] { return order[at++]; }), t);
}

detail::Handle engine::chosen(std::int64_t population, std::int64_t n, bool replace, dtype t) {
  check_count("choice", n);
  if (population < 1 && n > 0) throw ValueError("choice: there is nothing to choose from");
  if (replace)
    return as(draw_integers(0, std::max<std::int64_t>(population, 1), n, dtype::int64), t);
  if (n > population)
    throw ValueError("choice: cannot take a larger sample than population when replace is False");
  const std::vector<std::int64_t> drawn = stream_->sample(population, n);
  std::size_t at = 0;
  return as(filled<std::int64_t>(n, [&] { return drawn[at++]; }), t);
}

}  // namespace plait::random
