// Small arrays are computed without the recorder, in memory of arrays that are gone: whose values
// those are, nobody may notice.
#include "plait/plait.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "tracer/context.hpp"

using plait::array;

namespace {
thread_local int allocations = 0;
}  // namespace
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }

namespace {
struct Taken {
  int allocations;
  std::size_t nodes;
};
// What the work takes once memory is kept from doing it before.
template <class Work>
Taken taken_by(Work work) {
  for (int i = 0; i < 20; ++i) work();
  const std::size_t nodes = plait::tracer::graph_stats().recorded_total;
  const int before = allocations;
  work();
  return {allocations - before, plait::tracer::graph_stats().recorded_total - nodes};
}
}  // namespace

TEST_CASE("memory that serves again is nobody else's") {
  array<double> a{1, 2, 3}, b{10, 20, 30};
  array<double> kept = a + b;
  const array<double> view = plait::view(kept, plait::range(1, 3));
  for (int i = 0; i < 20; ++i) {
    array<double> gone = a * 2.0 + b * double(i);
    CHECK(gone.get(2) == 6 + 30 * i);
  }
  CHECK(kept.get(0) == 11);
  kept = array<double>();
  const array<double> next = a - b;
  CHECK(view.get(0) == 22);
  CHECK(next.get(1) == -18);
}

TEST_CASE("an operand that is given away is computed in, and is empty then") {
  array<double> a{1, 2, 3};
  array<double> x = a + 1.0, y = x;
  array<double> z = std::move(x) * 2.0;
  CHECK(z.get(0) == 4);
  CHECK(y.get(0) == 2);
  CHECK(x.size() == 0);
  array<double> w = std::move(y) - std::move(z);
  CHECK(w.get(2) == -4);
  w += 1;
  CHECK(array<double>(std::move(w) + 1.0).get(2) == -2);
}

TEST_CASE("what is pending on a small array keeps its values") {
  array<double> a{1, 2, 3};
  const array<double> big = plait::zeros({1000, 3});
  array<double> small = a + 1.0;
  const array<double> later = big + small;
  small = array<double>();
  const array<double> other = a * 100.0;
  CHECK(later.get(999, 0) == 2);
  CHECK(other.get(0) == 100);
}

TEST_CASE("pointers and exports see what was computed for them") {
  array<double> a{1, 2, 3};
  array<double> x = a + 1.0;
  double* p = x.data();
  p[0] = 7;
  const array<double> y = x + 1.0;
  CHECK(y.get(0) == 8);
  array<double> read_only = plait::broadcast_to(a, {3});
  CHECK(array<double>(std::move(read_only) + 1.0).get(0) == 2);
  CHECK(a.get(0) == 1);
}

TEST_CASE("numbers beside small arrays convert as beside large ones") {
  const array<float> f{1, 2};
  CHECK(array<float>(f * 0.1).get(0) == 0.1F);
  CHECK(array<float>(f * 1e300).get(0) == std::numeric_limits<float>::infinity());
  CHECK(array<float>(f + 1).get(1) == 3);
  const array<std::int8_t> i{1, 2};
  CHECK_THROWS_AS(i + 300, plait::OverflowError);
  CHECK(array<bool>(i < array<std::int8_t>{2, 2}).get(0));
  const array<double> d{1, 2};
  CHECK(array<double>(d + true).get(0) == 2);
  CHECK(array<double>(d / 0).get(0) == std::numeric_limits<double>::infinity());
}

TEST_CASE("arrays are made, and summed, in memory of arrays that are gone") {
  const array<double> first = plait::zeros({4});
  for (int i = 1; i < 30; ++i) {
    array<double> filled = plait::full<double>({4}, double(i)), listed{1, 2, 3, double(i)};
    CHECK(filled.get(3) == i);
    CHECK(plait::sum(filled).item() == 4 * i);
    CHECK(plait::sum(listed).item() == 6 + i);
    filled += 1;
    CHECK(plait::zeros({4}).get(1) == 0);
    CHECK(plait::sum(
              plait::view(listed, plait::range(plait::placeholders::_, plait::placeholders::_, -2)))
              .item() == i + 2);
  }
  const array<double> kept = plait::sum(first + 1.0);
  for (int i = 0; i < 10; ++i) plait::sum(plait::full<double>({4}, double(i)));
  CHECK(kept.item() == 4);
  CHECK(first.get(0) == 0);
  CHECK(std::signbit(plait::sum(array<double>{-0.0}).item()) == false);
  CHECK(plait::sum(array<float>{1.5f, 2.5f}).item() == 4.0f);
}

TEST_CASE("small work in memory allocates nothing, and records nothing") {
  array<double> a = plait::arange<double>(0, 10), b = a + 1, c = a + 2;
  array<double> grid = plait::ones({10, 10});
  plait::eval(a, b, c, grid);
  double seen = 0;
  const auto check = [](const char* what, Taken t) {
    INFO(what);
    CHECK(t.allocations == 0);
    CHECK(t.nodes == 0);
  };
  check("set", taken_by([&] { grid.set(2.0, 3, 4); }));
  check("a(i, j) = v", taken_by([&] { grid(-1, 4) = 2.0; }));
  check("get", taken_by([&] { seen += grid.get(3, 4); }));
  check("zeros", taken_by([] { array<double> z = plait::zeros({10}); }));
  check("list", taken_by([] { array<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; }));
  check("view", taken_by([&] { auto v = plait::view(grid, plait::all(), plait::range(1, 3)); }));
  check("sum", taken_by([&] { seen += plait::sum(a).item(); }));
  check("expression", taken_by([&] { array<double> r = a * 2.0 + b * c; }));
  CHECK(seen == 21 * (2 + 45));
}

TEST_CASE(
    "an element is written where nothing else sees the memory, else to a version of its own") {
  array<double> a{1, 2, 3};
  a.set(10, 0);
  CHECK(a.get(0) == 10);
  const array<double> later = plait::zeros({1000, 3}) + a;
  a(0) = 20;
  auto view = plait::view(a, plait::range(1, 3));
  view.set(30, -1);
  CHECK(later.get(999, 0) == 10);
  CHECK(later.get(999, 2) == 3);
  CHECK(a.get(0) == 20);
  CHECK(a.get(2) == 30);
  CHECK_THROWS_AS(a.set(1, 3), plait::IndexError);
  CHECK_THROWS_AS(a.set(1, 0, 0), plait::IndexError);
  array<double> read_only = plait::broadcast_to(a, {2, 3});
  CHECK_THROWS_AS(read_only.set(1, 0, 0), plait::ValueError);
  CHECK(a.get(0) == 20);
}
