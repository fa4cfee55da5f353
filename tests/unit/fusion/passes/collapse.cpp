// Nested loops over contiguous memory become one.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;

namespace {

struct Collapsed {
  int before, after;
  std::int64_t grid;
};
Collapsed collapsed(const Array& a) {
  Recorded r(a);
  const int before = loop_count(r.lowered.kernel);
  const Bytes expected = r.run();
  fusion::collapse(r.input(), r.lowered);
  REQUIRE(r.run() == expected);
  return {before, loop_count(r.lowered.kernel), r.trips(0)};
}

}  // namespace

TEST_CASE("a map over contiguous arrays is one loop over all elements") {
  const auto [before, after, grid] =
      collapsed(apply(OpId::Add, array({20, 30, 11}), array({20, 30, 11})));
  CHECK(before == 3);
  CHECK(after == 1);
  CHECK(grid == 20 * 30 * 11);
}

TEST_CASE("a broadcast row keeps its loop apart") {
  const auto [before, after, grid] =
      collapsed(apply(OpId::Add, array({20, 30, 11}), array({30, 11})));
  CHECK(before == 3);
  CHECK(after == 2);
  CHECK(grid == 20);
}

TEST_CASE("a view with gaps joins the loops within its rows only") {
  const Array part = view(array({20, 30, 11}), {tracer::All{}, tracer::Slice{2, 25, {}}});
  CHECK(collapsed(apply(OpId::Negative, part)).after == 2);
  const Array columns =
      view(array({20, 33}), {tracer::All{}, tracer::Slice{std::nullopt, 31, std::nullopt}});
  CHECK(collapsed(apply(OpId::Negative, columns)).after == 2);
}

TEST_CASE("an axis that is walked backwards is not contiguous") {
  const Array flipped = view(array({20, 30}), {tracer::All{}, tracer::Slice{{}, {}, -1}});
  CHECK(collapsed(apply(OpId::Negative, flipped)).after == 2);
}

TEST_CASE("a fold and the map around it stay two loops") {
  CHECK(collapsed(reduce(ReduceKind::Max, array({20, 30}), 1)).after == 2);
}

TEST_CASE("what was found contiguous is part of what was asked") {
  Recorded r(apply(OpId::Add, array({20, 300}),
                   view(array({20, 301}), {tracer::All{}, tracer::Slice{1, {}, {}}})));
  const std::size_t before = r.answers();
  fusion::collapse(r.input(), r.lowered);
  CHECK(r.answers() > before);
}
