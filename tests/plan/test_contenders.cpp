// Plans that are compared as wholes, where the choices by themselves are close.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "core/config.hpp"
#include "fusion/plan.hpp"
#include "numpy_compat/functions.hpp"

using namespace plait;
using namespace plait::test;

namespace {

std::shared_ptr<fusion::Plan> planned_for(const Array& a, const fusion::Target& target = {}) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* const wanted[] = {node.get()};
  return fusion::make_plan(fusion::Graph(wanted), target);
}

// Pieces of what two divisions give.
Array pieces(std::int64_t elements, int count) {
  const Array x = tracer::empty({elements}, DType::Float64);
  const Array y = apply(OpId::Divide, apply(OpId::Divide, x, weak(3.)), weak(7.));
  const std::vector<Array> all(static_cast<std::size_t>(count), y);
  return numpy::concatenate(all, 0);
}

}  // namespace

TEST_CASE("what several writes read is computed again where all of them wait for memory") {
  config().eager_limit = 0;
  // By operations alone it would be stored: another region, which moves as many bytes as a write.
  const auto plan = planned_for(pieces(1000000, 3));
  CHECK(plan->steps.size() == 3);
  REQUIRE(plan->considered.size() == 1);
  const fusion::Choice& choice = plan->considered[0];
  CHECK(choice.instead < choice.as_is);
  CHECK_FALSE(choice.taken);
  REQUIRE(plan->contenders.size() == 2);
  const fusion::Contender &greedy = plan->contenders[0], &other = plan->contenders[1];
  CHECK(greedy.node == -1);
  CHECK_FALSE(greedy.chosen);
  CHECK(other.chosen);
  CHECK(other.node == choice.node);
  CHECK_FALSE(other.taken);
  CHECK(other.seconds < greedy.seconds);
  CHECK(plan->bytes_moved == 3 * 16 * 1000000);
}

TEST_CASE("plans are not compared for what takes less time than that") {
  config().eager_limit = 0;
  const auto plan = planned_for(pieces(10000, 3));
  CHECK(plan->contenders.empty());
  REQUIRE(plan->considered.size() == 1);
  CHECK(plan->considered[0].taken);
  CHECK(plan->steps.size() == 4);
}

TEST_CASE("what workers share takes its share of the time, and what team there is") {
  config().eager_limit = 0;
  const auto seconds = [](int workers) {
    const auto plan = planned_for(pieces(1000000, 3), {.workers = workers});
    REQUIRE(plan->contenders.size() == 2);
    CHECK(plan->workers == workers);
    return plan->contenders[1].seconds;
  };
  const double alone = seconds(1), team = 3 * (kMachine.ask_awake + kMachine.join);
  const double operations = 3 * kMachine.operation;
  for (const int workers : {2, 8, 64})
    CHECK(seconds(workers) == Approx((alone - operations) / workers + operations + team));
}
