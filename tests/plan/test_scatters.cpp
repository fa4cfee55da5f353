// Combining by index with what computes indices and values: one region over the points where that
// spares memory, a call where not.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "engine/plans/run.hpp"
#include "numpy_compat/by_index.hpp"
#include "numpy_compat/functions.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::NewAxis;

namespace {

Array zeros(const Dims& shape, DType t = DType::Float64) {
  return tracer::full(shape, plait::cast(scalar_int(0), t));
}
Array ones(std::int64_t n) { return tracer::broadcast_to(tracer::from_scalar(scalar_int(1)), {n}); }
Array square(const Array& a) { return apply(OpId::Multiply, a, a); }

// The nearest of the means of each point.
Array nearest(const Array& points, const Array& means, bool by_root = false) {
  const Array d = apply(OpId::Subtract, points, view(means, {All{}, NewAxis{}, All{}}));
  const Array squares = reduce(ReduceKind::Sum, square(d), 2);
  return reduce(ReduceKind::ArgMin, by_root ? apply(OpId::Sqrt, squares) : squares, 0);
}

}  // namespace

TEST_CASE("assignment and update of k-means read the points once") {
  const std::int64_t n = 600'000, k = 5, d = 4;
  const Array points = random_f64({n, d}, 1), means = random_f64({k, d}, 2);
  const bool by_root = GENERATE(false, true);
  Both r = both([&] {
    const Array label = nearest(points, means, by_root);
    const Array sums = numpy::combined(OpId::Add, zeros({k, d}), label, points);
    const Array counts = numpy::combined(OpId::Add, zeros({k}, DType::Int64), label, ones(n));
    return apply(OpId::Divide, sums,
                 tracer::astype(view(counts, {All{}, NewAxis{}}), DType::Float64));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 2);  // the other one divides
  CHECK((r.text.find("root left out") != std::string::npos) == by_root);
  CHECK(r.text.find("in cache at a block of indices") != std::string::npos);
  CHECK(r.plan.bytes_moved < (n + 100 * k) * d * 8);
  CHECK(r.fused == r.direct);
}

TEST_CASE("weights are computed where they are summed by index") {
  for (const std::int64_t n : {100, 70'000, 2'000'000}) {
    const Array x = random_f64({n}, 1);
    const Array at =
        tracer::astype(square(square(apply(OpId::Multiply, x, weak(1.5)))), DType::Int64);
    tracer::evaluate(at);
    const Array most = reduce(ReduceKind::Max, at, 0);
    const std::int64_t bins = *static_cast<const std::int64_t*>(tracer::data(most)) + 1;
    engine::forget_plans();
    Both r = both([&] { return numpy::combined(OpId::Add, zeros({bins}), at, square(x)); });
    INFO(r.text << n);
    CHECK(r.plan.regions == 1);
    if (n > 1000) CHECK(r.plan.bytes_moved == n * 16 + bins * 8);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("what is in memory is combined by a call") {
  const Array x = random_f64({2'000'000}, 1);
  const Array at = tracer::astype(apply(OpId::Multiply, square(x), weak(3.0)), DType::Int64);
  tracer::evaluate(at);
  Both r = both([&] { return numpy::combined(OpId::Add, zeros({256}), at, x); });
  INFO(r.text);
  CHECK(r.text.find("computed by the library call") != std::string::npos);
}

TEST_CASE("a table goes on from what it has") {
  const Array x = random_f64({1'200'000, 3}, 1);
  const Array at = nearest(x, random_f64({7, 3}, 2));
  for (const OpId fn : {OpId::Add, OpId::Maximum}) {
    const Array table = square(random_f64({7, 3}, 3));
    Both r = both([&] { return numpy::combined(fn, table, at, square(x)); });
    INFO(r.text);
    CHECK(r.fused == r.direct);
  }
}
