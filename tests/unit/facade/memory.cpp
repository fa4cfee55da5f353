// Memory of the application: what is copied, what is not, and who frees it.
#include "plait/memory.hpp"

#include <catch2/catch.hpp>
#include <list>
#include <string>
#include <utility>

#include "core/buffer.hpp"
#include "core/config.hpp"
#include "engine/engine.hpp"
#include "plait/plait.hpp"

using plait::array;
using plait::view;

namespace {
template <class A, class = void>
inline constexpr bool adoptable = false;
template <class A>
inline constexpr bool adoptable<A, std::void_t<decltype(plait::adopt(std::declval<A>()))>> = true;
template <class A, class = void>
inline constexpr bool adaptable = false;
template <class A>
inline constexpr bool adaptable<A, std::void_t<decltype(plait::adapt(std::declval<A>()))>> = true;

template <class T>
std::vector<T> elements_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
}  // namespace

TEST_CASE("ranges of ranges are copied into arrays of as many axes") {
  const std::vector<std::vector<int>> rows{{1, 2, 3}, {4, 5, 6}};
  const array<double> a(rows);
  CHECK(a.shape() == plait::shape_type{2, 3});
  CHECK(elements_of(a) == std::vector<double>{1, 2, 3, 4, 5, 6});
  const double plain[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  const array<float> deep(plain);
  CHECK(deep.shape() == plait::shape_type{2, 2, 2});
  CHECK(deep(1, 0, 1) == 6);
  CHECK(array<bool>(std::vector<std::vector<bool>>{{true}, {false}}).shape(0) == 2);
  CHECK(array<int>(std::vector<std::vector<int>>(3)).shape() == plait::shape_type{3, 0});
  CHECK(plait::tensor<int>(rows)(1, 2) == 6);
  CHECK_THROWS_AS(array<int>(std::vector<std::vector<int>>{{1}, {2, 3}}), plait::ValueError);
  STATIC_REQUIRE(!std::is_constructible_v<array<double>, std::vector<std::string>>);
  STATIC_REQUIRE(!std::is_constructible_v<array<double>, std::vector<array<double>>>);
}

TEST_CASE("vectors are borrowed, in one axis or as a shape") {
  std::vector<double> v{1, 2, 3, 4};
  auto a = plait::adapt(v);
  a += 1;
  a.eval();
  CHECK(v == std::vector<double>{2, 3, 4, 5});
  auto m = plait::adapt(v, {2, -1});
  view(m, 1) = 0;
  m.eval();
  CHECK(v == std::vector<double>{2, 3, 0, 0});
  const auto& constant = v;
  CHECK(plait::adapt(constant, {2, 2})(0, 1) == 3);
  CHECK_THROWS_AS(plait::adapt(constant) += 1, plait::ValueError);
  CHECK_THROWS_AS(plait::adapt(v, {3, 2}), plait::ShapeError);
  std::vector<float> none;
  CHECK(plait::adapt(none).size() == 0);
  STATIC_REQUIRE(!adaptable<std::vector<double>>);
  STATIC_REQUIRE(adaptable<std::vector<double>&>);
}

TEST_CASE("ranges are copied into arrays") {
  const std::vector<double> v{1, 2, 3};
  const std::list<int> l{4, 5};
  CHECK(elements_of(array<double>(v)) == v);
  CHECK(elements_of(array<float>(v)) == std::vector<float>{1, 2, 3});
  CHECK(elements_of(array<double>(l)) == std::vector<double>{4, 5});
  CHECK(elements_of(array<bool>(std::vector<bool>{true, false})) == std::vector<bool>{true, false});
  CHECK(elements_of(array<double>(v.begin() + 1, v.end())) == std::vector<double>{2, 3});
  CHECK(array<double>(std::vector<double>{}).shape() == plait::shape_type{0});
  STATIC_REQUIRE(!std::is_convertible_v<std::vector<double>, array<double>>);
}

TEST_CASE("a vector that is given up becomes an array without a copy") {
  std::vector<double> v{1, 2, 3, 4};
  const double* const memory = v.data();
  array<double> a = plait::adopt(std::move(v)).reshape({2, 2});
  const array<double>& c = a;
  CHECK(c.data() == memory);
  const auto copied = a.copy();
  const auto later = a + 1.0;
  a.data()[0] = 10;
  CHECK(c.data() == memory);
  CHECK(copied.get(0, 0) == 1);
  CHECK(later.get(0, 0) == 2);
  a += 1.0;
  CHECK(elements_of(a) == std::vector<double>{11, 3, 4, 5});
  CHECK(plait::adopt(std::vector<float>{}).size() == 0);
  STATIC_REQUIRE(adoptable<std::vector<double>>);
  STATIC_REQUIRE(!adoptable<std::vector<double>&>);
}

TEST_CASE("a copy of adopted memory does not see what is written to it, nor the other way") {
  array<double> a = plait::adopt(std::vector<double>(1000, 1.0)), b = a.copy();
  b.data()[0] = 2;
  CHECK(a.get(0) == 1);
  a.data()[1] = 3;
  CHECK(b.get(1) == 1);
}

TEST_CASE("the deleter of lent memory runs once, when nothing reads it any more") {
  int freed = 0;
  array<double> sum;
  {
    auto* const memory = new double[3]{1, 2, 3};
    auto a = plait::adapt(memory, {3}, [&freed](double* p) {
      ++freed;
      delete[] p;
    });
    CHECK(std::as_const(a).data() == memory);
    view(a, 0) = 5.0;
    sum = plait::sum(view(a, plait::range(0, 2)));
    const auto last = view(a, 2);
    a = array<double>{};
    CHECK(freed == 0);
    CHECK(last.get() == 3);
  }
  CHECK(sum.item() == 7);
  CHECK(freed == 1);
  int refused = 0;
  CHECK_THROWS_AS(plait::adapt(static_cast<double*>(nullptr), {3}, [&](double*) { ++refused; }),
                  plait::ValueError);
  CHECK(refused == 1);
}

TEST_CASE("null and misaligned pointers are errors") {
  CHECK_THROWS_WITH(plait::adapt(static_cast<double*>(nullptr), {2, 3}),
                    "adapt: the pointer is null, where (2, 3) elements are to be");
  CHECK(plait::adapt(static_cast<double*>(nullptr), {0, 3}).size() == 0);
  alignas(8) char bytes[32] = {};
  CHECK_THROWS_WITH(plait::adapt(reinterpret_cast<double*>(bytes + 4), {2}),
                    "adapt: elements of float64 have to lie at multiples of 8 bytes; copy them to "
                    "memory that is aligned");
  CHECK_THROWS_AS(plait::adapt(reinterpret_cast<double*>(bytes), {2}, {12}), plait::ValueError);
  CHECK_THROWS_AS((plait::ones({2}) + 1).eval_into(reinterpret_cast<double*>(bytes + 1)),
                  plait::ValueError);
  CHECK_THROWS_AS((plait::ones({2}) + 1).eval_into(static_cast<double*>(nullptr)),
                  plait::ValueError);
}

TEST_CASE("eval_into computes in the application's memory, in one loop and nowhere else") {
  constexpr std::int64_t n = 200'000;
  const array<double> a = plait::arange<double>(0, n), b = plait::ones({n});
  plait::eval(a, b);
  CHECK(plait::eval(a + 1).get(2) == 3);
  std::vector<double> out(n, -1.0);
  const auto before = plait::engine::stats();
  const auto memory = plait::pool_stats();
  const auto plan = std::exchange(plait::config().plan, plait::PlanMode::Always);
  auto y = a * 2.0 + b;
  std::move(y).eval_into(out.data());
  plait::config().plan = plan;
  CHECK(plait::engine::stats().kernels_run == before.kernels_run + 1);
  CHECK(plait::engine::stats().bytes_moved == before.bytes_moved + 3 * n * 8);
  CHECK(plait::pool_stats().live_bytes < memory.live_bytes + n * 8);
  CHECK(out[0] == 1);
  CHECK(out[n - 1] == 2.0 * (n - 1) + 1);
}

TEST_CASE("what eval_into could not compute is not written later") {
  // The operands of the product have no place: 16 TiB each.
  const std::int64_t deep = std::int64_t{1} << 40;
  std::vector<double> out(4, -7);
  CHECK_THROWS_AS(plait::matmul(plait::ones({2, deep}) * 2.0, plait::ones({deep, 2}) * 3.0)
                      .eval_into(out.data()),
                  std::bad_alloc);
  auto again = plait::adapt(out.data(), {4});
  CHECK(again(3) == -7);
  again += 1.0;
  again.eval();
  CHECK(out == std::vector<double>(4, -6));
}

TEST_CASE("eval_into takes values that are there, of any layout, and views") {
  const array<double> a{{1, 2}, {3, 4}};
  double out[4] = {};
  a.transpose().eval_into(out);
  CHECK(std::vector<double>(out, out + 4) == std::vector<double>{1, 3, 2, 4});
  const auto named = a * 2.0;
  named.eval_into(out);
  CHECK(out[3] == 8);
  CHECK(named.get(1, 1) == 8);
  array<double> y = plait::zeros({2, 3});
  (a + 1.0).eval_into(view(y, plait::all(), plait::range(1, 3)));
  CHECK(elements_of(y) == std::vector<double>{0, 2, 3, 0, 4, 5});
  CHECK_THROWS_WITH(a.eval_into(y),
                    "eval_into: values of shape (2, 2) do not fit an array of shape (2, 3)");
}

TEST_CASE("assign stores at once, in adapted memory") {
  std::vector<double> memory(6, 1.0);
  auto y = plait::adapt(memory.data(), {2, 3});
  plait::assign(view(y, 1), array<double>{1, 2, 3} * 2.0);
  CHECK(memory == std::vector<double>{1, 1, 1, 2, 4, 6});
  plait::assign(y, y * 2.0);  // reads what it overwrites
  CHECK(memory == std::vector<double>{2, 2, 2, 4, 8, 12});
}

namespace {
// What Eigen's matrices and std::mdspan have in common.
struct Columns {
  double* data;
  std::ptrdiff_t rows, cols, outer_stride;
  double& operator()(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return data[i + j * outer_stride];
  }
};
}  // namespace

TEST_CASE("matrices of other libraries, by pointer, extents and strides of their own types") {
  std::vector<double> memory(8);
  const Columns m{memory.data(), 3, 2, 4};  // of the first three rows of four
  {
    auto a = plait::adapt(m.data, {m.rows, m.cols}, {8, m.outer_stride * 8});
    a += plait::array<double>{{1, 2}, {3, 4}, {5, 6}};
    a.eval();
  }
  CHECK(m(2, 1) == 6);
  CHECK(memory == std::vector<double>{1, 3, 5, 0, 2, 4, 6, 0});
  const plait::array<double> back =
      plait::adapt(m.data, {std::size_t(3), std::size_t(2)}, {std::size_t(8), std::size_t(32)});
  const auto rows = back.copy();
  CHECK(rows.strides() == plait::shape_type{16, 8});
  CHECK(rows.data()[5] == 6);
}
