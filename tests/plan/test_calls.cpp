// Calls between regions: what stands before one ends in its operands, what stands after reads its
// results, and all of it is one plan.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "fusion/graph/graph.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;

namespace {
std::vector<Array> frexp(const Array& a) {
  return tracer::call(CallId::Frexp, std::span(&a, 1), {});
}
}  // namespace

TEST_CASE("a call between two regions is three steps of one plan") {
  const Array a = random_f64({300, 200}, 1);
  for (const std::int64_t axis : {0, 1}) {
    Both r = both([&] {
      const Array before = apply(OpId::Multiply, apply(OpId::Add, a, a), weak(0.5));
      // No region folds by it.
      const Array c = tracer::accumulate(OpId::Hypot, before, axis);
      return apply(OpId::Subtract, apply(OpId::Sqrt, apply(OpId::Absolute, c)), weak(1.0));
    });
    INFO(r.text);
    CHECK(r.plan.regions == 3);
    CHECK(r.plan.bytes_moved == 6 * 300 * 200 * 8);
    CHECK(r.text.find("accumulate hypot") != std::string::npos);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("both results of a call are read from one run of it") {
  const Array a = random_f64({1000, 30}, 1);
  Both r = both([&] {
    const auto parts = frexp(apply(OpId::Multiply, a, weak(3.0)));
    return apply(OpId::Multiply, parts[0], parts[1]);
  });
  INFO(r.text);
  CHECK(r.plan.regions == 3);
  CHECK(r.fused == r.direct);
}

TEST_CASE("a result that is asked for is not copied, and the others stay") {
  const Array a = random_f64({100000}, 1);
  config().eager_limit = 0;
  const auto parts = frexp(a);
  tracer::evaluate(parts[1]);
  CHECK(engine::last_plan().regions == 1);
  const Ref<tracer::Node> other = tracer::read(parts[0]), same = tracer::read(parts[1]);
  CHECK(same->materialised());
  CHECK(other->inputs[0]->data == same->data);
}

TEST_CASE("a held result keeps its call's block when another graph computes it") {
  const Array a = random_f64({100000}, 1);
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  const auto parts = frexp(a);
  const Array sum = reduce(ReduceKind::Sum, parts[0], 0);
  tracer::evaluate(sum);
  // The block is there: what follows is one region.
  const Array twice = apply(OpId::Add, parts[1], parts[1]);
  tracer::evaluate(twice);
  CHECK(engine::last_plan().regions == 1);
}

TEST_CASE("results of one call are written to apart from each other") {
  const Array a = random_f64({1000}, 1);
  config().eager_limit = 0;
  const auto parts = frexp(a);
  const auto exponents = bytes(parts[1]);
  tracer::assign(parts[0], tracer::Operand(scalar_float(7), Weak::Float));
  CHECK(bytes(parts[1]) == exponents);
  const auto* p = static_cast<const double*>(tracer::data(parts[0]));
  CHECK(p[0] == 7);
  CHECK(p[999] == 7);
}

TEST_CASE("a call of nothing") {
  const Array a = tracer::empty({0, 3}, DType::Float32);
  const auto parts = frexp(a);
  CHECK(bytes(parts[1]).empty());
  CHECK(bytes(tracer::accumulate(OpId::Add, a, 0)).empty());
}

namespace {
std::string key_of(const std::vector<Array>& wanted) {
  std::vector<Ref<tracer::Node>> nodes;
  std::vector<tracer::Node*> of;
  for (const Array& a : wanted) of.push_back(nodes.emplace_back(tracer::read(a)).get());
  return fusion::Graph(of).key();
}
}  // namespace

TEST_CASE("the numbers of a call are whole in the key of its plan") {
  config().eager_limit = 0;
  const Array a = tracer::astype(random_f64({50}, 1), DType::Int64);
  const auto bins = [&](std::int64_t below) {
    return key_of({tracer::call(CallId::Bincount, std::span(&a, 1), {.numbers = {below}})[0]});
  };
  CHECK((bins(3) == bins(3)));
  CHECK_FALSE((bins(3) == bins(4)));
  CHECK_FALSE((bins(3) == bins(3 + 256)));
  CHECK_FALSE((bins(3) == bins(3 + (1 << 20))));
}

TEST_CASE("a key has room for every axis of what its views show") {
  config().eager_limit = 0;
  const auto key = [](int axes) {
    const Array x = random_f64(Dims(axes, 1), 1);
    std::vector<Array> all;
    for (int i = 0; i < 40; ++i)
      all.push_back(tracer::reshape(apply(OpId::Add, x, weak(i)), Dims{1}));
    return key_of(all);
  };
  CHECK(key(64).size() >= key(2).size() + 40 * 62);
}
