#include <catch2/catch.hpp>

#include "../../plan/arrays.hpp"
#include "engine/plans/run.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// A structure of its own for each number.
double evaluated(unsigned number) {
  Array x = tracer::empty({3000}, DType::Float64);
  auto* p = static_cast<double*>(tracer::data(x));
  std::fill(p, p + x.size(), 1.0);
  for (; number; number /= 2) x = apply(number % 2 ? OpId::Add : OpId::Multiply, x, weak(1));
  return static_cast<const double*>(tracer::data(x))[0];
}

struct Interpreted {
  Interpreted() {
    engine::start();
    engine::trim();
    config().eager_limit = 0;
    config().jit = JitMode::Off;
    config().plan = PlanMode::Always;
  }
  ~Interpreted() { config() = saved_; }

 private:
  Config saved_ = config();
};

}  // namespace

TEST_CASE("trim gives back plans, kernels and buffers, and results stay") {
  Interpreted interpreted;
  CHECK(evaluated(0b1011) == 4);
  const engine::Kept kept = engine::kept();
  CHECK(kept.plans > 0);
  CHECK(kept.kernels > 0);
  CHECK(engine::trim() >= kept.plan_bytes + kept.kernel_bytes);
  CHECK(engine::kept().plans == 0);
  CHECK(engine::kept().kernels == 0);
  CHECK(pool_stats().cached_bytes == 0);
  CHECK(evaluated(0b1011) == 4);
}

TEST_CASE("kernels of plans stay when the table is trimmed") {
  Interpreted interpreted;
  evaluated(0b101);
  const std::size_t made = engine::kept().kernels;
  REQUIRE(made > 0);
  CHECK(engine::trim_kernels() == 0);
  CHECK(engine::kept().kernels == made);
  CHECK(engine::forget_plans() > 0);
  CHECK(engine::trim_kernels() > 0);
  CHECK(engine::kept().kernels == 0);
}

TEST_CASE(
    "trim gives back the nodes of graphs that are gone, and what was remembered of their rounds") {
  Interpreted interpreted;
  {
    Array x = tracer::empty({3000}, DType::Float64);
    std::vector<Array> held;
    for (int i = 0; i < 3000; ++i) held.push_back(apply(OpId::Add, x, weak(i)));
  }
  engine::trim();
  CHECK(tracer::trim_nodes() == 0);
  Array x = tracer::empty({3000}, DType::Float64);
  std::vector<Array> held;
  for (int i = 0; i < 3000; ++i) held.push_back(apply(OpId::Add, x, weak(i)));
  CHECK(engine::trim() < 3000 * sizeof(tracer::Node));  // they are in use
  held.clear();
  CHECK(engine::trim() > 2000 * sizeof(tracer::Node));
}
