// Products on panels and on operands where they lie: the bits of the order that product.hpp
// promises, whatever the shapes, strides and tiers.
#include "codegen/loops/product.hpp"
#include "core/half.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>

#include "support.hpp"

using namespace loops_test;
namespace {

template <class T>
using Matrix = std::vector<T>;  // row-major

template <class T>
Matrix<T> expected(std::int64_t m, std::int64_t n, std::int64_t depth, const Matrix<T>& a,
                   const Matrix<T>& b) {
  Matrix<T> c(m * n, T{});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t from = 0; from < depth; from += loops::kProductDepth) {
        T sum = 0;
        for (std::int64_t k = from; k < std::min(depth, from + loops::kProductDepth); ++k)
          sum = std::fma(a[i * depth + k], b[k * n + j], sum);
        c[i * n + j] = from == 0 ? sum : c[i * n + j] + sum;
      }
  return c;
}

template <class T>
bool same(const Matrix<T>& x, const Matrix<T>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isnan(x[i]) ? !std::isnan(y[i]) : std::memcmp(&x[i], &y[i], sizeof(T)) != 0)
      return false;
  return x.size() == y.size();
}

template <class T>
Matrix<T> random_matrix(std::int64_t size, std::mt19937_64& random, bool special) {
  std::normal_distribution<double> value(0, 1);
  Matrix<T> m(size);
  for (T& x : m) x = static_cast<T>(value(random));
  if (special && size > 3) {
    m[random() % size] = std::numeric_limits<T>::infinity();
    m[random() % size] = std::numeric_limits<T>::quiet_NaN();
    m[random() % size] = T(-0.0);
  }
  return m;
}

template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t depth, bool special) {
  std::mt19937_64 random(m * 31 + n * 7 + depth);
  const Matrix<T> a = random_matrix<T>(m * depth, random, special),
                  b = random_matrix<T>(depth * n, random, special);
  const Matrix<T> want = expected(m, n, depth, a, b);
  Matrix<T> transposed(depth * n);
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t j = 0; j < n; ++j) transposed[j * depth + k] = b[k * n + j];
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  for (CpuTier tier : tiers()) {
    if (tier == CpuTier::Baseline && m * n * depth > 20000) continue;
    const loops::Product& p = *loops::product(dtype<T>(), dtype<T>(), tier);
    Matrix<T> packed(m * n, T(7)), strided(m * n, T(7)), half(m * n, T(7));
    for (std::int64_t from = 0; from < std::max<std::int64_t>(depth, 1);
         from += loops::kProductDepth) {
      const std::int64_t k = std::min(depth - from, loops::kProductDepth);
      Matrix<T> pa(loops::packed_size(m, k, p.rows), T(9)),
          pb(loops::packed_size(n, k, p.columns), T(9)), pt = pb;
      p.a.pack(pa.data(), a.data() + from, depth * item, item, m, k, p.rows);
      p.b.pack(pb.data(), b.data() + from * n, item, n * item, n, k, p.columns);
      p.b.pack(pt.data(), transposed.data() + from, depth * item, item, n, k, p.columns);
      CHECK(same(pb, pt));
      for (std::int64_t i = m; i < loops::packed_size(m, 1, p.rows) && k > 0; ++i)
        CHECK(pa[(i / p.rows * k + k - 1) * p.rows + i % p.rows] == 0);
      p.block(m, n, k, pa.data(), pb.data(), packed.data(), n, from != 0);
      loops::ProductBlock where{
          m, n, k, a.data() + from, depth, 1, b.data() + from * n, n, strided.data(), n, from != 0};
      p.strided(where, false);
      where.b = pb.data();
      where.c = half.data();
      p.strided(where, true);
    }
    INFO(m << ' ' << n << ' ' << depth << " tier " << static_cast<int>(tier));
    CHECK(same(want, packed));
    CHECK(same(want, strided));
    CHECK(same(want, half));
  }
}

}  // namespace

TEST_CASE("products of blocks have the bits of their order") {
  using Shape = std::tuple<int, int, int>;
  for (const auto& [m, n, k] : {Shape{1, 1, 1},
                                {1, 1, 0},
                                {3, 5, 0},
                                {0, 3, 2},
                                {3, 0, 2},
                                {1, 40, 9},
                                {40, 1, 9},
                                {2, 3, 255},
                                {5, 7, 256},
                                {5, 7, 257},
                                {14, 32, 16},
                                {15, 33, 17},
                                {13, 31, 600},
                                {29, 65, 40},
                                {6, 16, 513},
                                {64, 64, 64},
                                {37, 100, 31}})
    for (bool special : {false, true}) {
      check<float>(m, n, k, special);
      check<double>(m, n, k, special);
    }
}

TEST_CASE("every height and width of a tile") {
  for (int m = 1; m <= 15; ++m)
    for (int n = 1; n <= 33; n += 1) {
      check<float>(m, n, 5, false);
      check<double>(m, n, 5, false);
    }
  // Of few rows, tiles have more columns, and others what is left.
  for (int m = 1; m <= 7; ++m)
    for (const int n : {64, 127, 128, 150, 289}) {
      check<float>(m, n, 5, m == 2);
      check<double>(m, n, 5, m == 2);
    }
  check<float>(2, 300, 600, true);
}

TEST_CASE("operands of any strides are packed") {
  for (CpuTier tier : tiers()) {
    const loops::Product& p = *loops::product(DType::Float32, DType::Float32, tier);
    std::mt19937_64 random(3);
    const std::int64_t lines = 37, depth = 21;
    const Matrix<float> from = random_matrix<float>(lines * 3 * depth * 2, random, false);
    Matrix<float> out(loops::packed_size(lines, depth, p.rows));
    // Backwards across the panel, every other element along k.
    const std::int64_t line = -4 * depth * 2, step = 8;
    const float* start = from.data() + (lines - 1) * depth * 2;
    p.a.pack(out.data(), start, line, step, lines, depth, p.rows);
    bool good = true;
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t k = 0; k < depth; ++k)
        good = good && out[(i / p.rows * depth + k) * p.rows + i % p.rows] ==
                           from[(lines - 1 - i) * depth * 2 + k * 2];
    CHECK(good);
    // A value that does not vary.
    p.a.pack(out.data(), from.data(), 0, 0, lines, depth, p.rows);
    CHECK(out[p.rows - 1] == from[0]);
  }
}

TEST_CASE("halves are packed as the floats that they are") {
  for (CpuTier tier : tiers()) {
    const loops::Product& mixed = *loops::product(DType::Float16, DType::Float32, tier);
    const loops::Packing &halves = mixed.a, &floats = mixed.b;
    std::mt19937_64 random(5);
    for (const auto& [lines, depth] : {std::pair{37, 21}, {1, 3}, {16, 40}, {33, 64}}) {
      const Matrix<float> values = random_matrix<float>(lines * depth, random, false);
      std::vector<std::uint16_t> half;
      Matrix<float> wide;
      for (const float v : values) {
        half.push_back(float_to_half(v));
        wide.push_back(half_to_float(half.back()));
      }
      for (const std::int64_t width : {mixed.rows, mixed.columns})
        for (const bool near : {false, true}) {  // lines side by side, or steps
          const std::int64_t line = near ? 1 : depth, step = near ? lines : 1;
          Matrix<float> got(loops::packed_size(lines, depth, width), 7), want = got, at = got;
          halves.pack(got.data(), half.data(), line * 2, step * 2, lines, depth, width);
          floats.pack(want.data(), wide.data(), line * 4, step * 4, lines, depth, width);
          CHECK(same(want, got));
          std::vector<std::int64_t> lines_at, sums_at;
          for (std::int64_t i = 0; i < lines; ++i) lines_at.push_back(i * line * 2);
          for (std::int64_t i = 0; i < depth; ++i) sums_at.push_back(i * step * 2);
          halves.gather(at.data(), half.data(), lines_at.data(), sums_at.data(), lines, depth,
                        width);
          CHECK(same(want, at));
        }
    }
  }
}

namespace {

// The numbers below `count` in runs, the last run first.
std::vector<std::int64_t> in_runs(std::int64_t count, std::int64_t run) {
  std::vector<std::int64_t> all;
  for (std::int64_t first = (count + run - 1) / run * run; first >= 0; first -= run)
    for (std::int64_t i = first; i < std::min(first + run, count); ++i) all.push_back(i);
  return all;
}

// Panels of both operands, where they lie either way, against sums in the same bits.
template <class A, class B, class T>
void check_integers(std::int64_t m, std::int64_t n, std::int64_t depth, bool extreme) {
  std::mt19937_64 random(m * 31 + n * 7 + depth);
  const auto values = [&]<class E>(std::int64_t count, E) {
    Matrix<E> v(count);
    for (E& x : v)
      x = !extreme              ? static_cast<E>(random())
          : std::is_signed_v<E> ? std::numeric_limits<E>::min()
                                : std::numeric_limits<E>::max();
    return v;
  };
  const Matrix<A> a = values(m * depth, A{});
  const Matrix<B> b = values(depth * n, B{});
  Matrix<A> a_turned(m * depth);
  Matrix<B> b_turned(depth * n);
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t i = 0; i < m; ++i) a_turned[k * m + i] = a[i * depth + k];
    for (std::int64_t j = 0; j < n; ++j) b_turned[j * depth + k] = b[k * n + j];
  }
  Matrix<T> want(m * n, 3);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < depth; ++k)
        want[i * n + j] += static_cast<T>(a[i * depth + k]) * static_cast<T>(b[k * n + j]);
  constexpr std::int64_t a_item = sizeof(A), b_item = sizeof(B);
  for (CpuTier tier : tiers()) {
    const loops::Product& p = *loops::product(dtype<A>(), dtype<B>(), tier);
    std::vector<std::byte> pa(p.panels(m, depth, p.rows)), pb(p.panels(n, depth, p.columns));
    const auto multiply = [&] {
      Matrix<T> c(m * n, 3);
      p.block(m, n, depth, pa.data(), pb.data(), c.data(), n, true);
      return c;
    };
    for (const bool turned : {false, true}) {
      const std::int64_t a_line = turned ? a_item : depth * a_item,
                         a_step = turned ? m * a_item : a_item,
                         b_line = turned ? depth * b_item : b_item,
                         b_step = turned ? b_item : n * b_item;
      const A* const from_a = turned ? a_turned.data() : a.data();
      const B* const from_b = turned ? b_turned.data() : b.data();
      INFO(m << ' ' << n << ' ' << depth << " tier " << static_cast<int>(tier) << turned);
      p.a.pack(pa.data(), from_a, a_line, a_step, m, depth, p.rows);
      p.b.pack(pb.data(), from_b, b_line, b_step, n, depth, p.columns);
      CHECK(multiply() == want);
      std::vector<std::int64_t> rows_at, columns_at, a_sums, b_sums;
      for (std::int64_t i = 0; i < m; ++i) rows_at.push_back(i * a_line);
      for (std::int64_t j = 0; j < n; ++j) columns_at.push_back(j * b_line);
      for (std::int64_t k = 0; k < depth; ++k) {
        a_sums.push_back(k * a_step);
        b_sums.push_back(k * b_step);
      }
      p.a.gather(pa.data(), from_a, rows_at.data(), a_sums.data(), m, depth, p.rows);
      p.b.gather(pb.data(), from_b, columns_at.data(), b_sums.data(), n, depth, p.columns);
      CHECK(multiply() == want);
      // Lines and sums of windows: runs of some elements, in another order.
      for (const std::int64_t run : {1, 3, 11, 24}) {
        const std::vector<std::int64_t> i = in_runs(m, run), j = in_runs(n, run),
                                        k = in_runs(depth, run);
        const auto at = [](const std::vector<std::int64_t>& of, std::int64_t step) {
          std::vector<std::int64_t> bytes;
          for (const std::int64_t e : of) bytes.push_back(e * step);
          return bytes;
        };
        p.a.gather(pa.data(), from_a, at(i, a_line).data(), at(k, a_step).data(), m, depth, p.rows);
        p.b.gather(pb.data(), from_b, at(j, b_line).data(), at(k, b_step).data(), n, depth,
                   p.columns);
        const Matrix<T> got = multiply();
        bool all = true;
        for (std::int64_t r = 0; r < m; ++r)
          for (std::int64_t c = 0; c < n; ++c) all &= got[r * n + c] == want[i[r] * n + j[c]];
        CHECK(all);
      }
    }
  }
}

}  // namespace

TEST_CASE("products of integers wrap, and are exact") {
  using Shape = std::tuple<int, int, int>;
  for (const auto& [m, n, k] : {Shape{1, 1, 1},
                                {1, 1, 0},
                                {1, 40, 9},
                                {40, 1, 9},
                                {2, 3, 255},
                                {5, 7, 256},
                                {14, 32, 16},
                                {15, 33, 66},
                                {29, 65, 131}})
    for (bool extreme : {false, true}) {
      check_integers<std::int8_t, std::int8_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::int8_t, std::uint8_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::uint8_t, std::int8_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::uint8_t, std::uint8_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::int16_t, std::int16_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::uint16_t, std::uint16_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::int32_t, std::int32_t, std::uint32_t>(m, n, k, extreme);
      check_integers<std::int64_t, std::int64_t, std::uint64_t>(m, n, k, extreme);
    }
}

TEST_CASE("other dtypes have no tiles") {
  CHECK(loops::product(DType::Bool, DType::Bool, CpuTier::Baseline) == nullptr);
  CHECK(loops::product(DType::Int8, DType::Int16, CpuTier::Baseline) == nullptr);
}
