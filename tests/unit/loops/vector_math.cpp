// The functions against long double: at most 1 ULP, and the same bits in every CPU tier.
#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support.hpp"

using namespace loops_test;
namespace {
using Wide = long double;
struct Range {
  double low, high;
};
template <class T>
Wide ulp(Wide x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  using L = std::numeric_limits<T>;
  return std::ldexp(Wide(1), std::max(exponent, L::min_exponent) - L::digits);
}

// Uniform values, values over many magnitudes, and arbitrary bits.
template <class T>
std::vector<T> sample(Range r, std::mt19937_64& random, int n) {
  std::vector<T> v;
  std::uniform_real_distribution<double> unit(0, 1);
  const double top = std::max(std::abs(r.low), std::abs(r.high));
  while (static_cast<int>(v.size()) < n) {
    double x = r.low + (r.high - r.low) * unit(random);
    if (v.size() % 3 == 1) x = (random() & 1 ? -top : top) * std::exp2(-45 * unit(random));
    if (v.size() % 3 == 2) {
      const std::uint64_t bits = random();
      double y;
      std::memcpy(&y, &bits, 8);
      if (y >= r.low && y <= r.high) x = y;
    }
    if (x >= r.low && x <= r.high)
      v.push_back(static_cast<T>(x));
    else
      v.push_back(static_cast<T>(r.low + (r.high - r.low) * unit(random)));
  }
  return v;
}

template <class T, class F>
void measure(OpId op, int arity, Range r, Range r2, F reference) {
  std::mt19937_64 random(11);
  constexpr int n = 30011;  // not a multiple of any vector
  const auto a = sample<T>(r, random, n), b = sample<T>(r2, random, n);
  std::vector<T> first;
  for (CpuTier tier : tiers()) {
    const LoopFn fn = loops::elementwise(op, dtype<T>(), tier);
    const auto got = arity == 1 ? apply<T>(fn, a) : apply<T>(fn, a, b);
    if (first.empty()) first = got;
    INFO(op_info(op).name << (sizeof(T) == 4 ? " float32" : " float64") << " tier " << int(tier));
    CHECK(same_bits(first, got));
  }
  Wide worst = 0;
  T at = 0, at2 = 0;
  for (int i = 0; i < n; ++i) {
    const Wide want = reference(Wide(a[i]), Wide(b[i]));
    if (!std::isfinite(static_cast<T>(want))) continue;
    const Wide error = std::abs(first[i] - want) / ulp<T>(want);
    if (!(error <= worst)) {
      worst = error;
      at = a[i];
      at2 = b[i];
    }
  }
  INFO(op_info(op).name << (sizeof(T) == 4 ? " float32" : " float64") << " at " << at << ", "
                        << at2);
  CHECK(double(worst) <= 1.0);
}
template <class F>
void unary(OpId op, Range r, F f) {
  const auto reference = [f](Wide x, Wide) { return f(x); };
  measure<double>(op, 1, r, r, reference);
  measure<float>(op, 1, {std::max(r.low, -3e38), std::min(r.high, 3e38)}, {0, 1}, reference);
}
template <class F>
void binary(OpId op, Range r, Range r2, F f) {
  measure<double>(op, 2, r, r2, f);
  measure<float>(op, 2, r, r2, f);
}
}  // namespace

TEST_CASE("exponentials") {
  unary(OpId::Exp, {-745, 709.7}, [](Wide x) { return std::exp(x); });
  unary(OpId::Exp, {-87, 88}, [](Wide x) { return std::exp(x); });
  unary(OpId::Exp2, {-1074, 1024}, [](Wide x) { return std::exp2(x); });
  unary(OpId::Expm1, {-50, 709}, [](Wide x) { return std::expm1(x); });
  unary(OpId::Expm1, {-1, 1}, [](Wide x) { return std::expm1(x); });
  unary(OpId::Expm1, {-0.1, 0.1}, [](Wide x) { return std::expm1(x); });
}
TEST_CASE("logarithms") {
  for (Range r : {Range{0, 1e308}, Range{0.5, 2}, Range{0.95, 1.1}}) {
    unary(OpId::Log, r, [](Wide x) { return std::log(x); });
    unary(OpId::Log2, r, [](Wide x) { return std::log2(x); });
    unary(OpId::Log10, r, [](Wide x) { return std::log10(x); });
  }
  for (Range r : {Range{-1, 1e308}, Range{-1, 2}, Range{-0.05, 0.1}})
    unary(OpId::Log1p, r, [](Wide x) { return std::log1p(x); });
}
TEST_CASE("trigonometric functions") {
  for (Range r : {Range{-10, 10}, Range{-6e5, 6e5}}) {
    unary(OpId::Sin, r, [](Wide x) { return std::sin(x); });
    unary(OpId::Cos, r, [](Wide x) { return std::cos(x); });
    unary(OpId::Tan, r, [](Wide x) { return std::tan(x); });
  }
  unary(OpId::Arcsin, {-1, 1}, [](Wide x) { return std::asin(x); });
  unary(OpId::Arccos, {-1, 1}, [](Wide x) { return std::acos(x); });
  unary(OpId::Arctan, {-10, 10}, [](Wide x) { return std::atan(x); });
  unary(OpId::Arctan, {-1e300, 1e300}, [](Wide x) { return std::atan(x); });
  binary(OpId::Arctan2, {-10, 10}, {-10, 10}, [](Wide y, Wide x) { return std::atan2(y, x); });
  binary(OpId::Hypot, {-1e10, 1e10}, {-1e10, 1e10},
         [](Wide x, Wide y) { return std::hypot(x, y); });
}
TEST_CASE("next to the multiples of pi") {
  for (CpuTier tier : tiers()) {
    std::vector<double> x;
    for (int k = 1; k < 100000; k = k * 5 / 4 + 1) x.push_back(k * M_PI);
    const auto got = apply<double>(loops::elementwise(OpId::Sin, DType::Float64, tier), x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      INFO(x[i]);  // libm's double sin reduces exactly; long double's too
      CHECK(double(std::abs(got[i] - std::sin(Wide(x[i]))) / ulp<double>(got[i])) <= 1.0);
    }
  }
}
TEST_CASE("hyperbolic functions") {
  for (Range r : {Range{-710, 710}, Range{-3, 3}, Range{-0.1, 0.1}}) {
    unary(OpId::Sinh, r, [](Wide x) { return std::sinh(x); });
    unary(OpId::Cosh, r, [](Wide x) { return std::cosh(x); });
    unary(OpId::Tanh, r, [](Wide x) { return std::tanh(x); });
  }
  for (double top : {10.0, 1e300}) {
    unary(OpId::Arcsinh, {-top, top}, [](Wide x) { return std::asinh(x); });
    unary(OpId::Arccosh, {1, top}, [](Wide x) { return std::acosh(x); });
  }
  unary(OpId::Arctanh, {-1, 1}, [](Wide x) { return std::atanh(x); });
}
TEST_CASE("powers and roots") {
  unary(OpId::Cbrt, {-1e308, 1e308}, [](Wide x) { return std::cbrt(x); });
  binary(OpId::Power, {0, 1e3}, {-30, 30}, [](Wide x, Wide y) { return std::pow(x, y); });
  binary(OpId::Power, {0.9, 1.1}, {-7000, 7000}, [](Wide x, Wide y) { return std::pow(x, y); });
  // Integers, cubes and fourth powers above all: of negative numbers, too, and whatever stands
  // beside them.
  for (double e : {2.0, 3.0, 4.0, 5.0, -3.0}) {
    binary(OpId::Power, {-1e4, 1e4}, {e, e}, [](Wide x, Wide y) { return std::pow(x, y); });
    for (CpuTier tier : tiers()) {
      const LoopFn fn = loops::elementwise(OpId::Power, DType::Float64, tier);
      const std::vector<double> x{1.7,    -2.3,   0.0,  -0.0, 5e-324, 1e300,
                                  -1e300, 1e-300, -1.0, 9.1,  3};
      const auto alone = apply<double>(fn, x, std::vector<double>(x.size(), e));
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<double> mixed(x.size(), 2.5);
        mixed[i] = e;
        CHECK(same_bits<double>({apply<double>(fn, x, mixed)[i]}, {alone[i]}));
      }
    }
  }
}
// Where the terms do not cancel: next to 0 the sum has an absolute and no relative precision.
TEST_CASE("sums of exponentials") {
  binary(OpId::Logaddexp, {0, 50}, {-50, 50},
         [](Wide x, Wide y) { return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y))); });
  binary(OpId::Logaddexp2, {0, 50}, {-50, 50}, [](Wide x, Wide y) {
    return std::max(x, y) + std::log1p(std::exp2(-std::abs(x - y))) / std::log(Wide(2));
  });
}
// What is computed in float32 itself, over all of its numbers: precision, signs of zero, NaN, and
// flags, of which there are no others than those of the results.
TEST_CASE("float32 over all magnitudes") {
  constexpr unsigned flags = FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO | FE_UNDERFLOW;
  const auto check = [&](OpId op, double (*reference)(double)) {
    std::vector<float> x, want;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 40961) {
      const auto word = static_cast<std::uint32_t>(bits);
      float value;
      std::memcpy(&value, &word, 4);
      x.push_back(value);
    }
    for (CpuTier tier : tiers()) {
      const LoopFn fn = loops::elementwise(op, DType::Float32, tier);
      double worst = 0;
      float at = 0;
      int wrong = 0, raised = 0;
      constexpr std::size_t step = 64;
      for (std::size_t i = 0; i < x.size(); i += step) {
        const std::vector<float> some(x.begin() + i, x.begin() + std::min(i + step, x.size()));
        std::feclearexcept(FE_ALL_EXCEPT);
        const auto got = apply<float>(fn, some);
        const int got_flags = std::fetestexcept(flags);
        std::feclearexcept(FE_ALL_EXCEPT);
        std::vector<double> exact;
        for (float v : some) {
          exact.push_back(reference(v));
          volatile auto rounded = static_cast<float>(exact.back());  // and its flags
          (void)rounded;
        }
        raised += (got_flags & ~std::fetestexcept(flags)) != 0;
        for (std::size_t k = 0; k < some.size(); ++k) {
          const double e = exact[k];
          const auto nearest = static_cast<float>(e);
          if (std::isnan(e) || std::isinf(nearest) || nearest == 0) {
            wrong += !(got[k] == nearest || (std::isnan(got[k]) && std::isnan(e)) ||
                       std::abs(e) < 2 * std::numeric_limits<float>::denorm_min()) ||
                     (!std::isnan(e) && std::signbit(got[k]) != std::signbit(nearest));
            continue;
          }
          const auto error = double(std::abs(Wide(got[k]) - e) / ulp<float>(e));
          if (!(error <= worst)) worst = error, at = some[k];
        }
      }
      INFO(op_info(op).name << " tier " << int(tier) << " at " << at);
      CHECK(worst <= 1.0);
      CHECK(wrong == 0);
      CHECK(raised == 0);
    }
  };
  check(OpId::Exp, std::exp);
  check(OpId::Exp2, std::exp2);
  check(OpId::Expm1, std::expm1);
  check(OpId::Log, std::log);
  check(OpId::Log2, std::log2);
  check(OpId::Log10, std::log10);
  check(OpId::Log1p, std::log1p);
  check(OpId::Sin, std::sin);
  check(OpId::Cos, std::cos);
  check(OpId::Tan, std::tan);
  check(OpId::Arcsin, std::asin);
  check(OpId::Arccos, std::acos);
  check(OpId::Arctan, std::atan);
  check(OpId::Tanh, std::tanh);
}
TEST_CASE("the place in the array does not show") {
  for (CpuTier tier : tiers())
    for (OpId op : {OpId::Exp, OpId::Log, OpId::Sin, OpId::Tanh}) {
      const LoopFn fn = loops::elementwise(op, DType::Float32, tier);
      std::vector<float> x(67);
      for (int i = 0; i < 67; ++i) x[i] = 0.1f + 0.37f * i;
      const auto whole = apply<float>(fn, x);
      for (int i = 0; i < 67; ++i) CHECK(apply<float>(fn, std::vector<float>{x[i]})[0] == whole[i]);
    }
}

// NumPy's formula, rounded after each step.
template <class T>
void check_modulus() {
  constexpr T inf = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max();
  std::vector<T> parts{0,
                       T(-0.0),
                       1,
                       -1,
                       inf,
                       -inf,
                       T(kNan),
                       most,
                       most / 2,
                       3,
                       T(1e-3),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::denorm_min()};
  std::mt19937_64 random(3);
  while (parts.size() < 40) parts.push_back(T(std::ldexp(double(random()), -int(random() % 130))));
  std::vector<T> z, want;
  for (T re : parts)
    for (T im : parts) {
      z.insert(z.end(), {re, im});
      const T a = std::abs(re), b = std::abs(im), larger = std::max(a, b), less = std::min(a, b);
      const T ratio = larger == 0 ? 0 : less / larger;
      T size = std::sqrt(std::fma(ratio, ratio, T(1))) * larger;
      if (std::isnan(a) || std::isnan(b)) size = T(kNan);
      if (a == inf || b == inf) size = inf;
      want.push_back(size);
    }
  for (CpuTier tier : tiers())
    for (std::int64_t apart : {1, 3}) {
      std::vector<T> got(want.size() * std::size_t(apart));
      void* args[] = {z.data(), got.data()};
      const std::int64_t strides[] = {2 * sizeof(T), std::int64_t(sizeof(T)) * apart};
      std::feclearexcept(FE_ALL_EXCEPT);
      loops::elementwise(OpId::Absolute, sizeof(T) == 4 ? DType::Complex64 : DType::Complex128,
                         tier)(args, strides, std::int64_t(want.size()));
      CHECK(std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO) == 0);
      int wrong = 0;
      for (std::size_t i = 0; i < want.size(); ++i) {
        const T x = got[i * std::size_t(apart)];
        wrong += !(x == want[i] || (std::isnan(x) && std::isnan(want[i])));
      }
      CHECK(wrong == 0);
    }
}
TEST_CASE("absolute values of complex numbers") {
  check_modulus<float>();
  check_modulus<double>();
}
