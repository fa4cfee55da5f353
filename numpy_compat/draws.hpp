// What numbers are made of bits: from any source with bits(), of 64, half(), of 32, uniform() and
// uniform_float(), inlined into the loops that draw many. Sources: Marsaglia and Tsang, "The
// ziggurat method" (2000); Lemire, "Fast random integer generation in an interval" (2019).
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "pcg64.hpp"

namespace plait::numpy {

// Layers of equal area under a density that falls: its value at their right ends, their widths in
// units of the integer that is drawn, and the integers that are inside without a look.
constexpr int kLayers = 256;
template <class T>
struct Layers {
  std::array<T, kLayers> density, width;
  std::array<std::uint64_t, kLayers> inside;
};
const Layers<double>& normal_layers();
const Layers<double>& exponential_layers();
const Layers<float>& normal_float_layers();
const Layers<float>& exponential_float_layers();
constexpr double kNormalEnd = 3.6541528853610088, kInverseNormalEnd = 0.27366123732975828;
constexpr double kExponentialEnd = 7.69711747013104972;

inline double uniform_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
inline float uniform_float_of(std::uint32_t half) {
  return static_cast<float>(half >> 8) * 0x1p-24F;
}

// What the first look does not accept: in the tail, or above the density.
template <class T, class S, class Uniform>
bool normal_beyond(const Layers<T>& l, std::size_t i, std::uint64_t distance, T& x, S& s,
                   Uniform uniform) {
  if (i == 0) {
    for (;;) {
      const T beyond = -static_cast<T>(kInverseNormalEnd) * std::log1p(-uniform(s));
      const T height = -std::log1p(-uniform(s));
      if (height + height > beyond * beyond) {
        x = static_cast<T>(kNormalEnd) + beyond;
        if (distance >> 8 & 1) x = -x;
        return true;
      }
    }
  }
  const T low = l.density[i], high = l.density[i - 1];
  const T height = (high - low) * uniform(s) + low;
  return static_cast<double>(height) <
         std::exp(-0.5 * static_cast<double>(x) * static_cast<double>(x));
}

template <class S>
double normal(S& s, const Layers<double>& l) {
  for (;;) {
    const std::uint64_t drawn = s.bits();
    const auto i = static_cast<std::size_t>(drawn & 0xff);
    const std::uint64_t distance = drawn >> 9 & 0xfffffffffffff;
    double x = static_cast<double>(static_cast<std::int64_t>(distance)) * l.width[i];
    // No branch, which would go wrong every other time.
    x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) | (drawn & 0x100) << 55);
    if (distance < l.inside[i]) [[likely]]
      return x;
    if (normal_beyond(l, i, distance, x, s, [](S& source) { return source.uniform(); })) return x;
  }
}
template <class S>
float normal_float(S& s, const Layers<float>& l) {
  for (;;) {
    const std::uint32_t drawn = s.half(), distance = drawn >> 9;
    const std::size_t i = drawn & 0xff;
    float x = static_cast<float>(static_cast<std::int32_t>(distance)) * l.width[i];
    x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) | (drawn & 0x100) << 23);
    if (distance < l.inside[i]) [[likely]]
      return x;
    if (normal_beyond(l, i, distance, x, s, [](S& source) { return source.uniform_float(); }))
      return x;
  }
}

template <class S>
double exponential(S& s, const Layers<double>& l) {
  for (;;) {
    const std::uint64_t drawn = s.bits() >> 3, distance = drawn >> 8;
    const auto i = static_cast<std::size_t>(drawn & 0xff);
    const double x = static_cast<double>(static_cast<std::int64_t>(distance)) * l.width[i];
    if (distance < l.inside[i]) [[likely]]
      return x;
    if (i == 0) return kExponentialEnd - std::log1p(-s.uniform());
    if ((l.density[i - 1] - l.density[i]) * s.uniform() + l.density[i] < std::exp(-x)) return x;
  }
}
template <class S>
float exponential_float(S& s, const Layers<float>& l) {
  for (;;) {
    const std::uint32_t drawn = s.half() >> 1, distance = drawn >> 8;
    const std::size_t i = drawn & 0xff;
    const float x = static_cast<float>(static_cast<std::int32_t>(distance)) * l.width[i];
    if (distance < l.inside[i]) [[likely]]
      return x;
    if (i == 0) return static_cast<float>(kExponentialEnd) - std::log1p(-s.uniform_float());
    const float low = l.density[i], high = l.density[i - 1];
    if ((high - low) * s.uniform_float() + low < std::exp(-x)) return x;
  }
}

// In [0, most], which is below 2^32 - 1.
template <class S>
std::uint64_t below_or_at_by_halves(S& s, std::uint64_t most) {
  const std::uint64_t count = most + 1;
  std::uint64_t product = s.half() * count;
  if (static_cast<std::uint32_t>(product) < count) [[unlikely]] {
    const std::uint64_t least = (UINT32_MAX - most) % count;
    while (static_cast<std::uint32_t>(product) < least) product = s.half() * count;
  }
  return product >> 32;
}
// In [0, most], which is below 2^64 - 1.
template <class S>
std::uint64_t below_or_at_by_words(S& s, std::uint64_t most) {
  const std::uint64_t count = most + 1;
  Wide product = Wide{s.bits()} * count;
  if (static_cast<std::uint64_t>(product) < count) [[unlikely]] {
    const std::uint64_t least = (UINT64_MAX - most) % count;
    while (static_cast<std::uint64_t>(product) < least) product = Wide{s.bits()} * count;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace plait::numpy
