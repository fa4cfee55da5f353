// The walk over a plan's steps, on an executor of the tests' own.
#include "engine/plans/plan_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "../../plan/arrays.hpp"
#include "tracer/calls.hpp"
#include "tracer/evaluation_scope.hpp"

using namespace plait;
using namespace plait::engine;
using namespace plait::test;

namespace {

// Says what it is asked for. A region without code is the reference evaluator's.
class Asked final : public Executor {
 public:
  Asked(Bindings& b, RecordedGraph& r, bool has_code)
      : bindings_(b), recording_(r), has_code_(has_code) {}
  std::vector<std::string> calls;

  void prepare(fusion::Plan& p) override {
    calls.emplace_back("prepare");
    take_kernels(p);
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
  bool has_code(const fusion::Step& s) const override { return has_code_ || s.operation; }
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
  unsigned compute(const BoundStep& s) override {
    calls.emplace_back("compute");
    return compute_operation(
        *s.operation, bindings_.memory(s.roots[0].node).at(), true,
        [&](std::int32_t node) -> const NodeMemory& { return bindings_.memory(node); });
  }
  void run_elsewhere(const BoundStep& s) override {
    calls.emplace_back("elsewhere");
    for (const Root& r : s.roots) {
      const NodeMemory m =
          recording_.evaluate_apart(r.node, [](const Ref<Buffer>& b) { return b; });
      bindings_.memory(r.node) = m;
      recording_.keep_as_recorded(r, m);
    }
  }

 private:
  Bindings& bindings_;
  RecordedGraph& recording_;
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
  Bindings bindings(*plan, run_inputs(g, *plan, values), kHost);
  RecordedGraph recording(g, bindings, plan->canon);
  Asked executor(bindings, recording, has_code);
  Values of_run(bindings, recording);
  PlanRun(*plan, bindings, executor, recording, of_run).run();
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
  CHECK(calls_for(x, false) == Calls{"prepare", "step", "elsewhere"});
  CHECK(bytes(x) == bytes(y));
}

namespace {

// Nobody who records: values stay in the bindings.
class Unrecorded final : public Recording {
 public:
  void keep(const Root&, const NodeMemory&) override {}
  void give_up(std::int32_t) override {}
  void secure(const Root&, const NodeMemory&) override {}
  void let_go(std::vector<std::int32_t>&) override {}
  NodeMemory give_memory(std::int32_t) override { return {}; }
  void report(const BoundStep&, fusion::UpdateMode, unsigned) override {}
  bool heard_alike(const BoundStep&) const override { return true; }
  void report(std::int32_t, std::string_view, unsigned) override {}
  std::uint32_t site(std::int32_t) const override { return 0; }
  NodeMemory evaluate_apart(std::int32_t, const ToHost&) override { return {}; }
  NodeMemory viewed(std::int32_t) const override { return {}; }
  void keep_as_recorded(const Root&, const NodeMemory&) override {}
  std::string_view operation(std::int32_t) const override { return {}; }
  void describe(const BoundStep&, timeline::Span&) const override {}
};

Ref<Buffer> copy_of(const Buffer& b) {
  Ref<Buffer> copy = plait::allocate(b.bytes);
  std::memcpy(copy->data, b.data, b.bytes);
  return copy;
}

using NodeRef = Ref<tracer::Node>;

// A plan of `make`'s value and the tables that it runs on, with nothing of the graph that they were
// taken from.
struct Apart {
  std::shared_ptr<fusion::Plan> plan;
  RunInputs given;
  std::int32_t wanted = -1;
};
Apart apart(NodeRef (*make)()) {
  const std::lock_guard held(tracer::lock());
  const NodeRef node = make();
  tracer::Node* wanted[] = {node.get()};
  const tracer::EvaluationScope scope(wanted);
  const fusion::Graph g(wanted);
  Apart p{fusion::make_plan(g, host_target()), {}, {}};
  std::vector<std::int64_t> values;
  REQUIRE(fusion::bind(*p.plan, g, values));
  p.given.values = values;
  for (const fusion::Step& s : p.plan->steps)
    for (const std::int32_t n : s.lowered.scalars) p.given.scalars.push_back(g[n].node->scalar);
  for (std::int32_t i = 0; i < g.size(); ++i) {
    Slot slot;
    if (g[i].leaf && g[i].node->data)
      slot.memory = {copy_of(*g[i].node->data), g[i].node->data_offset};
    p.given.slots.push_back(slot);
    if (g[i].wanted) p.wanted = i;
  }
  return p;
}

NodeRef of(const Array& a) { return tracer::read(a); }
Array square(unsigned seed) { return random_f64({60, 60}, seed); }
Array with_call(CallId call, const Array& on, const Dims& numbers, OpId fn = OpId::Count_) {
  return tracer::call(call, std::span(&on, 1), {numbers, {}, fn})[0];
}
// Calls that may raise are computed before their caller goes on: this one is not.
NodeRef solution() {
  const Array a = square(1), b = square(2);
  NodeRef n = tracer::new_node(tracer::NodeKind::Call);
  n->call = CallId::Solve;
  n->dtype = DType::Float64;
  n->shape = b.shape;
  n->strides = b.strides;
  n->n_inputs = 2;
  n->inputs[0] = of(a);
  n->inputs[1] = of(b);
  return n;
}

}  // namespace

TEST_CASE("a plan runs on bindings when its graph is gone") {
  const Recorded recorded;
  struct Program {
    const char* name;
    bool operation;  // not regions alone
    NodeRef (*make)();
  };
  const Program programs[] = {
      {"a region", false, [] { return of(scaled(random_f64({1000}))); }},
      {"a product", true,
       [] { return of(scaled(matmul(random_f64({3, 5}), random_f64({5, 4}, 2)))); }},
      {"a product of views", true,
       [] {
         return of(matmul(transpose(square(1)), view(square(2), {tracer::Slice{{}, {}, -1}})));
       }},
      {"a sort", true,
       [] { return of(scaled(with_call(CallId::Sort, scaled(square(1)), {1, 0}))); }},
      {"a cumulative sum", false,
       [] { return of(with_call(CallId::Accumulate, scaled(square(1)), {0}, OpId::Add)); }},
      {"a system of equations", true, solution},
      {"a call with several results", true,
       [] { return of(scaled(with_call(CallId::Frexp, scaled(square(1)), {}))); }},
      {"an update in place", false,
       [] {
         const Array x = scaled(random_f64({500}));
         tracer::evaluate(x);
         tracer::assign(view(x, {tracer::Slice{1, 9, {}}}),
                        view(random_f64({64}, 3), {tracer::Slice{20, 28, {}}}));
         return of(x);
       }},
      {"a cut reduction", false,
       [] { return of(reduce(ReduceKind::Sum, scaled(random_f64({300000})), 0)); }},
  };
  for (const Program& program : programs) {
    INFO(program.name);
    const std::lock_guard held(tracer::lock());
    const NodeRef expected = program.make();
    tracer::Node* const wanted[] = {expected.get()};
    tracer::evaluator().evaluate(wanted);
    Apart p = apart(program.make);
    const auto& steps = p.plan->steps;
    CHECK(program.operation == std::any_of(steps.begin(), steps.end(), [](const fusion::Step& s) {
            return s.operation.has_value();
          }));
    const tracer::EvaluationScope alone(tracer::EvaluationScope::LockWhileRunning::Kept);
    Unrecorded nobody;
    Bindings bindings(*p.plan, std::move(p.given), kHost);
    run_on_host(*p.plan, bindings, nobody);
    const NodeMemory& result = bindings.memory(p.wanted);
    REQUIRE(result);
    const auto size =
        static_cast<std::size_t>(element_count(expected->shape)) * itemsize(expected->dtype);
    CHECK(std::memcmp(result.at(), expected->data->data + expected->data_offset, size) == 0);
  }
}
