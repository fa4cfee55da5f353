#include <cmath>
#include <random>

#include "box.hpp"
#include "numpy_compat/random_stream.hpp"
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

void check_count(const char* function, std::int64_t n) {
  if (n < 0) throw ValueError(std::string(function) + ": negative dimensions are not allowed");
}

}  // namespace

detail::Handle engine::draw(law l, double first, double second, const extents& shape) {
  stream& s = *stream_;
  switch (l) {
    case law::normal:
      if (!(second >= 0)) throw ValueError("normal: scale < 0");
      return filled<double>(shape, [&] { return first + second * s.normal(); });
    case law::exponential:
      if (!(first >= 0)) throw ValueError("exponential: scale < 0");
      return filled<double>(shape, [&] { return first * s.exponential(); });
    case law::uniform:
      break;
  }
  const double range = second - first;
  if (!std::isfinite(range)) throw OverflowError("uniform: high - low range exceeds valid bounds");
  if (range < 0) throw ValueError("uniform: high < low");
  return filled<double>(shape, [&] { return first + range * s.uniform(); });
}

detail::Handle engine::draw_integers(std::int64_t low, std::int64_t high, const extents& shape) {
  if (high <= low) throw ValueError("integers: low >= high");
  const std::uint64_t most = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
  return filled<std::int64_t>(shape, [&] {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + stream_->below_or_at(most));
  });
}

detail::Handle engine::permuted(std::int64_t n) {
  check_count("permutation", n);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[stream_->masked(i)]);
  std::size_t at = 0;
  return filled<std::int64_t>(n, [&] { return order[at++]; });
}

detail::Handle engine::chosen(std::int64_t population, std::int64_t n, bool replace) {
  check_count("choice", n);
  if (population < 1 && n > 0) throw ValueError("choice: there is nothing to choose from");
  if (replace) return draw_integers(0, std::max<std::int64_t>(population, 1), n);
  if (n > population)
    throw ValueError("choice: cannot take a larger sample than population when replace is False");
  const std::vector<std::int64_t> drawn = stream_->sample(population, n);
  std::size_t at = 0;
  return filled<std::int64_t>(n, [&] { return drawn[at++]; });
}

}  // namespace plait::random
