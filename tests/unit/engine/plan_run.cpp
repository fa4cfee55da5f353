// The walk over a plan's steps, on an executor of the tests' own.
#include "engine/plans/plan_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../../plan/arrays.hpp"
#include "tracer/evaluation_scope.hpp"

using namespace plait;
using namespace plait::engine;
using namespace plait::test;

namespace {

// Says what it is asked for. A step without code is the reference evaluator's.
class Asked final : public Executor {
 public:
  Asked(Recording& r, bool has_code) : recording_(r), has_code_(has_code) {}
  std::vector<std::string> calls;

  void prepare(fusion::Plan& p) override {
    calls.emplace_back("prepare");
    for (fusion::Step& s : p.steps) take_kernel(s);
  }
  void look_around() override { calls.emplace_back("step"); }
  Ref<Buffer> allocate(std::size_t bytes) override {
    calls.emplace_back("bytes");
    return plait::allocate(bytes);
  }
  Ref<Buffer> allocate(const Dims& shape, DType t) override {
    calls.emplace_back("array");
    return plait::allocate(static_cast<std::size_t>(element_count(shape)) * itemsize(t));
  }
  void copy(std::byte* to, const std::byte* from, const Stretches& s) override {
    calls.emplace_back("copy");
    for (std::int64_t i = 0; i < s.count; ++i)
      std::memcpy(to + i * s.pitch, from + i * s.pitch, static_cast<std::size_t>(s.bytes));
  }
  void overwrites(Buffer&) override { calls.emplace_back("overwrites"); }
  bool has_code(const fusion::Step& s) const override {
    return has_code_ && s.kind == fusion::StepKind::Kernel;
  }
  const AxisCut& cut(const BoundStep& s) override {
    calls.emplace_back("cut");
    cut_.chunks = chunks_of(s);
    return cut_;
  }
  fusion::UpdateMode begin(const Region& r) override { return r.of.step.update; }
  unsigned launch(const Region& r) override {
    calls.emplace_back("launch");
    return static_cast<CompiledKernel*>(r.of.step.compiled.get())->run(r.args(), r.extent, 0, {});
  }
  void join(const Region& r, const PartialResults& p) override {
    calls.emplace_back("join");
    join_partials(r.cut->chunks, p.of.kind, p.of.dtype, p.outputs, p.rows);
    std::memcpy(p.out, p.rows, static_cast<std::size_t>(p.outputs) * itemsize(p.of.dtype));
  }
  void call(const BoundStep& s) override {
    calls.emplace_back("call");
    recording_.evaluate(s);
  }

 private:
  Recording& recording_;
  const bool has_code_;
  AxisCut cut_;
};

std::vector<std::string> calls_for(const Array& a, bool has_code = true) {
  const std::lock_guard held(tracer::lock());
  const Ref<tracer::Node> node = tracer::read(a);
  tracer::Node* wanted[] = {node.get()};
  const tracer::EvaluationScope turn(wanted);
  const fusion::Graph g(wanted);
  std::vector<Ref<tracer::Node>> alive;
  for (const fusion::GNode& n : g.nodes) alive.emplace_back(n.node);
  std::vector<std::int64_t> values;
  const std::shared_ptr<fusion::Plan> plan = fusion::make_plan(g, host_target());
  REQUIRE(fusion::bind(*plan, g, values));
  Bindings bindings(g, *plan, values, kHost);
  Recording recording(g, bindings);
  Asked executor(recording, has_code);
  PlanRun(*plan, bindings, executor, recording).run();
  return executor.calls;
}

struct Recorded {
  const std::int64_t before = config().eager_limit;
  Recorded() {
    engine::start();
    config().eager_limit = 0;
  }
  ~Recorded() { config().eager_limit = before; }
};

using Calls = std::vector<std::string>;
Array scaled(const Array& a) {
  return apply(OpId::Add, apply(OpId::Multiply, a, weak(3)), weak(1));
}

}  // namespace

TEST_CASE("a region is launched on memory of the executor, with its own scalars") {
  const Recorded recorded;
  const Array a = random_f64({1000}), x = scaled(a), y = scaled(a);
  tracer::evaluate(y);
  CHECK(calls_for(x) == Calls{"prepare", "step", "array", "launch"});
  CHECK(bytes(x) == bytes(y));
}

TEST_CASE("a long reduction is cut, launched on chunks and joined") {
  const Recorded recorded;
  const Array a = random_f64({300000});
  const Array x = reduce(ReduceKind::Sum, scaled(a), 0), y = reduce(ReduceKind::Sum, scaled(a), 0);
  tracer::evaluate(y);
  CHECK(calls_for(x) == Calls{"prepare", "step", "cut", "bytes", "array", "launch", "join"});
  CHECK(bytes(x) == bytes(y));
}

TEST_CASE("an update copies what is left of contents that others still read") {
  const Recorded recorded;
  const Array from = random_f64({64}, 3), x = apply(OpId::Sqrt, from);
  tracer::evaluate(x);
  const Array reader = apply(OpId::Absolute, x);
  tracer::assign(view(x, {tracer::Slice{1, 9, {}}}), view(from, {tracer::Slice{20, 28, {}}}));
  const Calls calls = calls_for(x);
  CHECK(std::count(calls.begin(), calls.end(), "copy") > 0);
  CHECK(std::count(calls.begin(), calls.end(), "overwrites") == 0);
  const auto* after = static_cast<const double*>(tracer::data(x));
  const auto* before = static_cast<const double*>(tracer::data(from));
  CHECK(after[1] == before[20]);
  CHECK(std::isnan(after[63]) == (before[63] < 0));
}

TEST_CASE("a step without code is called, and its value comes back") {
  const Recorded recorded;
  const Array a = random_f64({1000}), x = scaled(a), y = scaled(a);
  tracer::evaluate(y);
  CHECK(calls_for(x, false) == Calls{"prepare", "step", "call"});
  CHECK(bytes(x) == bytes(y));
}
