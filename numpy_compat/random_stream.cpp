#include "random_stream.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace plait::numpy {
namespace {

using Wide = unsigned __int128;

// numpy.random.SeedSequence of one integer: `n` words of 32 bits.
class SeedWords {
 public:
  explicit SeedWords(std::uint64_t seed) {
    const std::array<std::uint32_t, 2> entropy = {static_cast<std::uint32_t>(seed),
                                                  static_cast<std::uint32_t>(seed >> 32)};
    std::uint32_t factor = 0x43b0d7e5;
    const auto hashed = [&factor](std::uint32_t v) {
      v ^= factor;
      factor *= 0x931e8875;
      v *= factor;
      return v ^ (v >> 16);
    };
    for (std::size_t i = 0; i < pool_.size(); ++i) pool_[i] = hashed(i < 2 ? entropy[i] : 0);
    for (std::size_t from = 0; from < pool_.size(); ++from)
      for (std::size_t to = 0; to < pool_.size(); ++to) {
        if (from == to) continue;
        const std::uint32_t v = 0xca01f9dd * pool_[to] - 0x4973f715 * hashed(pool_[from]);
        pool_[to] = v ^ (v >> 16);
      }
  }
  std::uint32_t next() {
    std::uint32_t v = pool_[at_++ % pool_.size()] ^ factor_;
    factor_ *= 0x58f38ded;
    v *= factor_;
    return v ^ (v >> 16);
  }
  std::uint64_t next64() {
    const std::uint64_t low = next();
    return low | std::uint64_t{next()} << 32;
  }

 private:
  std::array<std::uint32_t, 4> pool_{};
  std::size_t at_ = 0;
  std::uint32_t factor_ = 0x8b51f9dd;
};

// Layers of equal area under a density that falls: its value at their right ends, their widths in
// units of the integer that is drawn, and the integers that are inside without a look.
constexpr int kLayers = 256;
struct Layers {
  std::array<double, kLayers> density, width;
  std::array<std::uint64_t, kLayers> inside;
};
template <class R, class Density, class Inverse>
Layers layers(R end, R area, R unit, Density f, Inverse inverse, int raised, R rounding = 0) {
  Layers l;
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

struct FloatLayers {
  // With as many digits as NumPy's tables were written with.
  FloatLayers(const Layers& l, int digits) : inside(l.inside) {
    const auto written = [digits](double v) {
      char text[40];
      std::snprintf(text, sizeof text, "%.*e", digits - 1, v);
      return std::strtof(text, nullptr);
    };
    for (std::size_t i = 0; i < density.size(); ++i) {
      density[i] = written(l.density[i]);
      width[i] = written(l.width[i]);
    }
  }
  std::array<float, kLayers> density, width;
  std::array<std::uint64_t, kLayers> inside;
};

// NumPy's table of the normal density was computed in double precision, by an exponential that is
// the next number above in layer 38.
constexpr double kNormalEnd = 3.6541528853610088;
Layers normal_layers_of(double unit, double rounding) {
  return layers(
      kNormalEnd, 0.0049286732339746519, unit, [](double x) { return std::exp(-0.5 * x * x); },
      [](double y) { return std::sqrt(-2 * std::log(y)); }, 38, rounding);
}
const Layers& normal_layers() {
  static const Layers l = normal_layers_of(0x1p52, 0);
  return l;
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
constexpr double kExponentialEnd = 7.69711747013104972;
Layers exponential_layers_of(double unit, double rounding) {
  // 7.697117470131049714044628048015..., where layers close.
  static const Precise end = Precise(kExponentialEnd) - Precise(3.6248703662405964e-16);
  return layers(
      end, (end + 1) * precise_exp(-end), Precise(unit), [](Precise x) { return precise_exp(-x); },
      [](Precise y) { return -precise_log(y); }, -1, Precise(rounding));
}
const Layers& exponential_layers() {
  static const Layers l = exponential_layers_of(0x1p53, 0);
  return l;
}

}  // namespace

RandomStream::RandomStream(std::uint64_t seed) {
  SeedWords words(seed);
  const auto wide = [&words] {
    const std::uint64_t high = words.next64();
    return Wide{high} << 64 | words.next64();
  };
  const Wide start = wide();
  increment_ = wide() << 1 | 1;
  step();
  state_ += start;
  step();
}

void RandomStream::step() {
  constexpr Wide kFactor = Wide{2549297995355413924U} << 64 | 4865540595714422341U;
  state_ = state_ * kFactor + increment_;
}

std::uint64_t RandomStream::bits() {
  if (source_) return source_->next_uint64(source_->state);
  step();
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  const auto turn = static_cast<unsigned>(state_ >> 122);
  return folded >> turn | folded << (-turn & 63);
}
std::uint32_t RandomStream::half() {
  if (source_) return source_->next_uint32(source_->state);
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const std::uint64_t both = bits();
  has_half_ = true;
  half_ = static_cast<std::uint32_t>(both >> 32);
  return static_cast<std::uint32_t>(both);
}

double RandomStream::uniform() {
  if (source_) return source_->next_double(source_->state);
  return static_cast<double>(bits() >> 11) * 0x1p-53;
}

double RandomStream::normal() {
  const Layers& l = normal_layers();
  constexpr double end = kNormalEnd, inverse_end = 0.27366123732975828;

  for (;;) {
    const std::uint64_t drawn = bits(), rest = drawn >> 8;
    const auto i = static_cast<std::size_t>(drawn & 0xff);
    const std::uint64_t distance = (rest >> 1) & 0xfffffffffffff;
    double x = static_cast<double>(distance) * l.width[i];
    if (rest & 1) x = -x;
    if (distance < l.inside[i]) return x;
    if (i == 0) {
      for (;;) {
        const double beyond = -inverse_end * std::log1p(-uniform());
        const double height = -std::log1p(-uniform());
        if (height + height > beyond * beyond)
          return (distance >> 8) & 1 ? -(end + beyond) : end + beyond;
      }
    }
    if ((l.density[i - 1] - l.density[i]) * uniform() + l.density[i] < std::exp(-0.5 * x * x))
      return x;
  }
}

double RandomStream::exponential() {
  const Layers& l = exponential_layers();
  for (;;) {
    const std::uint64_t drawn = bits() >> 3;
    const auto i = static_cast<std::size_t>(drawn & 0xff);
    const std::uint64_t distance = drawn >> 8;
    const double x = static_cast<double>(distance) * l.width[i];
    if (distance < l.inside[i]) return x;
    if (i == 0) return kExponentialEnd - std::log1p(-uniform());
    if ((l.density[i - 1] - l.density[i]) * uniform() + l.density[i] < std::exp(-x)) return x;
  }
}

float RandomStream::normal_float() {
  static const FloatLayers l(normal_layers_of(0x1p23, 0.5), 17);
  constexpr auto end = static_cast<float>(kNormalEnd), inverse_end = 0.27366123732975828F;

  for (;;) {
    const std::uint32_t drawn = half(), distance = drawn >> 9;
    const std::size_t i = drawn & 0xff;
    float x = static_cast<float>(distance) * l.width[i];
    if (drawn >> 8 & 1) x = -x;
    if (distance < l.inside[i]) return x;
    if (i == 0) {
      for (;;) {
        const float beyond = -inverse_end * std::log1p(-uniform_float());
        const float height = -std::log1p(-uniform_float());
        if (height + height > beyond * beyond)
          return (distance >> 8) & 1 ? -(end + beyond) : end + beyond;
      }
    }
    const float low = l.density[i], high = l.density[i - 1];
    const float height = (high - low) * uniform_float() + low;
    if (height < std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x))) return x;
  }
}

float RandomStream::exponential_float() {
  static const FloatLayers l(exponential_layers_of(0x1p23, 0.5), 9);
  for (;;) {
    const std::uint32_t drawn = half() >> 1, distance = drawn >> 8;
    const std::size_t i = drawn & 0xff;
    const float x = static_cast<float>(distance) * l.width[i];
    if (distance < l.inside[i]) return x;
    if (i == 0) return static_cast<float>(kExponentialEnd) - std::log1p(-uniform_float());
    const float low = l.density[i], high = l.density[i - 1];
    if ((high - low) * uniform_float() + low < std::exp(-x)) return x;
  }
}

std::uint64_t RandomStream::below_or_at(std::uint64_t most) {
  if (most == 0) return 0;
  if (most == UINT64_MAX) return bits();
  if (most == UINT32_MAX) return half();
  const std::uint64_t count = most + 1;
  if (most < UINT32_MAX) {
    std::uint64_t product = half() * count;
    if (static_cast<std::uint32_t>(product) < count) {
      const std::uint64_t least = (UINT32_MAX - most) % count;
      while (static_cast<std::uint32_t>(product) < least) product = half() * count;
    }
    return product >> 32;
  }
  Wide product = Wide{bits()} * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t least = (UINT64_MAX - most) % count;
    while (static_cast<std::uint64_t>(product) < least) product = Wide{bits()} * count;
  }
  return static_cast<std::uint64_t>(product >> 64);
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

std::uint32_t NarrowIntegers::next() {
  if (most_ == 0) return 0;
  if (most_ == greatest_) return part();
  const std::uint32_t count = most_ + 1;
  std::uint32_t product = part() * count;
  if ((product & greatest_) < count) {
    const std::uint32_t least = (greatest_ - most_) % count;
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
