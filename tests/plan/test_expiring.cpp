// Values whose only name goes away with the call that evaluates need no memory; one that is asked
// for all the same is computed then, and is what it was when it was recorded.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "tracer/expiring.hpp"

using namespace plait;
using namespace plait::test;

namespace {
Array sum(const Array& a) { return tracer::reduce(ReduceKind::Sum, a); }
std::int64_t moved_by_the_sum_of(const Array& x) {
  tracer::evaluate(sum(x));
  return engine::last_plan().bytes_moved;
}
constexpr std::int64_t kBytes = 200000 * 8;
}  // namespace

TEST_CASE("an expiring operand of a reduction is not stored") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  const Array a = random_f64({200000});
  const Array named = apply(OpId::Multiply, a, weak(3));
  CHECK(moved_by_the_sum_of(named) > 2 * kBytes - 1);
  CHECK(tracer::is_materialised(named));

  const Array temporary = apply(OpId::Multiply, a, weak(3));
  {
    const tracer::Expiring e(*temporary.storage);
    CHECK(moved_by_the_sum_of(temporary) < kBytes + 10000);
  }
  CHECK_FALSE(tracer::is_materialised(temporary));
  CHECK(moved_by_the_sum_of(temporary) > 2 * kBytes - 1);
}

TEST_CASE("an expiring value that something else needs is stored") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  const Array a = random_f64({200000});
  const Array x = apply(OpId::Multiply, a, weak(3));
  const Array pending = apply(OpId::Add, x, weak(1));
  const tracer::Expiring e(*x.storage);
  tracer::evaluate(sum(x));
  CHECK(tracer::is_materialised(x));
}

TEST_CASE("an expiring value that lives on keeps its contents when what it read is written to") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  Array a = random_f64({200000});
  const Array before = tracer::copy(a);
  tracer::evaluate(before);
  const Array x = apply(OpId::Multiply, a, weak(3));
  tracer::assign(a, weak(7));
  {
    const tracer::Expiring e(*x.storage);
    const Array both[] = {sum(x), sum(a)};
    tracer::evaluate(both);
  }
  CHECK(bytes(x) == bytes(apply(OpId::Multiply, before, weak(3))));
  CHECK(bytes(a) == bytes(tracer::full({200000}, scalar_float(7))));
}
