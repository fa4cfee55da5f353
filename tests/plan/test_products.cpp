// Matrix products with what stands before and after them: one region, nothing of it in memory, and
// within the products' tolerance of the operations one at a time.
#include <catch2/catch.hpp>
#include <functional>

#include "close.hpp"
#include "fusion/plan.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::matmul;
using tracer::NewAxis;

namespace {

Array gelu(const Array& h) {
  const Array cube = apply(OpId::Multiply, apply(OpId::Multiply, h, h), h);
  const Array inner = apply(OpId::Add, h, apply(OpId::Multiply, cube, weak(0.044715)));
  const Array t = apply(OpId::Tanh, apply(OpId::Multiply, inner, weak(0.7978845608)));
  return apply(OpId::Multiply, apply(OpId::Multiply, h, weak(0.5)), apply(OpId::Add, t, weak(1)));
}

}  // namespace

TEST_CASE("a layer with bias and GELU is one region") {
  for (const auto& [m, k, n] : {std::tuple{300, 100, 200}, {130, 600, 1030}, {20000, 20, 33}}) {
    const Array x = random_f32({m, k}, 1), w = random_f32({k, n}, 2), b = random_f32({n}, 3);
    const Both r = both([&] { return gelu(apply(OpId::Add, matmul(x, w), b)); });
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    CHECK(r.plan.bytes_moved == r.plan.bytes_least);
    check_close(r, 2000);
  }
}

TEST_CASE("casts in front of a product are read through") {
  const auto narrow = [](const Dims& shape, int seed, DType t) {
    const Array a = tracer::astype(apply(OpId::Multiply, random_f32(shape, seed), weak(100)), t);
    tracer::evaluate(a);
    return a;
  };
  for (const auto& [a, b, t] : {std::tuple{DType::Int8, DType::Int8, DType::Int32},
                                {DType::Int8, DType::Int8, DType::Int16},
                                {DType::Int16, DType::Int16, DType::Int32},
                                {DType::Float16, DType::Float16, DType::Float32},
                                {DType::Float32, DType::Float16, DType::Float32}}) {
    const Array x = narrow({300, 200}, 1, a), w = narrow({200, 400}, 2, b),
                scale = random_f32({400}, 3);
    const Both r = both([&] {
      const Array p = matmul(tracer::astype(x, t), tracer::astype(w, t));
      return apply(OpId::Multiply, tracer::astype(p, DType::Float32), scale);
    });
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    const auto bytes = static_cast<std::int64_t>(300 * 200 * itemsize(a) + 200 * 400 * itemsize(b) +
                                                 4 * 400 + 4 * 300 * 400);
    CHECK(r.plan.bytes_moved == bytes);
    check_close(r, 2000);
  }
}

TEST_CASE("products of one shape have their blocks side by side in a region") {
  const Array x = random_f32({300, 90}, 1), w = random_f32({90, 200}, 2),
              v = random_f32({90, 200}, 3);
  const Array h = random_f32({300, 130}, 4), u = random_f32({130, 200}, 5),
              b = random_f32({200}, 6);
  const auto add = [](const Array& l, const Array& r) { return apply(OpId::Add, l, r); };
  const std::function<Array()> programs[] = {
      // a recurrent cell; a gated layer; more sums of products than a region has blocks
      [&] { return apply(OpId::Tanh, add(add(matmul(x, w), matmul(h, u)), b)); },
      [&] { return apply(OpId::Multiply, gelu(matmul(x, w)), matmul(x, v)); },
      [&] {
        Array y = add(b, matmul(x, w));
        for (int n = 0; n < 6; ++n)
          y = add(y, matmul(apply(OpId::Multiply, x, weak(n + 0.5)), n % 2 ? v : w));
        return apply(OpId::Maximum, y, weak(0));
      },
      // what the rest is added to is made of a product
      [&] {
        return add(add(apply(OpId::Maximum, matmul(h, u), weak(0)), matmul(x, w)), matmul(x, v));
      },
      // rows are folded
      [&] { return reduce(ReduceKind::Max, apply(OpId::Multiply, matmul(x, w), matmul(x, v)), 1); },
  };
  for (const auto& program : programs) {
    const Both r = both(program);
    INFO(r.text);
    CHECK(r.plan.regions == 1);
    CHECK(r.plan.bytes_moved == r.plan.bytes_least);
    check_close(r, 2000);
  }
}

TEST_CASE("products of several shapes are stored, but one") {
  const Array x = random_f32({300, 90}, 1), w = random_f32({90, 200}, 2),
              c = random_f32({90, 1}, 3);
  const Both r = both(
      [&] { return apply(OpId::Add, matmul(x, w), matmul(x, apply(OpId::Multiply, c, weak(2)))); });
  INFO(r.text);
  CHECK(r.plan.regions > 1);
  check_close(r);
}

TEST_CASE("a layer norm in front of a projection is computed once a block of rows") {
  const Array x = random_f32({700, 90}, 1), g = random_f32({90}, 2), w = random_f32({90, 600}, 3);
  const Both r = both([&] {
    const Array mean = apply(OpId::Divide, reduce(ReduceKind::Sum, x, 1), weak(90));
    const Array d = apply(OpId::Subtract, x, view(mean, {All{}, NewAxis{}}));
    const Array variance =
        apply(OpId::Divide, reduce(ReduceKind::Sum, apply(OpId::Multiply, d, d), 1), weak(90));
    const Array root = apply(OpId::Sqrt, apply(OpId::Add, variance, weak(1e-5)));
    const Array y =
        apply(OpId::Multiply, apply(OpId::Divide, d, view(root, {All{}, NewAxis{}})), g);
    return matmul(y, w);
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.plan.bytes_moved == r.plan.bytes_least);
  CHECK(r.text.find("computed more than once") == std::string::npos);
  check_close(r);
}

TEST_CASE("squared distances by product are never in memory") {
  const Array x = random_f32({3000, 32}, 1), c = random_f32({256, 32}, 2);
  const auto distances = [&] {
    const Array xx = reduce(ReduceKind::Sum, apply(OpId::Multiply, x, x), 1);
    const Array cc = reduce(ReduceKind::Sum, apply(OpId::Multiply, c, c), 1);
    const Array twice = apply(OpId::Multiply, matmul(x, tracer::swapaxes(c, 0, 1)), weak(2));
    return apply(OpId::Add, apply(OpId::Subtract, view(xx, {All{}, NewAxis{}}), twice), cc);
  };
  for (const ReduceKind kind : {ReduceKind::Min, ReduceKind::ArgMin, ReduceKind::Sum}) {
    const Both r = both([&] { return reduce(kind, distances(), 1); });
    INFO(r.text);
    CHECK(r.plan.regions == 2);  // the norms of c, and all the rest
    CHECK(r.plan.bytes_moved - r.plan.bytes_least == 4 * (256 * 32 + 2 * 256));
    if (kind != ReduceKind::ArgMin) check_close(r, 20000);
  }
}

TEST_CASE("a softmax over the rows of a product is one region") {
  const Array x = random_f32({400, 40}, 1), w = random_f32({40, 300}, 2);
  const Both r = both([&] {
    const Array s = matmul(x, w);
    const Array e =
        apply(OpId::Exp,
              apply(OpId::Subtract, s, view(reduce(ReduceKind::Max, s, 1), {All{}, NewAxis{}})));
    return apply(OpId::Divide, e, view(reduce(ReduceKind::Sum, e, 1), {All{}, NewAxis{}}));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.plan.bytes_moved == r.plan.bytes_least);
  check_close(r);
}

TEST_CASE("a batch of products with a bias is one region") {
  const Array a = random_f32({3, 5, 70, 60}, 1), b = random_f32({3, 5, 60, 50}, 2),
              c = random_f32({50}, 3);
  const Both r =
      both([&] { return apply(OpId::Maximum, apply(OpId::Add, matmul(a, b), c), weak(0)); });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.plan.bytes_moved == r.plan.bytes_least);
  check_close(r);
}

TEST_CASE("a product that is held is stored by the region that goes on with it") {
  engine::start();
  config().eager_limit = 0;
  const Array x = random_f32({300, 700}, 1), w = random_f32({700, 200}, 2);
  const Array h = matmul(x, w);
  const Array y = gelu(h);
  tracer::evaluate(y);
  const engine::PlanSummary plan = engine::last_plan();
  CHECK(plan.regions == 1);
  CHECK(plan.bytes_moved == 4 * (300 * 700 + 700 * 200 + 2 * 300 * 200));
  CHECK(tracer::read(h)->materialised());
}

TEST_CASE("what reads a product other than by its rows finds it in memory") {
  const Array x = random_f32({300, 100}, 1), w = random_f32({100, 300}, 2);
  const auto product = [&] { return apply(OpId::Multiply, matmul(x, w), weak(2)); };
  check_close(both([&] { return reduce(ReduceKind::Sum, product(), 0); }), 2e4);
  check_close(both([&] {
    const Array p = product();
    return apply(OpId::Add, p, tracer::swapaxes(p, 0, 1));
  }));
  check_close(both([&] {
    const Array p = product();
    return apply(OpId::Add, p, tracer::flip(p, Dims{0}));
  }));
  check_close(both([&] { return apply(OpId::Multiply, product(), apply(OpId::Exp, product())); }),
              1e9);
  // A product read by its rows twice; two products in one expression; a product of a product.
  check_close(both([&] { return apply(OpId::Multiply, product(), apply(OpId::Tanh, product())); }));
  const Array y = random_f32({300, 100}, 5), v = random_f32({100, 300}, 6);
  check_close(both([&] { return apply(OpId::Multiply, gelu(matmul(x, w)), matmul(y, v)); }), 2e4);
  check_close(
      both([&] { return apply(OpId::Add, matmul(apply(OpId::Tanh, matmul(x, w)), y), y); }));
}

TEST_CASE("a product with nothing around it, small, or of integers is a library call") {
  const Array x = random_f32({300, 100}, 1), w = random_f32({100, 300}, 2);
  Both r = both([&] { return matmul(x, w); });
  CHECK(r.text.find("one operation, computed by the library call") != std::string::npos);
  const Array s = random_f32({20, 30}, 1), t = random_f32({30, 20}, 2);
  r = both([&] { return apply(OpId::Add, matmul(s, t), weak(1)); });
  CHECK(r.plan.regions == 2);
}

TEST_CASE("a plan does not serve extents that its blocks have no room for") {
  config().eager_limit = 0;
  Machine m = kMachine;  // on which blocks cost nothing, whatever they read again
  for (MemoryLevel& level : m.memory) level.byte = 0;
  // Scratch of the plan for the first extent where the second runs with it, in bytes; 0: it does
  // not.
  const auto scratch = [&](const auto& f, std::int64_t planned, std::int64_t run) {
    const Array small = f(planned), large = f(run);
    const Ref<tracer::Node> first = tracer::read(small), second = tracer::read(large);
    const fusion::Graph of(std::vector<tracer::Node*>{first.get()});
    const fusion::Graph other(std::vector<tracer::Node*>{second.get()});
    INFO(planned << " " << run);
    CHECK((of.key() == other.key()));
    const auto plan = fusion::make_plan(of, {.machine = &m, .product_depth = 256});
    REQUIRE(plan->steps.size() == 1);
    REQUIRE(plan->steps[0].kind == fusion::StepKind::Kernel);
    std::vector<std::int64_t> values, params;
    REQUIRE(fusion::bind(*plan, of, values));
    if (!fusion::bind(*plan, other, values)) return std::size_t{0};
    for (const fusion::ExprId p : plan->steps[0].lowered.params) params.push_back(values[p]);
    return ir::scratch_bytes(plan->steps[0].lowered.kernel, params.data(), 16);
  };
  const auto f32 = [](const Dims& shape) { return tracer::empty(shape, DType::Float32); };
  const auto behind_depth = [&](std::int64_t depth) {
    return apply(OpId::Exp, matmul(f32({600, depth}), f32({depth, 600})));
  };
  const auto folded = [&](std::int64_t columns) {
    return reduce(ReduceKind::Max, matmul(f32({400, 100}), f32({100, columns})), 1);
  };
  const auto attention = [&](std::int64_t width) {
    const Array s = matmul(f32({2000, 60}), f32({60, 600}));
    const Array e =
        apply(OpId::Exp,
              apply(OpId::Subtract, s, view(reduce(ReduceKind::Max, s, 1), {All{}, NewAxis{}})));
    const Array w = apply(OpId::Divide, e, view(reduce(ReduceKind::Sum, e, 1), {All{}, NewAxis{}}));
    return matmul(w, f32({600, width}));
  };
  constexpr std::size_t kMost = std::size_t{6} << 20;
  CHECK(scratch(behind_depth, 600, 700) > 0);
  CHECK(scratch(behind_depth, 600, 16000) < kMost);
  CHECK(scratch(behind_depth, 16000, 600) < kMost);
  CHECK(scratch(folded, 600, 700) > 0);
  CHECK(scratch(folded, 600, 16000) < kMost);
  CHECK(scratch(attention, 64, 65) > 0);
  CHECK(scratch(attention, 20, 500) == 0);
}
