// Casts and folds: NumPy's summation tree bit for bit, NaN rules, x86's float-to-integer answers.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "support.hpp"

using namespace loops_test;
namespace {

// The tree written as plainly as NumPy's pairwise_sum.
template <class T>
T tree(const T* a, std::int64_t n) {
  if (n < 8) {
    T s = T(-0.0);
    for (std::int64_t i = 0; i < n; ++i) s += a[i];
    return s;
  }
  if (n <= 128) {
    T r[8];
    for (int k = 0; k < 8; ++k) r[k] = a[k];
    std::int64_t i = 8;
    for (; i < n - n % 8; i += 8)
      for (int k = 0; k < 8; ++k) r[k] += a[i + k];
    T s = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) s += a[i];
    return s;
  }
  const std::int64_t half = n / 2 - n / 2 % 8;
  return tree(a, half) + tree(a + half, n - half);
}
template <class T>
void check_sums() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> value(0, 1e3);
  for (std::int64_t n : {0, 1, 7, 8, 15, 127, 128, 129, 255, 256, 1000, 4097}) {
    std::vector<T> a(n), spread(2 * n + 1);
    for (std::int64_t i = 0; i < n; ++i) spread[2 * i] = a[i] = T(value(random));
    for (CpuTier tier : tiers()) {
      const auto sum = loops::reduce(ReduceKind::Sum, dtype<T>(), tier);
      T dense = fold_identity(ReduceKind::Sum, dtype<T>()).template as<T>(), strided = dense;
      sum(&dense, a.data(), sizeof(T), n);
      sum(&strided, spread.data(), 2 * sizeof(T), n);
      CHECK(dense == tree(a.data(), n));
      CHECK(strided == dense);
    }
  }
}
template <class From, class To>
std::vector<To> convert(std::vector<From> v, CpuTier tier, int* flags = nullptr) {
  return apply<To>(loops::cast(dtype<From>(), dtype<To>(), tier), v, flags);
}
}  // namespace

TEST_CASE("float sums follow the pairwise tree") {
  check_sums<double>();
  check_sums<float>();
}

TEST_CASE("extrema of arrays") {
  std::mt19937_64 random(9);
  for (CpuTier tier : tiers())
    for (std::int64_t n : {1, 5, 16, 63, 512, 1300}) {
      std::vector<float> a(n);
      for (auto& x : a) x = float(int(random() % 97)) - 48;
      const auto least = std::min_element(a.begin(), a.end());
      float m = fold_identity(ReduceKind::Min, DType::Float32).as<float>(), best = 0;
      loops::reduce(ReduceKind::Min, DType::Float32, tier)(&m, a.data(), 4, n);
      CHECK(m == *least);
      std::int64_t index = -1;
      const auto arg = loops::arg_reduce(ReduceKind::ArgMin, DType::Float32, tier);
      arg(&best, &index, a.data(), 4, n, 100);
      CHECK(index == 100 + (least - a.begin()));
      CHECK(best == *least);
      // A later piece replaces the answer only if it is strictly better.
      arg(&best, &index, a.data(), 4, n, 10000);
      CHECK(index == 100 + (least - a.begin()));
      a[n / 2] = float(kNan);
      a[n - 1] = float(kNan);
      index = -1;
      arg(&best, &index, a.data(), 4, n, 0);
      CHECK(index == n / 2);
      std::feclearexcept(FE_ALL_EXCEPT);
      loops::reduce(ReduceKind::Max, DType::Float32, tier)(&m, a.data(), 4, n);
      CHECK(std::isnan(m));
      CHECK(std::fetestexcept(FE_INVALID) == 0);
    }
}

template <class T>
void check_columns(std::mt19937_64& random) {
  for (CpuTier tier : tiers())
    for (std::int64_t rows : {1, 3, 200, 33000})
      for (std::int64_t count : {1, 3, 4, 10, 17, 70}) {
        if (rows > 1000 && count > 4) continue;
        const std::int64_t pitch = count + 2;
        std::vector<T> a(static_cast<std::size_t>(rows * pitch));
        // Of all signs where there are few: each order has its own extremes.
        for (auto& x : a) x = std::is_integral_v<T> && rows < 1000 ? T(random()) : T(random() % 97);
        // The extreme of what is above 97 comes late, or twice.
        a[static_cast<std::size_t>((rows - 1) * pitch)] = T(110);
        if constexpr (std::is_floating_point_v<T>)
          if (rows > 5) a[static_cast<std::size_t>(2 * pitch)] = T(kNan);
        std::vector<std::int64_t> index(static_cast<std::size_t>(2 * count), -7);
        for (ReduceKind kind : {ReduceKind::ArgMin, ReduceKind::ArgMax}) {
          loops::arg_columns(kind, dtype<T>(), tier)(a.data(), pitch * std::int64_t(sizeof(T)),
                                                     rows, count, index.data(), 16);
          const auto one = loops::arg_reduce(kind, dtype<T>(), tier);
          int wrong = 0;
          for (std::int64_t j = 0; j < count; ++j) {
            T best = a[static_cast<std::size_t>(j)];
            std::int64_t want = 0;
            one(&best, &want, a.data() + j, pitch * std::int64_t(sizeof(T)), rows, 0);
            wrong += index[static_cast<std::size_t>(2 * j)] != want;
            wrong += index[static_cast<std::size_t>(2 * j + 1)] != -7;
          }
          INFO(rows << " rows of " << count << " " << name(dtype<T>()) << " tier " << int(tier));
          CHECK(wrong == 0);
        }
      }
}
TEST_CASE("extrema of columns side by side") {
  std::mt19937_64 random(4);
  check_columns<std::int8_t>(random);
  check_columns<std::uint8_t>(random);
  check_columns<std::int16_t>(random);
  check_columns<std::uint32_t>(random);
  check_columns<std::int64_t>(random);
  check_columns<float>(random);
  check_columns<double>(random);
}

TEST_CASE("the first boolean that decides") {
  for (CpuTier tier : tiers())
    for (std::int64_t stride : {1, 3})
      for (std::int64_t n : {1, 2, 100})
        for (std::int64_t at : {std::int64_t(0), n / 2, n - 1, n}) {
          std::vector<std::uint8_t> a(static_cast<std::size_t>(n * stride), 0);
          if (at < n) a[static_cast<std::size_t>(at * stride)] = 1;
          const auto arg = loops::arg_reduce(ReduceKind::ArgMax, DType::Bool, tier);
          std::uint8_t best = 7;
          std::int64_t index = -1;
          arg(&best, &index, a.data(), stride, n, 50);
          CHECK(index == 50 + (at < n ? at : 0));
          CHECK(best == (at < n));
          // What comes later wins only over false.
          arg(&best, &index, a.data(), stride, n, 1000);
          CHECK(index == 50 + (at < n ? at : 0));
        }
}

TEST_CASE("the other folds") {
  for (CpuTier tier : tiers()) {
    std::vector<double> a{2, kNan, -3, 4};
    double p = 1, f = fold_identity(ReduceKind::FMin, DType::Float64).as<double>();
    loops::reduce(ReduceKind::FMin, DType::Float64, tier)(&f, a.data(), 8, 4);
    CHECK(f == -3);
    a[1] = 0.1;
    loops::reduce(ReduceKind::Prod, DType::Float64, tier)(&p, a.data(), 8, 4);
    CHECK(p == ((2 * 0.1) * -3) * 4);
    std::uint8_t any = 0, all = 1;
    loops::reduce(ReduceKind::Any, DType::Float64, tier)(&any, a.data(), 8, 4);
    a[2] = -0.0;
    loops::reduce(ReduceKind::All, DType::Float64, tier)(&all, a.data(), 8, 4);
    CHECK(any == 1);
    CHECK(all == 0);
    std::vector<std::int16_t> i{0x0f0f, 0x00ff, 0x0ff0};
    std::int16_t bits = fold_identity(ReduceKind::BitAnd, DType::Int16).as<std::int16_t>();
    loops::reduce(ReduceKind::BitAnd, DType::Int16, tier)(&bits, i.data(), 2, 3);
    CHECK(bits == 0);
  }
}

TEST_CASE("casts that do not fit") {
  constexpr auto low64 = std::numeric_limits<std::int64_t>::min();
  constexpr auto low32 = std::numeric_limits<std::int32_t>::min();
  // Long enough for the vector path of every tier.
  std::vector<double> bad;
  for (int i = 0; i < 8; ++i) bad.insert(bad.end(), {kNan, kInf, -kInf, 1e30, -1.5, 300.7, 3e9});
  for (CpuTier tier : tiers()) {
    int flags = 0;
    const auto i64 = convert<double, std::int64_t>(bad, tier, &flags);
    CHECK(flags == FE_INVALID);
    const auto i32 = convert<double, std::int32_t>(bad, tier);
    const auto i8 = convert<double, std::int8_t>(bad, tier);
    const auto u64 = convert<double, std::uint64_t>(bad, tier);
    const auto u32 = convert<double, std::uint32_t>(bad, tier);
    for (std::size_t k = 0; k < bad.size(); k += 7) {
      CHECK(i64[k] == low64);
      CHECK(i64[k + 3] == low64);
      CHECK(i64[k + 4] == -1);
      CHECK(i32[k] == low32);
      CHECK(i32[k + 6] == low32);
      CHECK(i8[k] == 0);
      CHECK(i8[k + 5] == 300 - 256);
      CHECK(u64[k] == 1ull << 63);
      CHECK(u64[k + 1] == 0);
      CHECK(u64[k + 4] == ~0ull);
      CHECK(u32[k + 6] == 3000000000u);
    }
  }
}

template <class From, class... To>
void check_casts_of(std::vector<From> values) {
  while (values.size() < 600) values.push_back(From(values.size() * 37));
  for (CpuTier tier : tiers()) {
    const auto check = [&]<class T>(T) {
      const auto got = convert<From, T>(values, tier);
      std::vector<T> want;
      for (From v : values) want.push_back(T(v));
      INFO(name(dtype<From>()) << " to " << name(dtype<T>()) << " tier " << int(tier));
      CHECK(same_bits(got, want));
    };
    (check(To()), ...);
    std::vector<double> parts(2 * values.size(), 7);
    void* args[] = {values.data(), parts.data()};
    const std::int64_t strides[] = {sizeof(From), 16};
    loops::cast(dtype<From>(), DType::Complex128, tier)(args, strides, std::int64_t(values.size()));
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      wrong += parts[2 * i] != double(values[i]) || parts[2 * i + 1] != 0;
    CHECK(wrong == 0);
  }
}
template <class... Ints>
void check_integer_casts() {
  const auto of = [](auto zero) {
    using T = decltype(zero);
    using L = std::numeric_limits<T>;
    check_casts_of<T, Ints..., float, double>(
        {L::min(), L::max(), T(-1), T(0), T(1), T(128), T(L::max() / 2 + 1)});
  };
  (of(Ints()), ...);
}
TEST_CASE("integers are cast as C++ casts them") {
  check_integer_casts<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                      std::uint32_t, std::int64_t, std::uint64_t>();
}

TEST_CASE("every cast exists, half rounds once") {
  for (CpuTier tier : tiers()) {
    for (int from = 0; from < kNumPyDTypes; ++from)
      for (int to = 0; to < kNumPyDTypes; ++to)
        CHECK(loops::cast(static_cast<DType>(from), static_cast<DType>(to), tier) != nullptr);
    // Just above the tie between two halves: through float32 it would round to even.
    std::vector<double> x{1.0 + 0x1p-11 + 0x1p-40, 65519.99, 65520.0};
    std::vector<std::uint16_t> h(3);
    void* args[] = {x.data(), h.data()};
    const std::int64_t strides[] = {8, 2};
    std::feclearexcept(FE_ALL_EXCEPT);
    loops::cast(DType::Float64, DType::Float16, tier)(args, strides, 3);
    CHECK(h == std::vector<std::uint16_t>{0x3c01, 0x7bff, 0x7c00});
    CHECK(std::fetestexcept(FE_OVERFLOW) != 0);
  }
}
