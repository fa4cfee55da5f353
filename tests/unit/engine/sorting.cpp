// The kernels that sort, against the standard library.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "core/dispatch.hpp"
#include "engine/calls/call.hpp"
#include "engine/calls/order.hpp"
#include "engine/threads/team.hpp"

using namespace plait;

namespace {

std::mt19937_64 random_numbers(7);

template <class T>
T number(double v) {
  if constexpr (std::is_same_v<T, Half>)
    return {double_to_half(v)};
  else if constexpr (engine::kIsComplex<T>)
    return T(static_cast<typename T::value_type>(v),
             static_cast<typename T::value_type>(random_numbers() % 3));
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(v);
  else
    return static_cast<T>(static_cast<std::int64_t>(v));
}

const char* const kPatterns[] = {"random", "few", "sorted", "reversed", "equal", "pipe", "special"};

template <class T>
std::vector<T> pattern(const std::string& name, std::int64_t n) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(i);
    if (name == "random") {
      T e;
      const std::uint64_t bits[2] = {random_numbers(), random_numbers()};
      std::memcpy(&e, bits, sizeof e);
      if constexpr (std::is_same_v<T, bool>) e = bits[0] & 1;
      v.push_back(e);
    } else if (name == "few") {
      v.push_back(number<T>(static_cast<double>(random_numbers() % 5)));
    } else if (name == "equal") {
      v.push_back(number<T>(3));
    } else if (name == "special") {
      const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
      const double values[] = {0.0, -0.0, 1, -1, inf, -inf, nan, 2, std::ldexp(1, -1074)};
      const double s = values[random_numbers() % 9];
      v.push_back(std::isfinite(s) || kind(DType::Float64) == Kind::Float
                      ? number<T>(std::is_integral_v<T> && !std::isfinite(s) ? 5 : s)
                      : T{});
    } else {
      v.push_back(number<T>(name == "sorted"     ? x
                            : name == "reversed" ? -x
                                                 : std::abs(x - static_cast<double>(n) / 2)));
    }
  }
  return v;
}

void call(CallId id, const engine::Operand& in, const engine::Operand& out, std::int64_t axis,
          std::int64_t stable = 0) {
  const CallAttributes attributes{Dims{axis, stable}, {}, {}};
  const engine::Operand inputs[] = {in}, results[] = {out};
  engine::call_function(id)({inputs, results, attributes});
}

// Equal in order: which of equal elements stands where is no matter.
template <class T>
bool same_order(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) {
    return !engine::precedes(x, y) && !engine::precedes(y, x);
  });
}

template <class T>
void check_line(DType t, const std::string& name, std::int64_t n) {
  INFO(plait::name(t) << ' ' << name << ' ' << n);
  const std::vector<T> values = pattern<T>(name, n);
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return engine::precedes<T>(values[static_cast<std::size_t>(i)],
                               values[static_cast<std::size_t>(j)]);
  });
  std::vector<T> expected;
  for (std::int64_t i : order) expected.push_back(values[static_cast<std::size_t>(i)]);

  // Every second element, from the back.
  const auto item = static_cast<std::int64_t>(sizeof(T));
  std::vector<T> spread(values.size() * 2), out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    spread[2 * (values.size() - 1 - i) + 1] = values[i];
  auto* const first = reinterpret_cast<std::byte*>(spread.data()) + (2 * n - 1) * item;
  const engine::Operand in{first, t, {n}, {-2 * item}};
  for (std::int64_t stable : {0, 1}) {
    call(CallId::Sort, in, {reinterpret_cast<std::byte*>(out.data()), t, {n}, {item}}, 0, stable);
    CHECK(same_order(out, expected));
    if (stable) CHECK(std::memcmp(out.data(), expected.data(), sizeof(T) * out.size()) == 0);
  }
  std::vector<std::int64_t> indices(values.size());
  call(CallId::Argsort, in, {reinterpret_cast<std::byte*>(indices.data()), DType::Int64, {n}, {8}},
       0);
  CHECK(indices == order);
}

}  // namespace

TEST_CASE("lines of every dtype and pattern are sorted") {
  for (int d = 0; d < kNumPyDTypes; ++d)
    dispatch(static_cast<DType>(d), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>)
        for (const char* name : kPatterns)
          for (std::int64_t n : {1, 2, 17, 1000}) check_line<T>(static_cast<DType>(d), name, n);
    });
}

TEST_CASE("long lines are sorted by the team") {
  engine::set_sharing(engine::Sharing::Always);
  for (const char* name : kPatterns) {
    check_line<double>(DType::Float64, name, 300001);
    check_line<float>(DType::Float32, name, 270000);
    check_line<std::int64_t>(DType::Int64, name, 1 << 18);
    check_line<std::int16_t>(DType::Int16, name, 262145);
    check_line<std::complex<double>>(DType::Complex128, name, 263000);
  }
  engine::set_sharing(engine::Sharing::WhenItPays);
}

TEST_CASE("keys that differ only in what a word has no place for are ordered") {
  // A far outlier makes the range of keys as wide as it can be.
  std::vector<double> v(5000);
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = 1 + static_cast<double>(random_numbers() % 40) * std::numeric_limits<double>::epsilon();
  v[17] = -1e300;
  v[4000] = 1e300;
  std::vector<std::int64_t> order(v.size()), out(v.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
    return v[static_cast<std::size_t>(i)] < v[static_cast<std::size_t>(j)];
  });
  const auto n = static_cast<std::int64_t>(v.size());
  call(CallId::Argsort, {reinterpret_cast<std::byte*>(v.data()), DType::Float64, {n}, {8}},
       {reinterpret_cast<std::byte*>(out.data()), DType::Int64, {n}, {8}}, 0);
  CHECK(out == order);
}

TEST_CASE("columns of a transposed operand are sorted") {
  std::vector<float> v = pattern<float>("few", 60), out(60);
  std::vector<std::int64_t> indices(60);
  const engine::Operand in{
      reinterpret_cast<std::byte*>(v.data()), DType::Float32, {3, 4, 5}, {4, 12, 48}};
  for (int axis : {0, 1, 2}) {
    const engine::Operand to{
        reinterpret_cast<std::byte*>(out.data()), DType::Float32, {3, 4, 5}, {80, 20, 4}};
    call(CallId::Sort, in, to, axis);
    call(CallId::Argsort, in,
         {reinterpret_cast<std::byte*>(indices.data()), DType::Int64, {3, 4, 5}, {160, 40, 8}},
         axis);
    const auto at = [&](int i, int j, int k) {
      return static_cast<std::size_t>(20 * i + 5 * j + k);
    };
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 5; ++k) {
          int from[3] = {i, j, k};
          from[axis] = static_cast<int>(indices[at(i, j, k)]);
          CHECK(out[at(i, j, k)] ==
                v[static_cast<std::size_t>(from[0] + 3 * from[1] + 12 * from[2])]);
          int before[3] = {i, j, k};
          if (before[axis]-- > 0)
            CHECK(out[at(before[0], before[1], before[2])] <= out[at(i, j, k)]);
        }
  }
}

namespace {

template <class T>
engine::Operand operand(DType t, std::vector<T>& v, Dims shape) {
  const Dims strides = contiguous_strides(shape, sizeof(T));
  return {reinterpret_cast<std::byte*>(v.data()), t, shape, strides};
}
void call(CallId id, std::initializer_list<engine::Operand> inputs,
          std::initializer_list<engine::Operand> results, Dims numbers) {
  const CallAttributes attributes{std::move(numbers), {}, {}};
  engine::call_function(id)(
      {{inputs.begin(), inputs.size()}, {results.begin(), results.size()}, attributes});
}

template <class T>
void check_search(DType t, std::int64_t n, std::int64_t count) {
  INFO(plait::name(t) << ' ' << n << ' ' << count);
  std::vector<T> sorted = pattern<T>("special", n), values = pattern<T>("special", count);
  std::sort(sorted.begin(), sorted.end(), engine::precedes<T>);
  std::vector<std::int64_t> left(values.size()), right(values.size());
  call(CallId::Searchsorted, {operand(t, sorted, {n}), operand(t, values, {count})},
       {operand(DType::Int64, left, {count})}, {0});
  call(CallId::Searchsorted, {operand(t, sorted, {n}), operand(t, values, {count})},
       {operand(DType::Int64, right, {count})}, {1});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place =
        std::equal_range(sorted.begin(), sorted.end(), values[i], engine::precedes<T>);
    REQUIRE(left[i] == place.first - sorted.begin());
    REQUIRE(right[i] == place.second - sorted.begin());
  }
}

template <class T>
void check_ranks(DType t, const std::string& name, std::int64_t n, Dims ranks) {
  INFO(plait::name(t) << ' ' << name << ' ' << n);
  std::vector<T> v = pattern<T>(name, n), out(static_cast<std::size_t>(ranks.size()));
  Dims numbers{0};
  for (std::int64_t r : ranks) numbers.push_back(r);
  call(CallId::OrderStatistics, {operand(t, v, {n})}, {operand(t, out, {ranks.size()})}, numbers);
  std::sort(v.begin(), v.end(), engine::precedes<T>);
  const bool nan = engine::is_nan(v.back());
  for (int k = 0; k < ranks.size(); ++k) {
    const T x = out[static_cast<std::size_t>(k)];
    if (nan)
      CHECK(engine::is_nan(x));
    else
      CHECK(x == v[static_cast<std::size_t>(ranks[k])]);
  }
}

template <class T>
void check_unique(DType t, const std::string& name, std::int64_t n) {
  INFO(plait::name(t) << ' ' << name << ' ' << n);
  std::vector<T> v = pattern<T>(name, n), values(v.size());
  std::vector<std::int64_t> counts(v.size()), count(1);
  call(CallId::UniqueCounts, {operand(t, v, {n})},
       {operand(t, values, {n}), operand(DType::Int64, counts, {n}),
        operand(DType::Int64, count, {1})},
       {1});
  std::sort(v.begin(), v.end(), engine::precedes<T>);
  std::size_t found = 0;
  for (std::size_t i = 0; i < v.size(); ++found) {
    std::size_t next = i;
    const bool nan = engine::is_nan(v[i]);  // all are one
    while (next < v.size() && (nan || !engine::precedes(v[i], v[next]))) ++next;
    REQUIRE(nan == engine::is_nan(values[found]));
    if (!nan) REQUIRE_FALSE(engine::precedes(values[found], v[i]));
    if (!nan) REQUIRE_FALSE(engine::precedes(v[i], values[found]));
    REQUIRE(counts[found] == static_cast<std::int64_t>(next - i));
    i = next;
  }
  CHECK(count[0] == static_cast<std::int64_t>(found));
  call(CallId::Unique, {operand(t, v, {n})},
       {operand(t, values, {n}), operand(DType::Int64, count, {1})}, {1});
  CHECK(count[0] == static_cast<std::int64_t>(found));
}

}  // namespace

TEST_CASE("values find their places in a sorted line") {
  for (std::int64_t n : {1, 2, 3, 100}) {
    check_search<double>(DType::Float64, n, 29);
    check_search<Half>(DType::Float16, n, 8);
    check_search<std::complex<float>>(DType::Complex64, n, 9);
    check_search<std::int8_t>(DType::Int8, n, 3);
  }
  check_search<float>(DType::Float32, 1000, 50001);
}

TEST_CASE("order statistics of short and long lines") {
  engine::set_sharing(engine::Sharing::Always);
  for (const char* name : kPatterns)
    for (std::int64_t n : {1, 2, 1001, 100000}) {
      const Dims middle{(n - 1) / 2, n / 2}, apart{0, n / 10, n / 2, n - 1};
      check_ranks<double>(DType::Float64, name, n, middle);
      check_ranks<double>(DType::Float64, name, n, apart);
      check_ranks<std::int32_t>(DType::Int32, name, n, apart);
    }
  engine::set_sharing(engine::Sharing::WhenItPays);
}

TEST_CASE("different elements and their counts") {
  for (const char* name : kPatterns) {
    check_unique<double>(DType::Float64, name, 3000);
    check_unique<Half>(DType::Float16, name, 3000);
    check_unique<std::int64_t>(DType::Int64, name, 3000);
    check_unique<std::uint8_t>(DType::UInt8, name, 3000);
    check_unique<std::complex<double>>(DType::Complex128, name, 500);
  }
  engine::set_sharing(engine::Sharing::Always);
  check_unique<std::int32_t>(DType::Int32, "few", 1 << 20);
  engine::set_sharing(engine::Sharing::WhenItPays);
}
