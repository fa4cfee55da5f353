// Writes through views: where their memory comes from, and that it is accounted for.
#include <catch2/catch.hpp>

#include "arrays.hpp"
#include "numpy_compat/functions.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("an input that is written between evaluations stays in its memory") {
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  Array x = random_f64({100000}, 1);
  const void* home = tracer::data(x);
  // A tenth of what the loop writes: memory that was handed on must not count as kept alive.
  tracer::set_graph_limit(4096, 8 << 20);
  const auto plans = engine::stats().plans_made;
  for (std::int64_t i = 0; i < 100; ++i) {
    tracer::set_item(x, Dims{i}, scalar_float(static_cast<double>(i)));
    REQUIRE(tracer::item(x, Dims{i}).as<double>() == static_cast<double>(i));
    // Two operations, one region: the graph is not flushed in between.
    Array y = reduce(ReduceKind::Max, apply(OpId::Square, x), 0);
    tracer::evaluate(y);
    REQUIRE(engine::last_plan().regions == 1);
  }
  CHECK(engine::stats().plans_made <= plans + 4);
  CHECK(tracer::data(x) == home);
  tracer::set_graph_limit(4096, std::size_t{1} << 30);
}

TEST_CASE("a stencil on large storage writes behind what it reads, in the same memory") {
  config().eager_limit = 0;
  Array u = random_f64({1000, 300}, 1);
  const void* home = tracer::data(u);
  const tracer::Slice mid{1, -1, {}}, up{{}, -2, {}}, down{2, {}, {}};
  auto step = [&](Array a) {
    tracer::assign(
        view(a, {mid}),
        apply(OpId::Multiply, apply(OpId::Add, view(a, {up}), view(a, {down})), weak(0.5)));
    tracer::evaluate(a);
    return a;
  };
  step(u);
  CHECK(tracer::data(u) == home);
  config().fuse = false;
  const Array expected = step(random_f64({1000, 300}, 1));
  config().fuse = true;
  CHECK(bytes(u) == bytes(expected));
}

TEST_CASE("what was computed before a write to fresh memory reads the memory before it") {
  config().eager_limit = 0;
  const Both b = both([] {
    Array x = random_f64({7}, 3);
    const Array doubled = apply(OpId::Multiply, tracer::astype(x, DType::Float32), weak(2));
    tracer::assign(view(x, {tracer::Slice{0, 2, 1}}), weak(0));
    const Array mask = apply(OpId::Less, random_f64({7}, 4), weak(1e9));
    tracer::evaluate(mask);
    tracer::assign(x, doubled, &mask);
    return x;
  });
  CHECK(b.fused == b.direct);
}

TEST_CASE("what a value outside the plan will be computed from is not overwritten") {
  config().eager_limit = 0;
  const Array mask = apply(OpId::Less, random_f64({7}, 4), weak(1e9));
  tracer::evaluate(mask);
  auto outside = [&] {
    Array x = random_f64({7}, 3), y = apply(OpId::Multiply, x, weak(2));
    tracer::assign(x, apply(OpId::Add, y, weak(3)), &mask);
    const Array z = apply(OpId::Add, y, weak(1));
    y = {};
    tracer::evaluate(x);
    return bytes(z);
  };
  const std::vector<unsigned char> fused = outside();
  config().fuse = false;
  const std::vector<unsigned char> direct = outside();
  config().fuse = true;
  CHECK(fused == direct);
}

namespace {

// y[t] = 0.5 * y[t - 1] + x[t], a step an iteration, from row `first` on; `moved`: the row is read
// so many elements further on.
Array recurrence(const Array& x, std::int64_t moved = 0) {
  const std::int64_t steps = x.shape[0], n = x.shape[1];
  Array y = tracer::full(x.shape, scalar_float(1));
  const auto row = [&](const Array& a, std::int64_t t, std::int64_t from, std::int64_t to) {
    return view(a, {tracer::Slice{t, t + 1, 1}, tracer::Slice{from, to, 1}});
  };
  for (std::int64_t t = 1; t < steps; ++t)
    tracer::assign(row(y, t, moved, n),
                   apply(OpId::Add, apply(OpId::Multiply, row(y, t - 1, 0, n - moved), weak(0.5)),
                         row(x, t, moved, n)));
  return y;
}

}  // namespace

TEST_CASE("a loop in time over rows is one kernel, however many steps it has") {
  for (const std::int64_t steps : {12, 60}) {
    const Both b = both([&] { return recurrence(random_f64({steps, 70}, 5)); });
    CHECK(b.fused == b.direct);
    CHECK(b.plan.regions == 2);
  }
}

TEST_CASE("steps that read what other iterations wrote stay steps") {
  const Both b = both([&] { return recurrence(random_f64({12, 70}, 5), 1); });
  CHECK(b.fused == b.direct);
  CHECK(b.plan.regions >= 12);
}

TEST_CASE("what is written in parts and read by loops has no memory") {
  const Array x = random_f64({300, 310}, 1), y = random_f64({300, 310}, 2);
  const auto one_region = [](const std::function<Array()>& f) {
    const Both r = both(f);
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    CHECK(r.plan.bytes_moved == r.plan.bytes_least);
    CHECK(r.fused == r.direct);
  };
  const auto add = [](const Array& a, const tracer::Operand& b) { return apply(OpId::Add, a, b); };
  const auto roll = [&](std::int64_t shift, std::int64_t axis) {
    return numpy::roll(x, Dims{shift}, Dims{axis});
  };
  one_region([&] { return add(add(roll(1, 0), roll(-1, 0)), add(roll(1, 1), roll(-1, 1))); });
  one_region([&] {
    return add(numpy::roll(x, {1, -1}, Dims{0, 1}), numpy::roll(x, {-2, 1}, Dims{0, 1}));
  });
  for (const std::int64_t axis : {0, 1})
    one_region([&] {
      const Array parts[] = {x, y};
      return apply(OpId::Multiply, numpy::concatenate(parts, axis), weak(2));
    });
  for (const auto mode : {numpy::Padding::Wrap, numpy::Padding::Edge, numpy::Padding::Reflect})
    one_region([&] {
      const Array p = numpy::pad(x, {1}, mode);
      return add(view(p, {tracer::Slice{1, -1, {}}, tracer::Slice{{}, -2, {}}}),
                 view(p, {tracer::Slice{2, {}, {}}, tracer::Slice{1, -1, {}}}));
    });
  const Array line = random_f64({100000}, 3);
  one_region(
      [&] { return add(numpy::roll(line, {1}, Dims{0}), numpy::roll(line, {-1}, Dims{0})); });
  // Both fields of a step in time are roots of one region, and the next step is another.
  const Both steps = both([&] {
    const auto around = [&](const Array& z) {
      const Array rows = add(numpy::roll(z, {1}, Dims{0}), numpy::roll(z, {-1}, Dims{0}));
      return add(rows, add(numpy::roll(z, {1}, Dims{1}), numpy::roll(z, {-1}, Dims{1})));
    };
    Array u = x, v = y;
    for (int step = 0; step < 2; ++step) {
      const Array r = apply(OpId::Multiply, u, v), next = add(around(u), r);
      v = apply(OpId::Subtract, around(v), r);
      u = next;
    }
    return apply(OpId::Multiply, u, v);
  });
  INFO(steps.text);
  CHECK(steps.plan.regions == 2);
  CHECK(steps.fused == steps.direct);
  // To choose among many costs more than to store them.
  const Both many = both([&] {
    std::vector<Array> parts;
    for (int i = 0; i < 20; ++i) parts.push_back(add(x, weak(i)));
    return apply(OpId::Multiply, numpy::stack(parts, 0), weak(2));
  });
  INFO(many.text);
  CHECK(many.plan.regions > 1);
  CHECK(many.fused == many.direct);
}
