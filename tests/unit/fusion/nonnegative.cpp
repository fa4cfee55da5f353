// Which values are known to have no sign.
#include "fusion/graph/nonnegative.hpp"

#include <catch2/catch.hpp>

#include "../../record.hpp"
#include "fusion/schedule/problem.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

namespace {

bool known(const Array& a) {
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  const fusion::Graph recorded(wanted);
  const fusion::PlanGraph g(recorded);
  return fusion::non_negative(g, fusion::common_subexpressions(g)).back();
}

}  // namespace

TEST_CASE("a sign is known from the operations, whatever the inputs") {
  const Array x = tracer::empty({9, 9}, DType::Float64), i = tracer::empty({9}, DType::Int64);
  const Array size = apply(OpId::Absolute, x), square = apply(OpId::Multiply, x, x);
  CHECK_FALSE(known(apply(OpId::Add, x, weak(1))));
  CHECK(known(size));
  CHECK(known(square));
  CHECK(known(apply(OpId::Sqrt, apply(OpId::Add, size, square))));
  CHECK_FALSE(known(apply(OpId::Sqrt, x)));
  CHECK_FALSE(known(apply(OpId::Add, size, x)));
  CHECK_FALSE(known(apply(OpId::Subtract, size, square)));
  CHECK(known(reduce(ReduceKind::Sum, square, 1)));
  CHECK_FALSE(known(reduce(ReduceKind::ArgMin, square, 1)));
  CHECK_FALSE(known(apply(OpId::Square, i)));  // wraps
}

TEST_CASE("what is made of itself again and again is looked at once a node") {
  Array x = apply(OpId::Absolute, tracer::empty({9, 9}, DType::Float64)), y = x;
  for (int i = 0; i < 100; ++i) {
    x = apply(OpId::Add, x, x);
    y = apply(OpId::Maximum, y, apply(OpId::Divide, x, y));
  }
  CHECK(known(reduce(ReduceKind::Sum, y, 1)));
}

TEST_CASE("a long chain needs no stack") {
  Array x = apply(OpId::Absolute, tracer::empty({9, 9}, DType::Float64));
  tracer::set_graph_limit(1 << 20, std::size_t{1} << 30);
  for (int i = 0; i < 200000; ++i) x = apply(OpId::Sqrt, x);
  tracer::set_graph_limit(4096, std::size_t{1} << 30);
  CHECK(known(x));
}
