// What a graph costs as it grows: shared sub-expressions and long chains, in planning and in what
// the plan does. Nothing is timed: what is exponential does not end.
#include <catch2/catch.hpp>
#include <functional>

#include "arrays.hpp"
#include "fusion/graph.hpp"
#include "fusion/plan.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

namespace {

const tracer::Slice low{{}, -1, {}}, high{1, {}, {}};

struct Growth {
  const char* name;
  std::function<Array(const Array&)> step;
};
// Values that their successors read twice and more, in place and at other indices.
std::vector<Growth> doublings() {
  return {
      {"x + x", [](const Array& x) { return apply(OpId::Add, x, x); }},
      {"max(x, x / 2)",
       [](const Array& x) { return apply(OpId::Maximum, x, apply(OpId::Multiply, x, weak(0.5))); }},
      {"sqrt(x) * x",
       [](const Array& x) { return apply(OpId::Multiply, apply(OpId::Sqrt, x), x); }},
      {"x + x.T", [](const Array& x) { return apply(OpId::Add, x, tracer::transpose(x)); }},
      {"neighbours",
       [](const Array& x) { return apply(OpId::Add, view(x, {low, low}), view(x, {high, high})); }},
      {"x / rows",
       [](const Array& x) { return apply(OpId::Divide, x, reduce(ReduceKind::Sum, x, 1, true)); }},
      {"x / columns",
       [](const Array& x) { return apply(OpId::Divide, x, reduce(ReduceKind::Sum, x, 0)); }},
      {"x / everything",
       [](const Array& x) { return apply(OpId::Divide, x, tracer::reduce(ReduceKind::Sum, x)); }},
  };
}

// Loops of a caller that carry a value from step to step, which something else reads at each.
struct Loop {
  const char* name;
  std::function<std::vector<Array>(int steps)> run;
};
tracer::Slice low32() { return {0, 32, {}}; }
Array mul(const Operand& a, const Operand& b) { return apply(OpId::Multiply, a, b); }
Array add(const Operand& a, const Operand& b) { return apply(OpId::Add, a, b); }
Array tanh(const Array& a) { return apply(OpId::Tanh, a); }
std::vector<Loop> loops() {
  const auto gate = [](const Array& z, std::int64_t which) {
    const Array g = view(z, {tracer::All{}, tracer::Slice{32 * which, 32 * which + 32, {}}});
    return add(mul(tanh(mul(g, weak(0.5))), weak(0.5)), weak(0.5));
  };
  return {
      {"a recurrent layer",
       [](int steps) {
         Array h = random_f64({64, 32}), v = random_f64({32, 32}), c = random_f64({64, 32});
         for (int t = 0; t < steps; ++t) {
           c = add(mul(c, weak(0.9)), tanh(tracer::matmul(h, v)));
           h = tanh(c);
         }
         return std::vector{h};
       }},
      {"a layer with gates",
       [=](int steps) {
         Array h = random_f64({64, 32}), v = random_f64({32, 96}), c = random_f64({64, 32});
         for (int t = 0; t < steps; ++t) {
           const Array z = tracer::matmul(h, v);
           c = add(mul(gate(z, 0), c), mul(gate(z, 1), tanh(view(z, {tracer::All{}, low32()}))));
           h = mul(gate(z, 2), tanh(c));
         }
         return std::vector{h};
       }},
      {"momentum",
       [](int steps) {
         Array w = random_f64({64, 64}), x = random_f64({64, 64}), v = random_f64({64, 64});
         for (int t = 0; t < steps; ++t) {
           v = add(mul(v, weak(0.9)), tracer::matmul(x, w));
           w = apply(OpId::Subtract, w, mul(v, weak(0.01)));
         }
         return std::vector{w};
       }},
      {"a filter that writes its output",
       [](int steps) {
         Array s = random_f64({500}), x = random_f64({64, 500}), y = tracer::copy(x);
         for (std::int64_t t = 0; t < steps; ++t) {
           s = add(mul(s, weak(0.9)), apply(OpId::Exp, view(x, {t % 64})));
           tracer::assign(view(y, {t % 64}), s);
         }
         return std::vector{y};
       }},
      {"a state less its columns' means",
       [](int steps) {
         Array h = random_f64({64, 32}), c = random_f64({64, 32});
         for (int t = 0; t < steps; ++t) {
           const Array mean = mul(reduce(ReduceKind::Sum, h, 0), weak(1. / 64));
           c = add(mul(c, weak(0.9)), apply(OpId::Subtract, h, mean));
           h = tanh(c);
         }
         return std::vector{h};
       }},
      {"a state whose every value is kept",
       [](int steps) {
         std::vector<Array> kept;
         Array s = random_f64({500});
         for (int t = 0; t < steps; ++t) {
           s = apply(OpId::Sin, add(s, weak(1)));
           kept.push_back(tanh(s));
         }
         return kept;
       }},
  };
}

struct Done {
  double operations = 0, bytes = 0;
};
Done done(const std::vector<Array>& asked) {
  std::vector<Ref<tracer::Node>> nodes;
  std::vector<tracer::Node*> wanted;
  for (const Array& a : asked) wanted.push_back(nodes.emplace_back(tracer::read(a)).get());
  const auto plan = fusion::make_plan(fusion::Graph(wanted));
  Done c{0, static_cast<double>(plan->bytes_moved)};
  for (const fusion::Step& s : plan->steps) c.operations += s.lowered.work;
  return c;
}

std::vector<Growth> endings() {
  std::vector<Growth> all{
      {"nothing", [](const Array& x) { return x; }},
      {"sqrt", [](const Array& x) { return apply(OpId::Sqrt, x); }},
      {"argmin of the root",
       [](const Array& x) { return reduce(ReduceKind::ArgMin, apply(OpId::Sqrt, x), 1); }},
      {"norm",
       [](const Array& x) {
         return apply(OpId::Sqrt, tracer::reduce(ReduceKind::Sum, apply(OpId::Multiply, x, x)));
       }},
      {"product with itself", [](const Array& x) { return tracer::matmul(x, x); }},
  };
  for (ReduceKind k : {ReduceKind::Sum, ReduceKind::Min, ReduceKind::Prod})
    for (std::int64_t axis : {0, 1})
      all.push_back(
          {reduce_info(k).name.data(), [=](const Array& x) { return reduce(k, x, axis); }});
  return all;
}

}  // namespace

TEST_CASE("forty doublings of a value are planned as fast as any forty operations") {
  for (const Growth& doubling : doublings())
    for (const Growth& ending : endings()) {
      INFO("forty times " << doubling.name << ", then " << ending.name);
      const Both r = both([&] {
        Array x = apply(OpId::Absolute, random_f64({64, 64}));
        for (int i = 0; i < 40; ++i) x = doubling.step(x);
        return ending.step(x);
      });
      CHECK(r.fused.size() == r.direct.size());
    }
}

TEST_CASE("the doublings of a value are computed as they are one at a time") {
  for (const Growth& ending : endings()) {
    INFO(ending.name);
    const Both r = both([&] {
      Array x = apply(OpId::Absolute, random_f64({64, 64}));
      for (int i = 0; i < 40; ++i) x = apply(OpId::Add, x, x);
      return ending.step(x);
    });
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("a chain of a hundred thousand operations needs no stack") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  tracer::set_graph_limit(1 << 20, std::size_t{1} << 30);
  const auto chain = [](bool fused) {
    Array x = random_f64({20});
    for (int i = 0; i < 50000; ++i)
      x = apply(OpId::Add, apply(OpId::Multiply, x, weak(0.5)), weak(i % 7));
    config().fuse = fused;
    tracer::evaluate(x);
    config().fuse = true;
    return bytes(x);
  };
  CHECK(chain(true) == chain(false));
  tracer::set_graph_limit(4096, std::size_t{1} << 30);
}

TEST_CASE("twice the steps of a loop are twice the work") {
  engine::start();
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  for (const Loop& loop : loops()) {
    const Done some = done(loop.run(30)), twice = done(loop.run(60)), thrice = done(loop.run(90));
    INFO(loop.name << ": " << some.operations << ", " << twice.operations << ", "
                   << thrice.operations << " operations, " << some.bytes << ", " << twice.bytes
                   << ", " << thrice.bytes << " bytes");
    CHECK(twice.operations <= 2.1 * some.operations);
    CHECK(thrice.operations <= 3.1 * some.operations);
    CHECK(twice.bytes <= 2.1 * some.bytes);
    CHECK(thrice.bytes <= 3.1 * some.bytes);
  }
}

TEST_CASE("what a loop carries is the value it is one operation at a time") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  for (const Loop& loop : loops()) {
    const auto value = [&](bool fused) {
      std::vector<Array> asked = loop.run(30);
      config().fuse = fused;
      tracer::evaluate(asked);
      config().fuse = true;
      std::vector<std::vector<unsigned char>> all;
      for (const Array& a : asked) all.push_back(bytes(a));
      return all;
    };
    INFO(loop.name);
    CHECK(value(true) == value(false));
  }
}
