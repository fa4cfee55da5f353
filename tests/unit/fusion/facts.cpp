// What is asked of numbers is recorded where code relies on the answer.
#include "fusion/graph/facts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "../../record.hpp"
#include "core/config.hpp"
#include "fusion/graph/graph.hpp"

using namespace plait;
using namespace plait::test;
using fusion::ExprId;
using fusion::Field;

TEST_CASE("answers that code relies on are guards, estimates are not") {
  config().eager_limit = 0;
  const Array x = tracer::empty({6, 7, 6}, DType::Float64);
  const Ref<tracer::Node> node = tracer::read(apply(OpId::Exp, x));
  const fusion::Graph g(std::vector<tracer::Node*>{node.get()});
  fusion::Exprs exprs;
  fusion::Facts facts(g, exprs);
  const auto extent = [&](int d) { return exprs.source({1, Field::Shape, d}); };

  CHECK(facts.estimate(extent(1)) == 7);
  CHECK(facts.recorded() == 0);
  CHECK_FALSE(facts.equal(extent(0), extent(1)));
  CHECK(facts.equal(extent(0), extent(0)));
  CHECK(facts.recorded() == 0);
  CHECK(facts.equal(extent(0), extent(2)));
  CHECK(facts.recorded() == 1);

  const ExprId seven = facts.known(extent(1));
  CHECK(exprs.is_constant(seven));
  CHECK(exprs.value(seven) == 7);
  CHECK(facts.known(seven) == seven);
  CHECK(facts.recorded() == 2);

  CHECK_FALSE(facts.at_most(extent(1), 5));
  CHECK_FALSE(facts.at_most(extent(1), 6));
  CHECK(facts.at_most(extent(1), 9));
  CHECK(facts.at_most(extent(1), 7));
  CHECK(facts.at_most(seven, 7));
  REQUIRE(facts.recorded() == 4);  // above 6, at most 7
  for (const std::int64_t n : {6, 7, 8}) {
    std::vector<std::int64_t> values;
    exprs.evaluate(g, values);
    values[extent(1)] = n;
    std::vector<fusion::Guard> asked = fusion::Facts(facts).take();
    asked.erase(asked.begin(), asked.begin() + 2);
    CHECK(std::ranges::all_of(asked, [&](const auto& a) { return a.holds(values); }) == (n == 7));
  }
  facts.forget(1);
  const std::vector<fusion::Guard> guards = facts.take();
  REQUIRE(guards.size() == 1);
  CHECK(guards[0].left == extent(0));
  CHECK(guards[0].right == extent(2));
  CHECK(facts.recorded() == 0);
}
