// Products by tiles: the bits of the order that codegen/loops/product.hpp promises, for any
// strides, batches, ways to divide the work, tiers and numbers of threads.
#include "engine/products/product.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "codegen/loops/product.hpp"
#include "core/buffer.hpp"
#include "core/config.hpp"
#include "engine/direct/fp_flags.hpp"
#include "engine/engine.hpp"
#include "engine/threads/team.hpp"

using namespace plait;
using engine::MatrixProduct;

namespace {

// How an operand (rows, columns) lies.
enum class Lies { Rows, Columns, Apart, Backwards, Repeated };
constexpr Lies kAll[] = {Lies::Rows, Lies::Columns, Lies::Apart, Lies::Backwards, Lies::Repeated};

template <class T>
struct Operand {
  std::vector<T> memory;
  std::int64_t at = 0, row = 0, column = 0, step = 0;  // elements

  Operand(std::int64_t entries, std::int64_t rows, std::int64_t columns, Lies lies,
          std::mt19937_64& random) {
    std::normal_distribution<double> value(0, 1);
    memory.resize(static_cast<std::size_t>(entries * rows * columns * 3 + 1));
    for (T& x : memory) x = static_cast<T>(value(random));
    row = columns;
    column = 1;
    step = rows * columns * 3;
    if (lies == Lies::Columns) {
      row = 1;
      column = rows;
    } else if (lies == Lies::Apart) {
      row = 3 * columns;
      column = 3;
    } else if (lies == Lies::Backwards) {
      at = rows * columns - 1;
      row = -columns;
      column = -1;
    } else if (lies == Lies::Repeated) {
      row = 0;
    }
  }
  T get(std::int64_t entry, std::int64_t i, std::int64_t j) const {
    return memory[static_cast<std::size_t>(at + entry * step + i * row + j * column)];
  }
};

template <class T>
struct Case {
  std::int64_t entries, m, n, k;
  Operand<T> a, b;
  std::vector<T> want;
  bool of_itself = false;  // b is a view of a's memory

  Case(std::int64_t entries, std::int64_t m, std::int64_t n, std::int64_t k, Lies la, Lies lb,
       std::mt19937_64& random)
      : entries(entries),
        m(m),
        n(n),
        k(k),
        a(entries, m, k, la, random),
        b(entries, k, n, lb, random) {}

  void expect() {
    for (std::int64_t e = 0; e < entries; ++e)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          T all = 0;
          for (std::int64_t from = 0; from < k; from += loops::kProductDepth) {
            T sum = 0;
            for (std::int64_t q = from; q < std::min(k, from + loops::kProductDepth); ++q)
              sum = std::fma(a.get(e, i, q), b.get(e, q, j), sum);
            all = from == 0 ? sum : all + sum;
          }
          want.push_back(all);
        }
  }

  std::vector<T> run() const {
    std::vector<T> c(static_cast<std::size_t>(entries * m * n), T(5));
    constexpr auto item = static_cast<std::int64_t>(sizeof(T));
    MatrixProduct p{
        .dtype = item == 4 ? DType::Float32 : DType::Float64,
        .m = m,
        .n = n,
        .k = k,
        .a = reinterpret_cast<const std::byte*>(a.memory.data() + a.at),
        .a_row = a.row * item,
        .a_column = a.column * item,
        .b = reinterpret_cast<const std::byte*>((of_itself ? a : b).memory.data() + b.at),
        .b_row = b.row * item,
        .b_column = b.column * item,
        .c = reinterpret_cast<std::byte*>(c.data()),
        .batch = Dims{entries},
        .a_steps = Dims{a.step * item},
        .b_steps = Dims{b.step * item}};
    const bool taken = engine::tiled_product(engine::with_joined_axes(p));
    REQUIRE(taken);
    return c;
  }
};

template <class T>
bool same(const std::vector<T>& x, const std::vector<T>& y) {
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isnan(x[i]) ? !std::isnan(y[i]) : std::memcmp(&x[i], &y[i], sizeof(T)) != 0)
      return false;
  return true;
}

class Settings {
 public:
  ~Settings() {
    config().tier = tier_;
    engine::set_num_threads(threads_);
    engine::set_sharing(engine::Sharing::WhenItPays);
  }

 private:
  CpuTier tier_ = config().tier;
  int threads_ = engine::num_threads();
};

template <class T>
void check(Case<T>& c) {
  const Settings restored;
  c.expect();
  for (CpuTier tier : kTiers) {
    if (tier > detected_tier() || (tier == CpuTier::Baseline && c.m * c.n * c.k > 30000)) continue;
    config().tier = tier;
    for (int threads : {1, 2, 3}) {
      engine::set_num_threads(threads);
      engine::set_sharing(threads == 1 ? engine::Sharing::WhenItPays : engine::Sharing::Always);
      INFO(c.entries << " of " << c.m << ' ' << c.n << ' ' << c.k << ", tier "
                     << static_cast<int>(tier) << ", threads " << threads);
      CHECK(same(c.want, c.run()));
    }
  }
}

}  // namespace

TEST_CASE("products of any strides have the bits of their order") {
  std::mt19937_64 random(1);
  for (Lies a : kAll)
    for (Lies b : kAll) {
      Case<float> narrow(1, 45, 70, 300, a, b, random);
      check(narrow);
      Case<double> wide(2, 17, 33, 20, a, b, random);
      check(wide);
    }
}

TEST_CASE("large products, small ones and vectors have the bits of their order") {
  std::mt19937_64 random(2);
  const std::int64_t shapes[][4] = {{1, 200, 150, 600}, {1, 3, 900, 30}, {1, 900, 3, 30},
                                    {1, 1, 70, 50},     {1, 70, 1, 50},  {1, 1, 1, 700},
                                    {7, 30, 31, 32},    {40, 4, 5, 6},   {3, 1, 9, 8},
                                    {3, 9, 1, 8},       {1, 2, 3, 1},    {2, 130, 120, 110}};
  for (const auto& [entries, m, n, k] : shapes)
    for (Lies lies : {Lies::Rows, Lies::Columns}) {
      Case<float> narrow(entries, m, n, k, lies, lies, random);
      check(narrow);
      Case<double> wide(entries, m, n, k, lies, lies, random);
      check(wide);
    }
}

TEST_CASE("one matrix for a whole batch, and a batch of rows") {
  std::mt19937_64 random(3);
  for (std::int64_t m : {1, 6}) {
    Case<float> c(20, m, 40, 30, Lies::Rows, Lies::Rows, random);
    c.b.step = 0;
    c.a.step = m * 30;
    check(c);
  }
}

namespace {
// The elements of an operand of several axes, as a matrix in C order.
std::vector<float> unfolded(const float* at, const engine::AxisGroup& rows,
                            const engine::AxisGroup& columns) {
  std::vector<std::int64_t> offsets[2];
  const engine::AxisGroup* const both[] = {&rows, &columns};
  for (int i = 0; i < 2; ++i) {
    offsets[i] = {0};
    for (int axis = 0; axis < both[i]->extents.size(); ++axis) {
      std::vector<std::int64_t> next;
      for (const std::int64_t before : offsets[i])
        for (std::int64_t n = 0; n < both[i]->extents[axis]; ++n)
          next.push_back(before + n * both[i]->steps[axis]);
      offsets[i] = next;
    }
  }
  std::vector<float> out;
  for (const std::int64_t r : offsets[0])
    for (const std::int64_t c : offsets[1]) out.push_back(at[(r + c) / 4]);
  return out;
}
}  // namespace

TEST_CASE(
    "operands of several axes, also overlapping ones, have the bits of the matrices they are") {
  struct Axes {
    engine::AxisGroup rows, a_sums, b_sums, columns;
  };
  const Axes all[] = {
      // windows of 3 x 3 in 5 planes of 12 x 40, against filters
      {{{10, 38}, {160, 4}}, {{5, 3, 3}, {1920, 160, 4}}, {{5, 3, 3}, {36, 12, 4}}, {{33}, {180}}},
      // the same with the filters as rows
      {{{33}, {180}}, {{5, 3, 3}, {36, 12, 4}}, {{5, 3, 3}, {1920, 160, 4}}, {{10, 38}, {160, 4}}},
      // every other pixel, long sums, rows that are repeated
      {{{5, 3, 19}, {320, 0, 8}}, {{5, 60}, {1920, 4}}, {{5, 60}, {240, 4}}, {{3, 2}, {1200, 80}}},
      // backwards, and one by one
      {{{7, 4}, {-80, -480}}, {{3, 9}, {-4, -40}}, {{3, 9}, {500, 44}}, {{8, 9}, {4, 36}}},
      {{{300, 2}, {4, 1600}}, {{40, 8}, {12, 400}}, {{40, 8}, {4, 400}}, {{3, 50}, {4, 12}}},
  };
  std::mt19937_64 random(8);
  std::normal_distribution<float> value(0, 1);
  std::vector<float> memory(20000);
  for (float& x : memory) x = value(random);
  const Settings restored;
  for (const Axes& x : all) {
    const float* const middle = memory.data() + 8000;
    const auto count = [](const engine::AxisGroup& l) { return element_count(l.extents); };
    const std::vector<float> a = unfolded(middle, x.rows, x.a_sums),
                             b = unfolded(middle, x.b_sums, x.columns);
    const std::int64_t m = count(x.rows), n = count(x.columns), k = count(x.a_sums);
    std::vector<float> want(static_cast<std::size_t>(m * n)), got(want.size());
    const auto at = [](const auto& v) { return reinterpret_cast<const std::byte*>(v.data()); };
    REQUIRE(engine::tiled_product({.dtype = DType::Float32,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .a = at(a),
                                   .a_row = k * 4,
                                   .a_column = 4,
                                   .b = at(b),
                                   .b_row = n * 4,
                                   .b_column = 4,
                                   .c = reinterpret_cast<std::byte*>(want.data())}));
    MatrixProduct p{.dtype = DType::Float32,
                    .m = m,
                    .n = n,
                    .k = k,
                    .a = reinterpret_cast<const std::byte*>(middle),
                    .a_row = 0,
                    .a_column = 0,
                    .b = reinterpret_cast<const std::byte*>(middle),
                    .b_row = 0,
                    .b_column = 0,
                    .c = reinterpret_cast<std::byte*>(got.data()),
                    .rows = x.rows,
                    .a_sums = x.a_sums,
                    .b_sums = x.b_sums,
                    .columns = x.columns};
    for (CpuTier tier : kTiers) {
      if (tier > detected_tier()) continue;
      config().tier = tier;
      for (int threads : {1, 3}) {
        engine::set_num_threads(threads);
        engine::set_sharing(threads == 1 ? engine::Sharing::WhenItPays : engine::Sharing::Always);
        std::fill(got.begin(), got.end(), 5.0F);
        REQUIRE(engine::tiled_product(p));
        INFO(m << ' ' << n << ' ' << k << ", tier " << static_cast<int>(tier) << ", " << threads);
        CHECK(same(want, got));
      }
    }
  }
}

TEST_CASE("products with nothing in them") {
  std::mt19937_64 random(4);
  for (const auto& [m, n, k] : {std::tuple{0, 3, 2}, {3, 0, 2}, {3, 2, 0}}) {
    Case<double> c(2, m, n, k, Lies::Rows, Lies::Rows, random);
    check(c);
  }
}

TEST_CASE("products with their own transposes are computed by half, with the same bits") {
  std::mt19937_64 random(5);
  const auto one = [&]<class T>(T, std::int64_t entries, std::int64_t m, std::int64_t k,
                                Lies lies) {
    Case<T> c(entries, m, m, k, lies, lies, random);
    c.b = c.a;
    std::swap(c.b.row, c.b.column);
    c.of_itself = true;
    check(c);
  };
  for (Lies lies : kAll) {
    one(double{}, 1, 45, 70, lies);
    one(float{}, 3, 37, 40, lies);
  }
  for (Lies lies : {Lies::Rows, Lies::Columns}) {
    one(double{}, 1, 300, 140, lies);
    one(float{}, 1, 130, 300, lies);
    one(double{}, 2, 110, 90, lies);
  }
}

TEST_CASE("products of several axes with themselves are computed by half, with the same bits") {
  std::mt19937_64 random(9);
  std::normal_distribution<double> value(0, 1);
  std::vector<double> memory(20 * 24 * 40);  // (4, 5, 24, 40): over the second axis and the last
  for (double& x : memory) x = value(random);
  const engine::AxisGroup rows{{4, 24}, {5 * 24 * 320, 320}}, sums{{5, 40}, {24 * 320, 8}};
  const Settings restored;
  const auto run = [&](const double* a, const double* b) {
    std::vector<double> out(96 * 96, 5);
    REQUIRE(engine::tiled_product({.dtype = DType::Float64,
                                   .m = 96,
                                   .n = 96,
                                   .k = 200,
                                   .a = reinterpret_cast<const std::byte*>(a),
                                   .a_row = 0,
                                   .a_column = 0,
                                   .b = reinterpret_cast<const std::byte*>(b),
                                   .b_row = 0,
                                   .b_column = 0,
                                   .c = reinterpret_cast<std::byte*>(out.data()),
                                   .rows = rows,
                                   .a_sums = sums,
                                   .b_sums = sums,
                                   .columns = rows}));
    return out;
  };
  const std::vector<double> copy = memory;
  CHECK(same(run(memory.data(), copy.data()), run(memory.data(), memory.data())));
}

TEST_CASE("what is a product with its own transpose, and what is not") {
  const std::byte at{};
  const MatrixProduct p{.dtype = DType::Float64,
                        .m = 40,
                        .n = 40,
                        .k = 30,
                        .a = &at,
                        .a_row = 240,
                        .a_column = 8,
                        .b = &at,
                        .b_row = 8,
                        .b_column = 240,
                        .c = nullptr,
                        .batch = Dims{2},
                        .a_steps = Dims{9600},
                        .b_steps = Dims{9600}};
  CHECK(engine::by_own_transpose(p));
  const auto with = [&](auto MatrixProduct::* field, const auto& value) {
    MatrixProduct other = p;
    other.*field = value;
    return engine::by_own_transpose(other);
  };
  CHECK_FALSE(with(&MatrixProduct::b, static_cast<const std::byte*>(&at + 1)));
  CHECK_FALSE(with(&MatrixProduct::n, std::int64_t{39}));
  CHECK_FALSE(with(&MatrixProduct::b_row, std::int64_t{16}));
  CHECK_FALSE(with(&MatrixProduct::b_column, std::int64_t{-240}));
  CHECK_FALSE(with(&MatrixProduct::b_steps, Dims{0}));
  CHECK_FALSE(with(&MatrixProduct::b_dtype, DType::Int64));
}

TEST_CASE("infinities and NaNs stay in their rows and columns, and raise no flag elsewhere") {
  std::mt19937_64 random(6);
  const Settings restored;
  for (CpuTier tier : kTiers) {
    if (tier > detected_tier()) continue;
    config().tier = tier;
    for (Lies lies : {Lies::Rows, Lies::Columns}) {
      Case<float> c(1, 19, 21, 9, lies, lies, random);
      c.a.memory[4] = std::numeric_limits<float>::infinity();
      c.want.clear();
      c.expect();
      engine::clear_flags();
      const auto got = c.run();
      CHECK((engine::raised_flags() & kInvalid) == 0);
      CHECK(same(c.want, got));
    }
  }
}

TEST_CASE("flags that helpers raise are the caller's") {
  std::mt19937_64 random(7);
  const Settings restored;
  engine::set_num_threads(2);
  engine::set_sharing(engine::Sharing::Always);
  Case<double> c(64, 40, 40, 40, Lies::Rows, Lies::Rows, random);
  for (double& x : c.a.memory) x = 1e300;
  for (double& x : c.b.memory) x = 1e300;
  for (int i = 0; i < 5; ++i) {
    engine::clear_flags();
    c.run();
    CHECK((engine::raised_flags() & kOver) != 0);
  }
}

TEST_CASE("memory that is missing for panels loses nothing") {
  std::mt19937_64 random(8);
  Case<float> c(1, 200, 210, 220, Lies::Columns, Lies::Columns, random);
  c.expect();
  for (int nth : {0, 1}) {
    fail_allocation(nth);
    CHECK_THROWS_AS(c.run(), std::bad_alloc);
    fail_allocation(-1);
    CHECK(same(c.want, c.run()));
  }
}
