// Scans with what stands around them: one region where that spares memory, a call where not.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "engine/plans/run.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::Slice;

namespace {

Array sums(const Array& a, std::int64_t axis) { return tracer::accumulate(OpId::Add, a, axis); }
Array half(const Array& a) { return apply(OpId::Multiply, a, weak(0.5)); }
Array moving(const Array& c, std::int64_t by) {
  return half(apply(OpId::Subtract, view(c, {All{}, Slice{by, {}, {}}}),
                    view(c, {All{}, Slice{{}, -by, {}}})));
}

}  // namespace

TEST_CASE("what stands elementwise in front of a scan and behind it is one region") {
  const Array a = random_f64({300, 200}, 1);
  for (const std::int64_t axis : {0, 1}) {
    Both r =
        both([&] { return apply(OpId::Subtract, sums(half(apply(OpId::Add, a, a)), axis), a); });
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    CHECK(r.plan.bytes_moved == 2 * 300 * 200 * 8);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("scans of one axis, one of another's differences, are one loop") {
  const Array a = random_f64({300, 200}, 1);
  Both r = both([&] {
    const Array c = sums(a, 1);
    return half(apply(OpId::Subtract, tracer::accumulate(OpId::Maximum, c, 1), c));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("what reads a scan further along its axis waits for a window of it") {
  for (const std::int64_t n : {60, 2048, 2049, 5000})
    for (const std::int64_t by : {1, 50}) {
      const Array a = random_f64({70, n}, 1);
      engine::forget_plans();
      Both r = both([&] { return moving(sums(half(a), 1), by); });
      INFO(r.text << n << " by " << by);
      CHECK(r.plan.regions == 1);
      CHECK(r.plan.bytes_moved == 70 * (2 * n - by) * 8);
      CHECK(r.fused == r.direct);
    }
}

TEST_CASE("a window as wide as is asked for needs no other plan") {
  const Array a = random_f64({70, 5000}, 1);
  engine::forget_plans();
  for (const std::int64_t by : {200, 2500, 4000, 150}) {
    Both r = both([&] { return moving(sums(half(a), 1), by); });
    INFO(r.text << by);
    CHECK(r.plan.regions == 1);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("a scan by itself is a call, as are scans of two axes") {
  const Array a = random_f64({300, 200}, 1);
  Both alone = both([&] { return sums(a, 1); });
  INFO(alone.text);
  CHECK(alone.text.find("accumulate add") != std::string::npos);
  Both image = both([&] { return half(sums(sums(apply(OpId::Add, a, a), 0), 1)); });
  INFO(image.text);
  CHECK(image.fused == image.direct);
}

TEST_CASE("what a reduction reads of a scan is in memory") {
  const Array a = random_f64({300, 200}, 1);
  Both r = both([&] { return reduce(ReduceKind::Max, apply(OpId::Add, sums(half(a), 0), a), 0); });
  INFO(r.text);
  CHECK(r.plan.regions == 2);
  CHECK(r.fused == r.direct);
}

TEST_CASE("a long line's expensive neighbours go to all threads") {
  const Array a = random_f64({1 << 20}, 1);
  Both r = both([&] { return sums(apply(OpId::Exp, a), 0); });
  INFO(r.text);
  CHECK(r.plan.regions == 2);
  CHECK(r.fused == r.direct);
}
