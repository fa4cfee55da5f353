// What explain() gathers: the lines and names of a region, what a watched thread evaluates, what is
// computed more than once.
#include "engine/reports/report.hpp"

#include <catch2/catch.hpp>

#include "../../plan/arrays.hpp"

using namespace plait;
using namespace plait::test;

namespace {

std::uint32_t line = 0;

// Sites are numbers of lines, as long as it lives.
struct Lines {
  Lines() {
    engine::start();
    tracer::set_site_hook([] { return line; });
    tracer::set_site_text_hook([](std::uint32_t site) { return "line " + std::to_string(site); });
    config().eager_limit = 0;
    config().plan = PlanMode::Always;
  }
  ~Lines() {
    tracer::set_site_hook(nullptr);
    tracer::set_site_text_hook(nullptr);
  }
};

Array at(std::uint32_t number, OpId fn, const Array& a, const tracer::Operand& b) {
  line = number;
  return apply(fn, a, b);
}

Array ones(const Dims& shape) {
  Array a = tracer::empty(shape, DType::Float64);
  auto* p = static_cast<double*>(tracer::data(a));
  std::fill(p, p + a.size(), 1.0);
  return a;
}

engine::Explanation explained(const Array& a, const engine::Names& names = {}) {
  const std::lock_guard held(tracer::lock());
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  return engine::explained(wanted, {}, names);
}

}  // namespace

TEST_CASE("a region names the lines of its operations and what the caller calls its arrays") {
  const Lines lines;
  const Array x = ones({50000});
  const Array y = at(8, OpId::Multiply, at(7, OpId::Add, x, weak(1)), weak(2));
  const engine::Explanation e = explained(y, {{"x", x}, {"y", y}});
  REQUIRE(e.plan);
  REQUIRE(e.plan->regions.size() == 1);
  const engine::RegionReport& r = e.plan->regions[0];
  CHECK(r.sites == std::vector<std::uint32_t>{7, 8});
  REQUIRE(r.reads.size() == 1);
  CHECK(r.reads[0].name == "x");
  CHECK(r.results[0].name == "y");
  const std::string text = engine::text(e, 1, engine::place_of);
  CHECK_THAT(text,
             Catch::Contains(
                 "region 1: y: multiply float64(50000,)\n  at line 7\n  at line 8\n  reads x\n"));
}

TEST_CASE("a plan that serves other extents is explained with theirs") {
  const Lines lines;
  const auto explained_of = [](std::int64_t n) {
    const Array y = at(2, OpId::Power, ones({n}), ones({n}));
    return explained(y).plan->regions.at(0);
  };
  const engine::RegionReport small = explained_of(20000), large = explained_of(800000);
  CHECK(small.compiled == large.compiled);
  CHECK(small.bytes == 3 * 20000 * 8);
  CHECK(large.bytes == 3 * 800000 * 8);
  CHECK(large.predicted > 10 * small.predicted);
}

TEST_CASE("what is in memory already says so, and where it was made") {
  const Lines lines;
  const Array y = at(3, OpId::Add, ones({50000}), weak(1));
  tracer::evaluate(y);
  const engine::Explanation e = explained(y);
  CHECK_FALSE(e.plan);
  REQUIRE(e.computed.size() == 1);
  CHECK_THAT(engine::text(e, 1, engine::place_of),
             Catch::StartsWith("already in memory: float64(50000,), made at line 3"));
}

TEST_CASE("a watch sees evaluations in order, and where they were asked for") {
  const Lines lines;
  const Array x = ones({50000});
  const Array d = at(1, OpId::Multiply, x, weak(5));
  engine::Watch watch({{"x", x}});
  {
    const Array first = at(2, OpId::Add, d, weak(1));
    line = 3;
    tracer::evaluate(first);
  }
  const Array second = at(4, OpId::Multiply, d, weak(3));
  tracer::evaluate(second);
  REQUIRE(watch.events.size() == 2);
  CHECK(watch.events[0].report.site == 3);
  CHECK(watch.events[0].report.again.empty());
  CHECK(watch.events[0].report.regions[0].compiled);
}

TEST_CASE("a watch sees operations that run one at a time") {
  const Lines lines;
  const Array y = at(2, OpId::Multiply, at(1, OpId::Add, ones({50000}), weak(1)), weak(2));
  engine::Watch watch({});
  config().fuse = false;
  tracer::evaluate(y);
  config().fuse = true;
  REQUIRE(watch.events.size() == 1);
  const engine::Report& r = watch.events[0].report;
  CHECK(r.how == engine::Report::OneAtATime);
  REQUIRE(r.regions.size() == 2);
  CHECK(r.bytes_moved == 4 * 50000 * 8);
}
