// What a graph costs as it grows: shared sub-expressions and long chains, in planning and in what
// the plan does. Nothing is timed: what is exponential does not end.
#include <catch2/catch.hpp>
#include <functional>

#include "arrays.hpp"
#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

namespace {

const tracer::Slice low{{}, -1, {}}, high{1, {}, {}};

Array where(const Operand& condition, const Operand& a, const Operand& b) {
  const Operand in[] = {condition, a, b};
  return tracer::elementwise(OpId::Where, in);
}
// Of a square array, with zeros around it.
Array neighbours_padded(const Array& x) {
  const std::int64_t n = x.shape[0];
  const Array larger = tracer::full({n + 2, n + 2}, scalar_float(0));
  const tracer::Slice inside{1, n + 1, {}};
  tracer::assign(view(larger, {inside, inside}), x);
  Array sum;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const tracer::Slice down{i, n + i, {}}, across{j, n + j, {}};
      const Array one = apply(OpId::Multiply, view(larger, {down, across}), weak(0.1));
      sum = i + j == 0 ? one : apply(OpId::Add, sum, one);
    }
  return sum;
}

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
      {"neighbours in a larger array", neighbours_padded},
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
      {"a stencil of what was padded",
       [](int steps) {
         Array a = random_f64({64, 64});
         for (int t = 0; t < steps; ++t) a = neighbours_padded(a);
         return std::vector{a};
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
  double operations = 0, bytes = 0, expressions = 0;
};
Done done(const std::vector<Array>& asked) {
  std::vector<Ref<tracer::Node>> nodes;
  std::vector<tracer::Node*> wanted;
  for (const Array& a : asked) wanted.push_back(nodes.emplace_back(tracer::read(a)).get());
  const auto plan = fusion::make_plan(fusion::Graph(wanted));
  Done c{0, static_cast<double>(plan->bytes_moved), static_cast<double>(plan->exprs.size())};
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

TEST_CASE("doublings around an attention are looked through as fast as any operations") {
  const Array q = random_f64({300, 32}, 1), k = random_f64({520, 32}, 2),
              v = random_f64({520, 32}, 3);
  using Step = std::function<Array(const Array&)>;
  const auto forty = [](Array x, const Step& step) {
    for (int i = 0; i < 40; ++i) x = step(x);
    return x;
  };
  const Step twice = [](const Array& x) { return add(x, x); };
  const Array some = apply(OpId::Greater, random_f64({300, 1}, 4), weak(0));
  const Step chosen = [&](const Array& x) { return where(some, x, x); };
  const Step either = [](const Array& m) { return apply(OpId::LogicalAnd, m, m); };
  const auto indices = [](std::int64_t n) {
    return tracer::arange(n, scalar_int(0), scalar_int(1));
  };
  const auto attention = [&](const Step& of_scores, const Step& of_weights, const Step& of_indices,
                             const Step& of_mask) {
    const Array rows = of_indices(tracer::expand_dims(indices(300), Dims{-1}));
    const Array mask = of_mask(apply(OpId::GreaterEqual, rows, of_indices(indices(520))));
    Array s = of_scores(tracer::matmul(q, tracer::transpose(k)));
    s = where(mask, s, weak(-1e30));
    const Array e =
        of_weights(apply(OpId::Exp, apply(OpId::Subtract, s, reduce(ReduceKind::Max, s, 1, true))));
    return tracer::matmul(apply(OpId::Divide, e, reduce(ReduceKind::Sum, e, 1, true)), v);
  };
  const Step same = [](const Array& x) { return x; };
  const auto times = [&](const Step& step) {
    return [&, step](const Array& x) { return forty(x, step); };
  };
  for (const auto& make : std::vector<std::function<Array()>>{
           [&] { return attention(times(chosen), same, same, same); },
           [&] { return attention(same, times(chosen), same, same); },
           [&] { return attention(same, same, times(twice), same); },
           [&] { return attention(same, same, same, times(either)); }}) {
    const Both r = both(make);
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
    const Done some = done(loop.run(60)), twice = done(loop.run(120)), thrice = done(loop.run(180));
    INFO(loop.name << ": " << some.operations << ", " << twice.operations << ", "
                   << thrice.operations << " operations, " << some.bytes << ", " << twice.bytes
                   << ", " << thrice.bytes << " bytes, " << some.expressions << ", "
                   << twice.expressions << ", " << thrice.expressions << " expressions");
    CHECK(twice.operations <= 2.1 * some.operations);
    CHECK(thrice.operations <= 3.1 * some.operations);
    CHECK(twice.bytes <= 2.1 * some.bytes);
    CHECK(thrice.bytes <= 3.1 * some.bytes);
    CHECK(thrice.expressions <= 4 * some.expressions);
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
