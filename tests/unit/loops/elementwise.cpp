// Values and flags of elementwise loops, at the places where NumPy's rules are not C's.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "support.hpp"

using namespace loops_test;
namespace {
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
template <class T, class R = T>
void check_binary(OpId op, std::vector<T> a, std::vector<T> b, std::vector<R> want,
                  int want_flags = 0) {
  for (CpuTier tier : tiers()) {
    int flags = 0;
    const auto got = apply<R>(loops::elementwise(op, dtype<T>(), tier), a, b, &flags);
    for (std::size_t i = 0; i < want.size(); ++i) {
      INFO(op_info(op).name << " tier " << int(tier) << " of " << +a[i] << ", " << +b[i] << " gave "
                            << +got[i]);
      CHECK(same(double(got[i]), double(want[i])));
    }
    CHECK(flags == want_flags);
  }
}
template <class T, class R = T>
void check_unary(OpId op, std::vector<T> a, std::vector<R> want, int want_flags = 0) {
  for (CpuTier tier : tiers()) {
    int flags = 0;
    const auto got = apply<R>(loops::elementwise(op, dtype<T>(), tier), a, &flags);
    for (std::size_t i = 0; i < want.size(); ++i) {
      INFO(op_info(op).name << " tier " << int(tier) << " of " << +a[i] << " gave " << +got[i]);
      CHECK(same(double(got[i]), double(want[i])));
    }
    CHECK(flags == want_flags);
  }
}
}  // namespace

TEST_CASE("every row of the table has its loops") {
  for (CpuTier tier : tiers())
    for (int op = 0; op < kOpCount; ++op)
      for (char c : op_info(static_cast<OpId>(op)).loops) {
        INFO(op_info(static_cast<OpId>(op)).name << ' ' << c);
        CHECK(loops::elementwise(static_cast<OpId>(op), from_code(c), tier) != nullptr);
      }
  CHECK(loops::elementwise(OpId::Subtract, DType::Bool, CpuTier::Baseline) == nullptr);
}

TEST_CASE("integer division") {
  using I = std::int32_t;
  const I low = std::numeric_limits<I>::min();
  check_binary<I>(OpId::FloorDivide, {7, -7, 7, -7, 6}, {2, 2, -2, -2, -3}, {3, -4, -4, 3, -2});
  check_binary<I>(OpId::Remainder, {7, -7, 7, -7, low}, {2, 2, -2, -2, -1}, {1, 1, -1, -1, 0});
  check_binary<I>(OpId::Fmod, {7, -7, 7, -7, low}, {2, 2, -2, -2, -1}, {1, -1, 1, -1, 0});
  check_binary<I>(OpId::FloorDivide, {5, -5}, {0, 0}, {0, 0}, FE_DIVBYZERO);
  check_binary<I>(OpId::FloorDivide, {low}, {-1}, {low}, FE_OVERFLOW);
  check_binary<I>(OpId::Remainder, {5}, {0}, {0}, FE_DIVBYZERO);
  check_binary<std::int8_t>(OpId::FloorDivide, {-128}, {-1}, {-128}, FE_OVERFLOW);
  check_binary<std::uint8_t>(OpId::FloorDivide, {255}, {2}, {127});
  check_binary<std::int64_t, double>(OpId::Divide, {1, -1}, {2, 0}, {0.5, -kInf}, FE_DIVBYZERO);
}

TEST_CASE("integer arithmetic wraps") {
  check_binary<std::uint16_t>(OpId::Multiply, {65535}, {65535}, {1});
  check_binary<std::int8_t>(OpId::Add, {127}, {1}, {-128});
  check_binary<std::int8_t>(OpId::Power, {2, -1, 3}, {7, 3, 0}, {-128, -1, 1});
  check_unary<std::int8_t, std::int8_t>(OpId::Absolute, {-128, -3}, {-128, 3});
  check_binary<std::int8_t>(OpId::LeftShift, {1, 1, 1}, {7, 8, -1}, {-128, 0, 0});
  check_binary<std::int8_t>(OpId::RightShift, {-8, -8, 8}, {1, 9, 9}, {-4, -1, 0});
  check_binary<std::int8_t>(OpId::Gcd, {-4, -128, 0}, {6, -128, 5}, {2, -128, 5});
  check_binary<std::int8_t>(OpId::Lcm, {-4, 0}, {6, 5}, {12, 0});
  check_unary<std::int32_t, std::uint8_t>(OpId::BitwiseCount, {-7, 255}, {3, 8});
}

TEST_CASE("float division") {
  check_binary<double>(OpId::Divide, {1, -1}, {0, 0}, {kInf, -kInf}, FE_DIVBYZERO);
  check_binary<double>(OpId::Divide, {0}, {0}, {kNan}, FE_INVALID);
  check_binary<double>(OpId::FloorDivide, {7, -7, 7, 1, -0.5}, {2, 2, -2, kInf, 1},
                       {3, -4, -4, 0, -1});
  check_binary<double>(OpId::FloorDivide, {1}, {0}, {kInf}, FE_DIVBYZERO);
  check_binary<double>(OpId::Remainder, {7, -7, 7, -7, -1}, {2, 2, -2, -2, kInf},
                       {1, 1, -1, -1, kInf});
  check_binary<double>(OpId::Remainder, {1}, {0}, {kNan}, FE_INVALID);
  check_binary<double>(OpId::Fmod, {7, -7}, {-2, 2}, {1, -1});
}

TEST_CASE("extrema and comparisons are quiet about NaN") {
  check_binary<double>(OpId::Maximum, {1, kNan, 1}, {kNan, 1, 2}, {kNan, kNan, 2});
  check_binary<double>(OpId::Fmax, {1, kNan, 1}, {kNan, 1, 2}, {1, 1, 2});
  check_binary<double>(OpId::Fmin, {1, kNan, kNan}, {kNan, 1, kNan}, {1, 1, kNan});
  std::vector<double> nans(40, kNan), ones(40, 1.0);
  check_binary<double, std::uint8_t>(OpId::Less, nans, ones, std::vector<std::uint8_t>(40, 0));
  check_binary<double, std::uint8_t>(OpId::NotEqual, nans, ones, std::vector<std::uint8_t>(40, 1));
  check_unary<double, double>(OpId::Sign, {-2, 0, 3, kNan}, {-1, 0, 1, kNan});
  check_binary<double>(OpId::Heaviside, {kNan, 0, -1, 1}, {0.5, 0.5, 0.5, 0.5}, {kNan, 0.5, 0, 1});
}

TEST_CASE("special values and flags of the functions") {
  check_unary<double, double>(OpId::Exp, {-kInf, kInf, 0, -800}, {0, kInf, 1, 0});
  check_unary<double, double>(OpId::Exp, {1000}, {kInf}, FE_OVERFLOW);
  check_unary<float, float>(OpId::Exp, {100}, {float(kInf)}, FE_OVERFLOW);
  check_unary<double, double>(OpId::Log, {0}, {-kInf}, FE_DIVBYZERO);
  check_unary<double, double>(OpId::Log, {-1}, {kNan}, FE_INVALID);
  check_unary<double, double>(OpId::Log, {kInf, 1, kNan}, {kInf, 0, kNan});
  check_unary<double, double>(OpId::Log1p, {-1}, {-kInf}, FE_DIVBYZERO);
  check_unary<double, double>(OpId::Log1p, {-0.0, 0x1p-60}, {-0.0, 0x1p-60});
  check_unary<double, double>(OpId::Sqrt, {-1}, {kNan}, FE_INVALID);
  check_unary<double, double>(OpId::Sin, {kInf}, {kNan}, FE_INVALID);
  check_unary<double, double>(OpId::Sin, {-0.0, kNan}, {-0.0, kNan});
  check_unary<double, double>(OpId::Tanh, {kInf, -kInf, 1e308, -0.0}, {1, -1, 1, -0.0});
  check_unary<double, double>(OpId::Arctanh, {1}, {kInf}, FE_DIVBYZERO);
  check_unary<double, double>(OpId::Arccosh, {0.5}, {kNan}, FE_INVALID);
  check_unary<double, double>(OpId::Arcsin, {2}, {kNan}, FE_INVALID);
  check_unary<double, double>(OpId::Erf, {-0.0, kInf, -kInf, 0.5}, {-0.0, 1, -1, std::erf(0.5)});
  check_unary<double, double>(OpId::Erfc, {kInf, -kInf, 0, 0.5}, {0, 2, 1, std::erfc(0.5)});
  check_unary<double, double>(OpId::Cbrt, {-27, 0, -kInf, 1e-320},
                              {-3, 0, -kInf, std::cbrt(1e-320)});
  check_binary<double>(OpId::Power, {0}, {-1}, {kInf}, FE_DIVBYZERO);
  check_binary<double>(OpId::Power, {-8, -2, kNan, 1, -1}, {3, -2, 0, kNan, kInf},
                       {-512, .25, 1, 1, 1});
  check_binary<double>(OpId::Power, {-8}, {0.5}, {kNan}, FE_INVALID);
  check_binary<double>(OpId::Power, {10}, {400}, {kInf}, FE_OVERFLOW);
  check_binary<double>(OpId::Hypot, {3, kInf, 1e300, 0}, {4, kNan, 1e300, 0},
                       {5, kInf, std::hypot(1e300, 1e300), 0});
  check_binary<double>(OpId::Arctan2, {0, -0.0, 0}, {-1, -1, 0}, {M_PI, -M_PI, 0});
  check_binary<double>(OpId::Logaddexp, {-kInf, kInf, 0}, {-kInf, kInf, 0}, {-kInf, kInf, M_LN2});
  check_unary<double, double>(OpId::Spacing, {1, -1, kInf}, {0x1p-52, -0x1p-52, kNan});
}

TEST_CASE("every stride, in place, the same bits") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> value(0.25, 3.0);
  for (CpuTier tier : tiers())
    for (OpId op : {OpId::Add, OpId::Divide, OpId::Power, OpId::Maximum, OpId::Hypot})
      for (std::int64_t n : {0, 1, 7, 8, 9, 33}) {
        std::vector<double> a(n + 1), b(n + 1), wide(3 * n + 1);
        a.resize(n);
        b.resize(n);
        for (auto& x : a) x = value(random);
        for (auto& x : b) x = value(random);
        const LoopFn fn = loops::elementwise(op, DType::Float64, tier);
        const auto want = apply<double>(fn, a, b);
        std::vector<double> reversed(b.rbegin(), b.rend());
        reversed.reserve(1);
        void* args[] = {a.data(), reversed.data() + std::max<std::int64_t>(n - 1, 0), wide.data()};
        const std::int64_t strides[] = {8, -8, 24};
        fn(args, strides, n);
        for (std::int64_t i = 0; i < n; ++i) CHECK(wide[3 * i] == want[i]);
        auto copy = a;
        void* in_place[] = {copy.data(), b.data(), copy.data()};
        const std::int64_t dense[] = {8, 8, 8};
        fn(in_place, dense, n);
        CHECK(same_bits(copy, want));
        if (n == 0) continue;
        const auto same_b = apply<double>(fn, a, std::vector<double>(n, b[0]));
        std::vector<double> broadcast(n);
        void* scalar_args[] = {a.data(), b.data(), broadcast.data()};
        const std::int64_t scalar[] = {8, 0, 8};
        fn(scalar_args, scalar, n);
        CHECK(same_bits(broadcast, same_b));
      }
}

namespace {
// Elements of one operand, `stride` apart, of which some are in front of the first.
struct Operand {
  Operand(DType t, std::int64_t stride_, std::int64_t n, const std::vector<double>& values)
      : stride(stride_ * std::int64_t(itemsize(t))),
        bytes(std::size_t(n * std::max<std::int64_t>(std::abs(stride), 16) + 64)) {
    std::int64_t back = stride < 0 ? -stride * (n - 1) : 0;
    first = bytes.data() + back;
    if (values.empty()) return;
    std::vector<double> v = values;
    void* const args[] = {v.data(), first};
    const std::int64_t strides[] = {8, stride};
    loops::cast(DType::Float64, t, CpuTier::Baseline)(args, strides, stride ? n : 1);
  }
  std::int64_t stride;
  std::vector<char> bytes;
  char* first;
};
}  // namespace

// Whatever the layout: the result, and the flags, of operands that lie side by side.
TEST_CASE("every layout has the bits of contiguous operands") {
  std::mt19937_64 random(7);
  for (CpuTier tier : tiers())
    for (int id = 0; id < kOpCount; ++id)
      for (char letter : op_info(static_cast<OpId>(id)).loops) {
        const auto op = static_cast<OpId>(id);
        const DType t = from_code(letter);
        const int arity = op_info(op).arity;
        if (op == OpId::Where) continue;
        const OutRule rule = op_info(op).out;
        DType out = rule == OutRule::Bool ? DType::Bool : rule == OutRule::UInt8 ? DType::UInt8 : t;
        if (rule == OutRule::Real && t == DType::Complex64) out = DType::Float32;
        if (rule == OutRule::Real && t == DType::Complex128) out = DType::Float64;
        if (op == OpId::Divide && is_integer(t)) out = DType::Float64;
        const LoopFn fn = loops::elementwise(op, t, tier);
        for (std::int64_t n : {1, 2, 19, 1100}) {
          std::vector<double> values[3];
          for (auto& v : values)
            for (int i = 0; i < n; ++i)
              v.push_back(t == DType::Bool ? double(random() & 1) : double(random() % 400) / 80);
          const auto run = [&](const std::int64_t(&steps)[4], const std::vector<double>(&v)[3],
                               int* flags) {
            std::vector<Operand> all;
            void* args[4];
            std::int64_t strides[4];
            for (int k = 0; k <= arity; ++k) {
              const bool result = k == arity;
              all.emplace_back(result ? out : t, steps[result ? 3 : k], n,
                               result ? std::vector<double>{} : v[k]);
              args[k] = all.back().first;
              strides[k] = all.back().stride;
            }
            std::feclearexcept(FE_ALL_EXCEPT);
            fn(args, strides, n);
            *flags = std::fetestexcept(kFlags);
            std::vector<char> r;
            const auto size = std::int64_t(itemsize(out));
            for (std::int64_t i = 0; i < n; ++i)
              r.insert(r.end(), all.back().first + i * strides[arity],
                       all.back().first + i * strides[arity] + size);
            return r;
          };
          for (const auto& steps : {std::array<std::int64_t, 4>{2, 2, 2, 1},
                                    {1, 1, 1, 2},
                                    {-1, 3, 1, 1},
                                    {0, 2, 1, 3},
                                    {2, 0, 0, 1},
                                    {0, 0, 0, 2}}) {
            std::vector<double> seen[3];
            for (int k = 0; k < 3; ++k) {
              seen[k] = values[k];
              if (steps[std::size_t(k)] == 0) seen[k].assign(std::size_t(n), values[k][0]);
            }
            const std::int64_t dense[] = {1, 1, 1, 1};
            const std::int64_t strided[] = {steps[0], steps[1], steps[2], steps[3]};
            int flags = 0, want_flags = 0;
            const auto want = run(dense, seen, &want_flags);
            const auto got = run(strided, seen, &flags);
            INFO(op_info(op).name << ' ' << letter << " tier " << int(tier) << " n " << n
                                  << " strides " << steps[0] << ' ' << steps[1] << ' ' << steps[2]
                                  << ' ' << steps[3]);
            CHECK(got == want);
            CHECK(flags == want_flags);
          }
        }
      }
}

TEST_CASE("clip may overwrite either bound") {
  for (CpuTier tier : tiers())
    for (std::size_t n : {std::size_t(3), std::size_t(1500)})
      for (int over : {0, 1, 2}) {
        std::vector<std::int32_t> of[3], want(n);
        for (std::size_t i = 0; i < n; ++i) {
          of[0].push_back(int(i % 100) - 50);
          of[1].push_back(int(i % 7) - 20);
          of[2].push_back(int(i % 11) + 20);
          want[i] = std::min(std::max(of[0][i], of[1][i]), of[2][i]);
        }
        void* args[] = {of[0].data(), of[1].data(), of[2].data(), of[over].data()};
        const std::int64_t strides[] = {4, 4, 4, 4};
        loops::elementwise(OpId::Clip, DType::Int32, tier)(args, strides, std::int64_t(n));
        CHECK(of[over] == want);
      }
}

TEST_CASE("fma rounds once, whatever the strides") {
  for (CpuTier tier : tiers())
    for (std::int64_t step : {0, 1, 3}) {
      std::vector<float> x, y, z, got(100), want;
      for (int i = 0; i < 300; ++i) {
        x.push_back(1 + float(i) * 0x1p-12F);
        y.push_back(1 - float(i) * 0x1p-12F);
        z.push_back(i % 2 ? -1.0F : 0x1p-30F);
      }
      for (std::int64_t i = 0; i < 100; ++i)
        want.push_back(std::fma(x[std::size_t(i)], y[std::size_t(step * i)], z[std::size_t(i)]));
      void* args[] = {x.data(), y.data(), z.data(), got.data()};
      const std::int64_t strides[] = {4, 4 * step, 4, 4};
      loops::elementwise(OpId::Fma, DType::Float32, tier)(args, strides, 100);
      CHECK(got == want);
    }
}

TEST_CASE("set bits") {
  for (CpuTier tier : tiers()) {
    const auto check = [&]<class T>(T) {
      std::vector<T> x;
      std::mt19937_64 random(1);
      for (int i = 0; i < 300; ++i) x.push_back(T(random() >> (random() % 64)));
      x.insert(x.end(),
               {T(0), T(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()});
      const auto got =
          apply<std::uint8_t>(loops::elementwise(OpId::BitwiseCount, dtype<T>(), tier), x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto u = std::uint64_t(std::int64_t(x[i]));
        const bool negative = std::is_signed_v<T> && x[i] < 0;
        CHECK(int(got[i]) == std::popcount(negative ? 0 - u : u));
      }
    };
    check(std::int8_t{});
    check(std::uint8_t{});
    check(std::int16_t{});
    check(std::uint16_t{});
    check(std::int32_t{});
    check(std::uint32_t{});
    check(std::int64_t{});
    check(std::uint64_t{});
  }
}
