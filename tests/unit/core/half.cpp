#include "core/half.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace plait;

namespace {

// From the definition of binary16, in exact arithmetic.
double value(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const double mantissa = h & 1023;
  const double magnitude =
      exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}
bool is_nan(std::uint16_t h) { return (h & 0x7c00) == 0x7c00 && (h & 0x3ff); }
bool is_infinite(std::uint16_t h) { return (h & 0x7fff) == 0x7c00; }

}  // namespace

TEST_CASE("all 65536 halves widen exactly and come back") {
  int wrong = 0;
  for (int i = 0; i < 65536; ++i) {
    const auto h = static_cast<std::uint16_t>(i);
    const float f = half_to_float(h);
    if (is_nan(h))
      wrong += !std::isnan(f);
    else if (is_infinite(h))
      wrong += !std::isinf(f) || std::signbit(f) != (h >> 15);
    else
      wrong += f != value(h) || std::signbit(f) != (h >> 15);
    wrong += float_to_half(f) != h;
    // The CPU's float-to-double conversion makes a signalling NaN quiet.
    const int quiet = is_nan(h) ? 0x200 : 0;
    wrong += double_to_half(half_to_double(h)) != (h | quiet);
  }
  CHECK(wrong == 0);
}

TEST_CASE("values between two halves round to the nearer, ties to even") {
  int wrong = 0;
  for (int i = 0; i < 0x7bff; ++i) {
    const auto lo = static_cast<std::uint16_t>(i), hi = static_cast<std::uint16_t>(i + 1);
    const double middle = (value(lo) + value(hi)) / 2;
    const double below = std::nextafter(middle, 0.0), above = std::nextafter(middle, 1e9);
    wrong += double_to_half(middle) != (i % 2 ? hi : lo);
    wrong += double_to_half(below) != lo;
    wrong += double_to_half(above) != hi;
    const auto m = static_cast<float>(middle);  // exact: 12 bits
    wrong += float_to_half(m) != (i % 2 ? hi : lo);
    wrong += float_to_half(std::nextafter(m, 0.0f)) != lo;
    wrong += float_to_half(std::nextafter(m, 1e9f)) != hi;
    wrong += float_to_half(-m) != ((i % 2 ? hi : lo) | 0x8000);
  }
  CHECK(wrong == 0);
}

TEST_CASE("the ends of the range") {
  CHECK(double_to_half(65519.99) == 0x7bff);
  CHECK(double_to_half(65520.0) == 0x7c00);
  CHECK(float_to_half(1e30f) == 0x7c00);
  CHECK(float_to_half(-std::numeric_limits<float>::infinity()) == 0xfc00);
  CHECK(float_to_half(0x1p-25f) == 0);
  CHECK(float_to_half(0x1.8p-25f) == 1);
  CHECK(float_to_half(0x1p-26f) == 0);
  CHECK(double_to_half(-0.0) == 0x8000);
  CHECK(double_to_half(5e-324) == 0);
  CHECK(is_nan(float_to_half(std::numeric_limits<float>::quiet_NaN())));
}
