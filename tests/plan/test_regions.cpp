// How many regions and bytes a graph takes, with the reason; and that the fused value is the
// reference's, bit for bit.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "arrays.hpp"
#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("an elementwise chain is one region that reads its inputs once") {
  Array a = random_f64({100000}, 1), b = random_f64({100000}, 2), c = random_f64({100000}, 3);
  Both r = both([&] {
    Array t =
        apply(OpId::Sqrt, apply(OpId::Absolute, apply(OpId::Add, apply(OpId::Multiply, a, b), c)));
    return apply(OpId::Subtract, t, apply(OpId::Divide, a, weak(3.0)));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.plan.bytes_moved == r.plan.bytes_least);
  CHECK(r.fused == r.direct);
}

TEST_CASE("the k-means step is one region for any K and D") {
  for (auto [k, d] :
       {std::pair{2, 2}, {3, 3}, {8, 8}, {16, 16}, {64, 64}, {5, 1}, {1, 7}, {13, 129}}) {
    Array x = random_f64({3000, d}, 1), means = random_f64({k, d}, 2);
    Both r = both([&] {
      Array m = view(means, {tracer::All{}, tracer::NewAxis{}});
      Array diff = apply(OpId::Subtract, x, m);
      Array norm = apply(OpId::Sqrt, reduce(ReduceKind::Sum, apply(OpId::Multiply, diff, diff), 2));
      return reduce(ReduceKind::ArgMin, norm, 0);
    });
    INFO(r.text << "K = " << k << ", D = " << d);
    CHECK(r.plan.regions == 1);
    CHECK(r.plan.bytes_moved <= r.plan.bytes_least);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("a reduction of all distances is one region for any D") {
  for (auto [n, m, d] : {std::tuple{300, 500, 3}, {300, 500, 8}, {700, 300, 10}, {200, 600, 64}}) {
    Array x = random_f64({n, d}, 1), y = random_f64({m, d}, 2);
    for (const ReduceKind kind : {ReduceKind::Max, ReduceKind::Min}) {
      Both r = both([&] {
        Array diff = apply(OpId::Subtract, view(x, {tracer::All{}, tracer::NewAxis{}}), y);
        return tracer::reduce(
            kind, apply(OpId::Sqrt, reduce(ReduceKind::Sum, apply(OpId::Multiply, diff, diff), 2)));
      });
      INFO(r.text << "D = " << d);
      CHECK(r.plan.regions == 1);
      CHECK(r.plan.bytes_moved <= r.plan.bytes_least);
      CHECK(r.fused == r.direct);
    }
  }
}

TEST_CASE("softmax along the rows is one region") {
  Array x = random_f32({200, 300});
  Both r = both([&] {
    Array e = apply(OpId::Exp, apply(OpId::Subtract, x, reduce(ReduceKind::Max, x, 1, true)));
    return apply(OpId::Divide, e, reduce(ReduceKind::Sum, e, 1, true));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE(
    "subtracting the column means takes one region more than the sums and the map: the few means") {
  Array x = random_f64({3000, 50});
  Both r = both([&] {
    Array m = apply(OpId::Divide, reduce(ReduceKind::Sum, x, 0), weak(3000));
    return apply(OpId::Subtract, x, m);
  });
  INFO(r.text);
  CHECK(r.plan.regions == 3);
}

TEST_CASE("a sum of everything keeps NumPy's tree, whatever its length") {
  for (std::int64_t n : {1, 7, 8, 9, 127, 128, 129, 1000, 32768, 32769, 100003, 1000000}) {
    Array x = random_f64({n});
    Both r = both([&] { return tracer::reduce(ReduceKind::Sum, apply(OpId::Multiply, x, x)); });
    INFO("n = " << n);
    CHECK(r.fused == r.direct);
    INFO(r.text);
    CHECK(r.plan.regions == 1);
  }
}

TEST_CASE("a stencil reads shifted views in one region") {
  Array u = random_f64({200, 300});
  Both r = both([&] {
    tracer::Slice mid{1, -1, {}}, up{{}, -2, {}}, down{2, {}, {}};
    Array s = apply(OpId::Add, view(u, {mid, mid}), view(u, {up, mid}));
    s = apply(OpId::Add, s, view(u, {down, mid}));
    s = apply(OpId::Add, s, view(u, {mid, up}));
    s = apply(OpId::Add, s, view(u, {mid, down}));
    return apply(OpId::Multiply, s, weak(0.2));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("pairwise forces share the squared distance between components") {
  Array p = random_f64({150, 3}, 1), m = random_f64({150}, 2);
  Both r = both([&] {
    tracer::All all;
    tracer::NewAxis na;
    Array d = apply(OpId::Subtract, view(p, {na, all, all}), view(p, {all, na, all}));
    Array r2 =
        apply(OpId::Add, reduce(ReduceKind::Sum, apply(OpId::Multiply, d, d), 2), weak(0.01));
    Array w = apply(OpId::Divide, m, apply(OpId::Multiply, r2, apply(OpId::Sqrt, r2)));
    return reduce(ReduceKind::Sum, apply(OpId::Multiply, d, view(w, {all, all, na})), 1);
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("updates through overlapping views behave as if disjoint") {
  Array u0 = random_f64({100, 64});
  Both r = both([&] {
    Array u = tracer::copy(u0);
    tracer::Slice mid{1, -1, {}}, up{{}, -2, {}}, down{2, {}, {}};
    for (int i = 0; i < 5; ++i) {
      Array lap = apply(
          OpId::Add,
          apply(OpId::Subtract, view(u, {down}), apply(OpId::Multiply, weak(2), view(u, {mid}))),
          view(u, {up}));
      tracer::assign(view(u, {mid}),
                     apply(OpId::Add, view(u, {mid}), apply(OpId::Multiply, weak(0.1), lap)));
      tracer::assign(view(u, {0}), view(u, {1}));
      tracer::assign(view(u, {-1}), view(u, {-2}));
    }
    return u;
  });
  CHECK(r.fused == r.direct);
}

TEST_CASE("rows kept between loops survive the joining of the loops around them") {
  Array x = random_f32({31, 9, 129});
  const std::int64_t axes[] = {1, 0, 2};
  Both r = both([&] {
    Array e = tracer::transpose(x, axes);
    for (int i = 0; i < 2; ++i)
      e = apply(OpId::Exp, apply(OpId::Negative, apply(OpId::Absolute, e)));
    Array mean = reduce(ReduceKind::Sum, e, 2, true);
    return reduce(ReduceKind::Sum, apply(OpId::Square, apply(OpId::Subtract, e, mean)), 2);
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("sums over rows far apart read as much of a row at a time as there are registers for") {
  const auto plan = [](std::int64_t rows, std::int64_t columns) {
    const Array x = tracer::empty({rows, columns}, DType::Float64);
    const Ref<tracer::Node> node = tracer::read(reduce(ReduceKind::Sum, x, 0));
    tracer::Node* wanted[] = {node.get()};
    return engine::explain(wanted);
  };
  engine::start();
  CHECK(plan(2000, 2000).find("vector x4") != std::string::npos);
  CHECK(plan(100000, 16).find("vector x2") != std::string::npos);
}

TEST_CASE("what lies in one piece is reduced in one long loop, however short its rows are") {
  for (const Dims& shape : {Dims{300000, 2}, Dims{100001, 3}, Dims{100000, 8}, Dims{40000, 2, 4}})
    for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Any}) {
      const Array x = random_f64(shape);
      for (const Array& a : {x, tracer::transpose(x)}) {
        INFO(reduce_info(kind).name << " of " << shape.size() << " dimensions");
        const Ref<tracer::Node> node = tracer::read(tracer::reduce(kind, a));
        tracer::Node* wanted[] = {node.get()};
        const auto plan = fusion::make_plan(fusion::Graph(wanted));
        REQUIRE(plan->steps.size() == 1);
        const ir::Kernel& k = plan->steps[0].lowered.kernel;
        CHECK(std::count_if(k.loops.begin(), k.loops.end(),
                            [](const ir::Loop& l) { return l.lanes(); }) == 1);
        CHECK(k.loops.size() == 2);
        const Both flat = both([&] { return tracer::reduce(kind, tracer::reshape(x, {-1})); });
        const Both r = both([&] { return tracer::reduce(kind, a); });
        CHECK(r.fused == r.direct);
        CHECK(r.fused == flat.fused);
      }
    }
}

TEST_CASE("regions are not surveyed where the graph shows that values are computed once") {
  config().eager_limit = 0;
  const auto value = [] { return apply(OpId::Exp, tracer::empty({300, 300}, DType::Float64)); };
  const auto rows = [](const Array& a, std::int64_t from) {
    return view(a, {tracer::Slice{from, from + 150, {}}});
  };
  const auto plan = [](const Array& a) {
    const Ref<tracer::Node> node = tracer::read(a);
    tracer::Node* wanted[] = {node.get()};
    return fusion::make_plan(fusion::Graph(wanted), {}, fusion::Reuse::Recompute);
  };
  const auto surveys = [&](const Array& a) { return plan(a)->surveys; };
  CHECK(surveys(apply(OpId::Negative, value())) == 0);
  CHECK(surveys(apply(OpId::Negative, rows(value(), 100))) == 0);
  CHECK(surveys(apply(OpId::Negative, reduce(ReduceKind::Max, value(), 1))) > 0);
  for (const int axis : {0, 1}) CHECK(surveys(reduce(ReduceKind::Sum, value(), axis)) == 0);
  // Parts of as many elements as there are, and all of them twice. No name holds the value itself.
  const auto added = [&](auto&& one, auto&& other) {
    const Array v = value();
    return apply(OpId::Add, one(v), other(v));
  };
  for (const std::int64_t from : {150, 100}) {
    const auto p = plan(added([&](const Array& v) { return rows(v, 0); },
                              [&](const Array& v) { return rows(v, from); }));
    CHECK(p->surveys == 0);
    REQUIRE(p->steps.size() == 1);
    CHECK(p->steps[0].lowered.repeated.empty());
  }
  const auto p = plan(
      added([](const Array& v) { return v; }, [](const Array& v) { return tracer::transpose(v); }));
  CHECK(p->surveys > 0);
  REQUIRE(p->steps.size() == 1);
  CHECK_FALSE(p->steps[0].lowered.repeated.empty());
}

TEST_CASE("a long chain of writes is looked at a few times, and lowered once") {
  config().eager_limit = 0;
  for (std::int64_t n : {40, 96}) {
    Array d = tracer::copy(random_f64({n, n}));
    for (std::int64_t k = 0; k < n; ++k) {
      const Array through = apply(OpId::Add, view(d, {tracer::All{}, tracer::Slice{k, k + 1, {}}}),
                                  view(d, {tracer::Slice{k, k + 1, {}}}));
      tracer::assign(d, apply(OpId::Minimum, d, through));
    }
    const Ref<tracer::Node> node = tracer::read(d);
    tracer::Node* wanted[] = {node.get()};
    const auto plan = fusion::make_plan(fusion::Graph(wanted));
    INFO(plan->surveys << " surveys of " << plan->steps.size() << " regions");
    CHECK(plan->surveys <= 3 * static_cast<int>(plan->steps.size()));
    CHECK(plan->lowerings <= 16);
  }
}

TEST_CASE("regions that come again at other offsets are lowered a few times, and none by mistake") {
  config().eager_limit = 0;
  const Array of = random_f64({60, 100});
  const auto row = [](const Array& a, std::int64_t k) { return view(a, {k}); };
  // Forwards, and then backwards, where other rows are read than are written to, and the same.
  const auto run = [&] {
    Array u = tracer::copy(of);
    for (std::int64_t k = 0; k < 59; ++k)
      tracer::assign(row(u, k + 1), apply(OpId::Add, apply(OpId::Multiply, row(u, k), weak(.5)),
                                          apply(OpId::Sin, row(of, k))));
    for (std::int64_t k = 59; k-- > 0;)
      tracer::assign(row(u, k), apply(OpId::Add, apply(OpId::Multiply, row(u, k + k % 2), weak(.5)),
                                      apply(OpId::Sin, row(of, 59 - k))));
    return u;
  };
  const Both r = both(run);
  CHECK(r.fused == r.direct);
  const Array u = run();
  const Ref<tracer::Node> node = tracer::read(u);
  tracer::Node* wanted[] = {node.get()};
  const auto plan = fusion::make_plan(fusion::Graph(wanted));
  CHECK(plan->lowerings <= 8);
}

TEST_CASE("values that share a loop by their equal extents do not when one is shorter") {
  engine::start();
  config().eager_limit = 0;
  // Nothing but the extents connects the two.
  const std::function<Array(std::int64_t)> kinds[] = {
      [](std::int64_t n) { return tracer::full({n}, scalar_float(3)); },
      [](std::int64_t n) { return apply(OpId::Add, random_f64({n}), weak(1)); },
      [](std::int64_t n) { return reduce(ReduceKind::Max, random_f64({n, 4}), 1); },
      [](std::int64_t n) { return reduce(ReduceKind::Max, random_f64({64 * n, 2}), 0); }};
  for (const auto& make : kinds)
    for (auto [n, m] : {std::pair{12000, 12000}, {12000, 11000}, {11000, 12000}}) {
      const Array a = make(n), b = make(m), both[] = {a, b};
      tracer::evaluate(both);
      CHECK(engine::last_plan().regions == (n == m ? 1 : 2));
      config().fuse = false;
      CHECK(bytes(a) == bytes(make(n)));
      CHECK(bytes(b) == bytes(make(m)));
      config().fuse = true;
    }
}

TEST_CASE("long reductions of values that lie otherwise are not cut alike") {
  const Array x = random_f64({9, 11111}, 1), y = random_f64({11111, 9}, 2);
  // Of two sums along rows and of what stands beside them: the minimum of another layout.
  const auto value = [&](bool lies_otherwise) {
    const Array other = lies_otherwise ? tracer::transpose(y) : x;
    const Array low = reduce(ReduceKind::Min, apply(OpId::Add, other, weak(1)), 1);
    const Array sum = reduce(ReduceKind::Sum, apply(OpId::Absolute, x), 1);
    return apply(OpId::Subtract, low, sum);
  };
  for (bool lies_otherwise : {false, true}) {
    const Both r = both([&] { return value(lies_otherwise); });
    INFO(r.text);
    CHECK(r.fused == r.direct);
    CHECK(r.plan.regions == (lies_otherwise ? 3 : 2));
  }
}

TEST_CASE("a plan serves no array whose axes are looped over in another order") {
  config().eager_limit = 0;
  // Not contiguous, the same extents and innermost axis, the outer strides the other way round.
  const auto strided = [](bool swapped) {
    const Array memory = random_f64({40, 50, 40}, 3);
    const tracer::Slice part{{}, 39, {}};
    const Array a = view(memory, {part, tracer::Slice{{}, 39, {}}, tracer::Slice{{}, 20, {}}});
    const std::int64_t axes[] = {1, 0, 2};
    return swapped ? tracer::transpose(a, axes) : a;
  };
  const auto summed = [](const Array& a) {
    return tracer::read(tracer::reduce(ReduceKind::Sum, apply(OpId::Add, a, weak(1))));
  };
  const auto serves = [&](bool planned, bool run) {
    const Ref<tracer::Node> first = summed(strided(planned)), second = summed(strided(run));
    const fusion::Graph of(std::vector<tracer::Node*>{first.get()});
    const fusion::Graph other(std::vector<tracer::Node*>{second.get()});
    std::vector<std::int64_t> values;
    return of.key() == other.key() && fusion::bind(*fusion::make_plan(of), other, values);
  };
  CHECK(serves(false, false));
  CHECK(serves(true, true));
  CHECK_FALSE(serves(false, true));
}

TEST_CASE("what is shown in another shape is read there, or stored where that costs less") {
  const Array x = random_f64({40, 60, 32}, 1), bias = random_f64({32}, 2),
              rows = random_f64({40, 60, 1}, 3);
  const auto doubled = [&] { return apply(OpId::Multiply, x, weak(2.0)); };
  struct Case {
    const char* name;
    std::function<Array()> shown;
    int regions;
  };
  const auto again = [](Array a) { return apply(OpId::Add, a, weak(1.0)); };
  const Case cases[] = {
      {"merged", [&] { return again(tracer::reshape(doubled(), {-1})); }, 1},
      {"split", [&] { return again(tracer::reshape(doubled(), {20, 2, 60, 8, 4})); }, 1},
      {"merged and split anew", [&] { return again(tracer::reshape(doubled(), {80, 15, 64})); }, 1},
      {"pooled",
       [&] { return reduce(ReduceKind::Max, tracer::reshape(doubled(), {40, 30, 2, 32}), 2); }, 1},
      // Divided once a row.
      {"rows",
       [&] { return again(tracer::reshape(apply(OpId::Multiply, doubled(), rows), {2400, 32})); },
       1},
      // Once an element, which a store and a load are less than.
      {"columns",
       [&] { return again(tracer::reshape(apply(OpId::Multiply, doubled(), bias), {-1})); }, 2},
      // Of what a loop over elements does not make.
      {"sums", [&] { return again(tracer::reshape(reduce(ReduceKind::Sum, doubled(), 0), {-1})); },
       2},
  };
  for (const Case& c : cases) {
    Both r = both(c.shown);
    INFO(c.name << "\n" << r.text);
    CHECK(r.plan.regions == c.regions);
    CHECK(r.fused == r.direct);
  }
}
