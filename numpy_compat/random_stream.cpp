#include "random_stream.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace plait::numpy {
namespace {

template <class R, class Density, class Inverse>
Layers<double> layers(R end, R area, R unit, Density f, Inverse inverse, int raised,
                      R rounding = 0) {
  Layers<double> l;
  R x = end, y = f(x);
  l.width[255] = static_cast<double>(x / unit);
  l.density[255] = static_cast<double>(y);
  l.inside[0] = static_cast<std::uint64_t>(x * y / area * unit + rounding);
  l.width[0] = static_cast<double>(area / y / unit);
  l.density[0] = 1;
  for (int i = kLayers - 2; i > 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const R next = inverse(area / x + y);
    l.inside[at + 1] = static_cast<std::uint64_t>(next / x * unit + rounding);
    l.width[at] = static_cast<double>(next / unit);
    y = f(next);
    if (i == raised) y = std::nextafter(static_cast<double>(y), 1.0);
    l.density[at] = static_cast<double>(y);
    x = next;
  }
  l.inside[1] = 0;
  return l;
}

// With as many digits as NumPy's tables of single precision were written with.
Layers<float> rounded(const Layers<double>& l, int digits) {
  Layers<float> out;
  const auto written = [digits](double v) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, v);
    return std::strtof(text, nullptr);
  };
  for (std::size_t i = 0; i < out.density.size(); ++i) {
    out.density[i] = written(l.density[i]);
    out.width[i] = written(l.width[i]);
  }
  out.inside = l.inside;
  return out;
}

// NumPy's table of the normal density was computed in double precision, by an exponential that is
// the next number above in layer 38.
Layers<double> normal_layers_of(double unit, double rounding) {
  return layers(
      kNormalEnd, 0.0049286732339746519, unit, [](double x) { return std::exp(-0.5 * x * x); },
      [](double y) { return std::sqrt(-2 * std::log(y)); }, 38, rounding);
}

// That of the exponential density is exact: its numbers are rounded once.
#ifdef __SIZEOF_FLOAT128__
__extension__ using Precise = __float128;
#else
using Precise = long double;
#endif
Precise precise_exp(Precise x) {
  Precise term = 1, sum = 1;
  for (int i = 1; i < 20; ++i) sum += term *= x / 1024 / i;
  for (int i = 0; i < 10; ++i) sum *= sum;
  return sum;
}
Precise precise_log(Precise y) {
  Precise x = std::log(static_cast<double>(y));
  for (int i = 0; i < 2; ++i) {  // Halley's
    const Precise e = precise_exp(x);
    x += 2 * (y - e) / (y + e);
  }
  return x;
}
Layers<double> exponential_layers_of(double unit, double rounding) {
  // 7.697117470131049714044628048015..., where layers close.
  static const Precise end = Precise(kExponentialEnd) - Precise(3.6248703662405964e-16);
  return layers(
      end, (end + 1) * precise_exp(-end), Precise(unit), [](Precise x) { return precise_exp(-x); },
      [](Precise y) { return -precise_log(y); }, -1, Precise(rounding));
}

}  // namespace

const Layers<double>& normal_layers() {
  static const Layers<double> l = normal_layers_of(0x1p52, 0);
  return l;
}
const Layers<double>& exponential_layers() {
  static const Layers<double> l = exponential_layers_of(0x1p53, 0);
  return l;
}
const Layers<float>& normal_float_layers() {
  static const Layers<float> l = rounded(normal_layers_of(0x1p23, 0.5), 17);
  return l;
}
const Layers<float>& exponential_float_layers() {
  static const Layers<float> l = rounded(exponential_layers_of(0x1p23, 0.5), 9);
  return l;
}

RandomStream::RandomStream(const SeedSequence& seeds) {
  const std::vector<std::uint64_t> w = seeds.words(4);
  own_.generator = Pcg64::seeded(Wide{w[0]} << 64 | w[1], Wide{w[2]} << 64 | w[3]);
}

std::uint32_t RandomStream::half() {
  if (source_) return source_->next_uint32(source_->state);
  if (own_.has_half) {
    own_.has_half = false;
    return own_.half;
  }
  const std::uint64_t both = own_.generator.bits();
  own_.has_half = true;
  own_.half = static_cast<std::uint32_t>(both >> 32);
  return static_cast<std::uint32_t>(both);
}

double RandomStream::normal() { return numpy::normal(*this, normal_layers()); }
double RandomStream::exponential() { return numpy::exponential(*this, exponential_layers()); }
float RandomStream::normal_float() { return numpy::normal_float(*this, normal_float_layers()); }
float RandomStream::exponential_float() {
  return numpy::exponential_float(*this, exponential_float_layers());
}

std::uint64_t RandomStream::below_or_at(std::uint64_t most) {
  if (most == 0) return 0;
  if (most == UINT64_MAX) return bits();
  if (most == UINT32_MAX) return half();
  return most < UINT32_MAX ? below_or_at_by_halves(*this, most) : below_or_at_by_words(*this, most);
}

std::uint32_t NarrowIntegers::part() {
  if (left_ == 0) {
    word_ = stream_.half();
    left_ = 32 / bits_ - 1;
  } else {
    word_ >>= bits_;
    --left_;
  }
  return word_ & greatest_;
}

std::uint32_t NarrowIntegers::below_or_at(std::uint32_t most) {
  if (most == 0) return 0;
  if (most == greatest_) return part();
  const std::uint32_t count = most + 1;
  std::uint32_t product = part() * count;
  if ((product & greatest_) < count) {
    const std::uint32_t least = (greatest_ - most) % count;
    while ((product & greatest_) < least) product = part() * count;
  }
  return product >> bits_;
}

void RandomStream::shuffle(std::int64_t* values, std::int64_t n, std::int64_t first) {
  for (std::int64_t i = n - 1; i >= first; --i)
    std::swap(values[i], values[below_or_at(static_cast<std::uint64_t>(i))]);
}

std::uint64_t RandomStream::masked(std::uint64_t most) {
  std::uint64_t mask = most;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const std::uint64_t drawn = (most <= UINT32_MAX ? half() : bits()) & mask;
    if (drawn <= most) return drawn;
  }
}

std::vector<std::int64_t> RandomStream::sample(std::int64_t population, std::int64_t n) {
  constexpr std::int64_t kMany = 10000, kPart = 50;
  if (population > kMany && n > population / kPart) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(population));
    std::iota(all.begin(), all.end(), 0);
    shuffle(all.data(), population, std::max<std::int64_t>(population - n, 1));
    return {all.end() - n, all.end()};
  }
  // Floyd's: an index that was drawn already makes room for the last one.
  std::uint64_t mask = static_cast<std::uint64_t>(1.2 * static_cast<double>(n));
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  std::vector<std::int64_t> table(mask + 1, -1), drawn;
  const auto place = [&](std::int64_t value) {
    std::uint64_t at = static_cast<std::uint64_t>(value) & mask;
    while (table[at] != -1 && table[at] != value) at = (at + 1) & mask;
    return at;
  };
  for (std::int64_t last = population - n; last < population; ++last) {
    auto value = static_cast<std::int64_t>(below_or_at(static_cast<std::uint64_t>(last)));
    if (table[place(value)] != -1) value = last;
    table[place(value)] = value;
    drawn.push_back(value);
  }
  shuffle(drawn.data(), n);
  return drawn;
}

}  // namespace plait::numpy
