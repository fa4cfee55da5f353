// What the lowering says of a region beside its loops.
#include "recorded.hpp"

using namespace plait;
using namespace plait::test;
using fusion::FoldOrder;

namespace {

double work(const Dims& shape, const Dims& axes, FoldOrder order) {
  const Array x = array(shape);
  tracer::ReduceOptions o;
  o.axes = axes;
  const Array sum = tracer::reduce(ReduceKind::Sum, apply(OpId::Multiply, x, x), o);
  return Recorded(sum, order).lowered.work;
}

}  // namespace

TEST_CASE("work counts every element once, also where chunks share a loop") {
  const double n = 300 * 200 * 100;
  CHECK(work({6'000'000}, {0}, FoldOrder::Chunks) == n);
  CHECK(work({300, 200, 100}, {0, 2}, FoldOrder::Chunks) == n);
  CHECK(work({300, 200, 100}, {0}, FoldOrder::Chunks) == n);
  CHECK(work({300, 200, 100}, {2}, FoldOrder::Whole) == n);
}
