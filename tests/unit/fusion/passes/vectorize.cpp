// Which loop the lanes run along, and that lanes change no bits: they are no part of the meaning.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// The folds of the vector loop: none for a map axis.
std::vector<ReduceKind> lanes(const Array& a) {
  Recorded r(a);
  const Bytes expected = r.run();
  fusion::vectorize(r.input(), r.lowered);
  REQUIRE(r.run() == expected);
  std::vector<ReduceKind> kinds;
  int vectors = 0;
  for (const ir::Loop& l : r.lowered.kernel.loops) {
    if (!l.lanes()) continue;
    ++vectors;
    for (const ir::Reduction& f : l.reductions) kinds.push_back(f.kind);
  }
  REQUIRE(vectors == 1);
  return kinds;
}

}  // namespace

TEST_CASE("a map runs its lanes along its elements") {
  CHECK(lanes(apply(OpId::Sqrt, array({1000}))).empty());
}

TEST_CASE("long rows are folded along the row") {
  CHECK(lanes(reduce(ReduceKind::Sum, array({10, 500}), 1)) == std::vector{ReduceKind::Sum});
  CHECK(lanes(reduce(ReduceKind::ArgMin, array({10, 500}), 1)) == std::vector{ReduceKind::ArgMin});
}

TEST_CASE("folds over the outer axis keep the lanes on the columns") {
  CHECK(lanes(reduce(ReduceKind::Sum, array({40, 500}), 0)).empty());
  CHECK(lanes(reduce(ReduceKind::ArgMax, array({40, 500}), 0)).empty());
}

TEST_CASE("many short rows take their lanes across the rows") {
  CHECK(lanes(reduce(ReduceKind::Sum, array({2000, 4}), 1)).empty());
}

TEST_CASE("at most one loop on any path is a vector loop") {
  const Array x = array({30, 40});
  Recorded r(apply(OpId::Subtract, x, reduce(ReduceKind::Max, x, 1, true)));
  fusion::vectorize(r.input(), r.lowered);
  CHECK(r.lowered.kernel.loops.size() == 3);
  ir::verify(r.lowered.kernel);
}

TEST_CASE("loops with expensive calls are not unrolled") {
  auto unroll = [](const Array& a) {
    Recorded r(a);
    fusion::vectorize(r.input(), r.lowered);
    return r.lowered.kernel.loops[0].unroll;
  };
  CHECK(unroll(apply(OpId::Exp, array({1000}))) == 1);
  CHECK(unroll(apply(OpId::Negative, array({1000}))) > 1);
}

TEST_CASE("registers stand side by side in long bodies whose values wait for each other") {
  auto unroll = [](int operations, int held) {
    std::vector<Array> values;
    for (int i = 0; i < held; ++i) values.push_back(apply(OpId::Negative, array({1000})));
    for (int i = 0; i < operations; ++i) {
      Array& v = values[static_cast<std::size_t>(i) % values.size()];
      v = apply(OpId::Add, v, v);
    }
    Array sum = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) sum = apply(OpId::Multiply, sum, values[i]);
    Recorded r(sum);
    fusion::vectorize(r.input(), r.lowered);
    return r.lowered.kernel.loops[0].unroll;
  };
  CHECK(unroll(300, 1) == 4);
  CHECK(unroll(300, 16) == 1);
}

TEST_CASE("a chunked fold keeps the lanes off the grid") {
  Recorded r(apply(OpId::Negative, array({1000})));
  r.lowered.partials.push_back({0, ReduceKind::Sum, DType::Float64});
  fusion::vectorize(r.input(), r.lowered);
  CHECK_FALSE(r.lowered.kernel.loops[0].lanes());
}
