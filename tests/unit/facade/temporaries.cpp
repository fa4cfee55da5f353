// Temporaries of an expression are nobody's by the time it is evaluated: they get no memory.
#include <catch2/catch.hpp>
#include <vector>

#include "core/config.hpp"
#include "engine/engine.hpp"
#include "plait/plait.hpp"

using plait::array;

namespace {

constexpr std::int64_t n = 200'000;

// Megabytes (of n doubles each) that the work reads and writes, and its kernels.
struct Cost {
  std::uint64_t arrays, kernels;
};
bool operator==(Cost a, Cost b) { return a.arrays == b.arrays && a.kernels == b.kernels; }
std::ostream& operator<<(std::ostream& out, Cost c) {
  return out << c.arrays << " arrays, " << c.kernels << " kernels";
}
template <class Work>
Cost cost_of(Work work) {
  const auto plan = std::exchange(plait::config().plan, plait::PlanMode::Always);
  const auto before = plait::engine::stats();
  work();
  const auto after = plait::engine::stats();
  plait::config().plan = plan;
  return {(after.bytes_moved - before.bytes_moved) / (8 * n),
          after.kernels_run - before.kernels_run};
}

}  // namespace

TEST_CASE("temporaries of an expression are not stored") {
  const array<double> a = plait::arange<double>(0, n), b = plait::ones({n});
  plait::eval(a, b);
  std::vector<double> out(n);
  double* const p = out.data();
  const Cost one_loop{3, 1};
  CHECK(cost_of([&] { (a * 2.0 + b).eval_into(p); }) == one_loop);
  CHECK(out[n - 1] == 2.0 * (n - 1) + 1);
  CHECK(cost_of([&] { plait::where(a > b * 2.0, sqrt(a) + b, -a).eval_into(p); }) == one_loop);
  CHECK(out[4] == 3);
  CHECK(cost_of([&] { (plait::view(a + b, plait::range(1, n)) * 2.0).eval(); }).kernels == 1);
  CHECK(cost_of([&] { (a * b).eval(); }) == one_loop);
  CHECK(cost_of([&] { plait::sum((a - b) * (a - b)).item(); }) == Cost{2, 1});
  CHECK(cost_of([&] { plait::linalg::norm(a - b, {0}).item(); }).arrays == 2);
  CHECK(cost_of([&] { plait::nansum((a + b).astype<float>()).item(); }) == Cost{2, 1});
  CHECK(cost_of([&] { array<double>(plait::cast<float>(a + b) + 1.0F).eval(); }) == one_loop);
}

TEST_CASE("values that go to a view are stored there alone") {
  const array<double> a = plait::arange<double>(0, n), b = plait::ones({n});
  array<double> y = plait::zeros({n});
  std::vector<double> memory(n);
  auto adapted = plait::adapt(memory.data(), {n});
  plait::eval(a, b, y);
  CHECK(cost_of([&] { plait::assign(plait::view(adapted), a * 2.0 + b); }).arrays <= 3);
  CHECK(memory[n - 1] == 2.0 * (n - 1) + 1);
  CHECK(cost_of([&] { (a * 2.0 + b).eval_into(y); }).arrays <= 3);
  CHECK(y.get(n - 1) == 2.0 * (n - 1) + 1);
}

TEST_CASE("named arrays keep their values, and the arrays made of them") {
  array<double> a = plait::arange<double>(0, 4);
  const array<double> other = a;
  auto b = std::move(a) * 2.0;  // `a` is given away, `other` is not
  CHECK(a.size() == 0);
  CHECK(other.get(3) == 3);
  CHECK(b.get(3) == 6);
  auto view = plait::view(b, plait::range(2, 4));
  array<double> sum = plait::sum(view) + plait::sum(view * view);
  CHECK(sum.item() == 10 + 52);
  CHECK(view.get(1) == 6);
}

TEST_CASE("borrowed memory that is given away ends its borrowing") {
  std::vector<double> memory{1, 2, 3};
  array<double> twice = plait::adapt(memory.data(), {3}) * 2.0;
  memory = {0, 0, 0};
  CHECK(twice.get(2) == 6);
}
