// Random arrays. Blocks of the output have their own generator, seeded by (seed, call, block), so
// that any number of threads gives the same numbers.
#include "plait/random.hpp"

#include <atomic>
#include <cmath>
#include <random>
#include <string>

#include "box.hpp"
#include "engine/threads/team.hpp"
#include "numpy_compat/draws.hpp"

namespace plait {
namespace {

struct State {
  std::atomic<std::uint64_t> seed{std::random_device{}()};
  std::atomic<std::uint64_t> calls{0};
};
State& state() {
  static State s;
  return s;
}

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// xoshiro256++ (Blackman and Vigna).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) {
    for (std::uint64_t& s : s_) s = seed = mix(seed);
  }
  std::uint64_t bits() {
    const std::uint64_t out = rotate(s_[0] + s_[3], 23) + s_[0], t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotate(s_[3], 45);
    return out;
  }
  // In [0, 1), of as many bits as T has.
  template <class T = double>
  T uniform() {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(bits() >> 40) * 0x1p-24f;
    else
      return static_cast<double>(bits() >> 11) * 0x1p-53;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t s_[4];
};

constexpr std::int64_t kBlock = 1 << 16;
constexpr double kDrawSeconds = 5e-9;  // roughly

// Fills n elements with draw(generator).
template <class T, class Draw>
void fill(void* memory, std::int64_t n, Draw draw) {
  auto* out = static_cast<T*>(memory);
  const std::uint64_t stream = mix(state().seed.load()) + mix(state().calls.fetch_add(1));
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
  const double seconds = kDrawSeconds * static_cast<double>(n);
  const engine::ParallelLoop loop{
      .extent = blocks, .seconds = seconds, .threads = engine::team_threads(seconds)};
  engine::run_parallel(loop, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t b = begin; b < end; ++b) {
      Generator g(mix(stream) ^ static_cast<std::uint64_t>(b));
      for (std::int64_t i = b * kBlock; i < std::min(n, (b + 1) * kBlock); ++i)
        out[i] = static_cast<T>(draw(g));
    }
    return true;
  });
}

template <class Draw>
void fill(dtype t, void* memory, std::int64_t n, Draw draw) {
  if (t == dtype::float32)
    fill<float>(memory, n, draw);
  else
    fill<double>(memory, n, draw);
}

// In [low, high): the sum may round up to `high`.
template <class T>
struct Uniform {
  Uniform(double first, double last) : low(static_cast<T>(first)), high(static_cast<T>(last)) {
    if (!std::isfinite(high - low)) throw OverflowError("high - low range exceeds valid bounds");
  }
  T operator()(Generator& g) const {
    const T x = low + (high - low) * g.uniform<T>();
    return x == high ? std::nextafter(high, low) : x;
  }
  T low, high;
};

}  // namespace

namespace random {
void seed(std::uint64_t value) {
  state().seed = value;
  state().calls = 0;
}
}  // namespace random

namespace detail {

Handle random(const char* distribution, Span shape, double low, double high, dtype t) {
  if (distribution[0] == 'n' && high < 0) throw ValueError("scale < 0");
  start();
  const OnHost host;
  Handle h = empty(shape, t);
  const std::int64_t n = size_of(h);
  void* memory = mutable_data(h);
  if (distribution[0] == 'n')
    fill(t, memory, n, [&l = numpy::normal_layers(), mean = low, deviation = high](Generator& g) {
      return mean + deviation * numpy::normal(g, l);
    });
  else if (t == dtype::float32)
    fill<float>(memory, n, Uniform<float>(low, high));
  else
    fill<double>(memory, n, Uniform<double>(low, high));
  return host.placed(h);
}

void check_integers(std::int64_t low, std::int64_t high, bool endpoint, dtype t) {
  if (high < low || (high == low && !endpoint))
    throw ValueError(
        std::string(low == 0 ? "high" : "low") +
        (low == 0 ? (endpoint ? " < 0" : " <= 0") : (endpoint ? " > high" : " >= high")));
  const bool is_signed = kind_of(t) == kind::signed_int;
  const int value_bits = t == dtype::bool_ ? 1 : bits_of(t) - is_signed;
  const std::string of = " is out of bounds for " + std::string(plait::name(core(t)));
  if (value_bits < 63) {
    const std::int64_t limit = std::int64_t{1} << value_bits;
    if (low < (is_signed ? -limit : 0)) throw ValueError("low" + of);
    if (high > limit - endpoint) throw ValueError("high" + of);
  } else if (!is_signed && low < 0) {
    throw ValueError("low" + of);
  }
}

Handle random_integers(Span shape, std::int64_t low, std::int64_t high, dtype t) {
  check_integers(low, high, false, t);
  start();
  const OnHost host;
  Handle h = empty(shape, dtype::int64);
  const std::uint64_t first = static_cast<std::uint64_t>(low),
                      most = static_cast<std::uint64_t>(high) - first - 1;
  fill<std::int64_t>(mutable_data(h), size_of(h), [=](Generator& g) {
    return static_cast<std::int64_t>(first + numpy::below_or_at_by_words(g, most));
  });
  return host.placed(t == dtype::int64 ? h : astype(h, t));
}

}  // namespace detail
}  // namespace plait
