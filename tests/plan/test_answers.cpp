// A plan made for other numbers than it is run with: every extent, start and step of many graphs is
// changed, by one and by a factor. Either the plan at hand serves the changed graph, with the very
// result of a plan of its own, or it is asked for another one. So no threshold can be forgotten.
#include <catch2/catch.hpp>

#include "close.hpp"
#include "engine/plans/run.hpp"
#include "fusion/graph/graph.hpp"
#include "fusion/plan.hpp"
#include "numpy_compat/functions.hpp"
#include "reuse_graphs.hpp"
#include "tracer/calls.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::NewAxis;
using tracer::Slice;

// Of this file alone: others have functions of the same names.
namespace changed_numbers {
namespace {

using Given = std::vector<std::int64_t>;

struct Family {
  std::string name;
  std::function<Array(const Given&)> build;
  Given numbers;
  bool products = false;  // whose bits depend on who multiplies
};

Array add(const Operand& a, const Operand& b) { return apply(OpId::Add, a, b); }
Array sub(const Operand& a, const Operand& b) { return apply(OpId::Subtract, a, b); }
Array mul(const Operand& a, const Operand& b) { return apply(OpId::Multiply, a, b); }
Array along_rows(const Array& a, ReduceKind kind) { return reduce(kind, a, a.ndim() - 1, true); }
Array softmax(const Array& s) {
  const Array e = apply(OpId::Exp, sub(s, along_rows(s, ReduceKind::Max)));
  return apply(OpId::Divide, e, along_rows(e, ReduceKind::Sum));
}
// A part of it that begins at `start` and takes every so many.
Slice part(std::int64_t start, std::int64_t step) { return {start, {}, step}; }

std::vector<Family> families() {
  std::vector<Family> all{
      {"a map of two, one broadcast",
       [](const Given& n) {
         return apply(OpId::Exp, add(random_f64({n[0], n[1]}), random_f64({n[2]})));
       },
       {7, 9, 9}},
      {"sums along either axis",
       [](const Given& n) {
         const Array x = random_f64({n[0], n[1]});
         return add(reduce(ReduceKind::Sum, mul(x, x), 1), reduce(ReduceKind::Max, x, 1));
       },
       {9, 130}},
      {"a long sum",
       [](const Given& n) {
         return tracer::reduce(ReduceKind::Sum, mul(random_f64({n[0], n[1]}), weak(.5)));
       },
       {70, 800}},
      {"sums of columns",
       [](const Given& n) {
         return reduce(ReduceKind::Sum, add(random_f64({n[0], n[1]}), weak(1)), 0);
       },
       {1000, 40}},
      {"nearest means",
       [](const Given& n) {
         const Array d =
             sub(random_f64({n[0], n[2]}), view(random_f64({n[1], n[2]}, 2), {All{}, NewAxis{}}));
         return reduce(ReduceKind::ArgMin, reduce(ReduceKind::Sum, mul(d, d), 2), 0);
       },
       {50, 3, 4}},
      {"softmax of rows",
       [](const Given& n) { return softmax(random_f64({n[0], n[1]})); },
       {20, 33}},
      {"variances",
       [](const Given& n) { return numpy::var(random_f64({n[0], n[1]}), {.axes = Dims{1}}); },
       {16, 40}},
      {"strided views",
       [](const Given& n) {
         const Array x = random_f64({n[0], n[1]});
         return add(view(x, {part(n[2], n[3]), part(n[4], n[5])}), weak(1));
       },
       {40, 50, 2, 3, 1, 2}},
      {"neighbours, in place",
       [](const Given& n) {
         Array u = tracer::copy(random_f64({n[0], n[1]}));
         const Slice mid{1, -1, {}}, low{{}, -2, {}}, high{2, {}, {}};
         for (int t = 0; t < 3; ++t)
           tracer::assign(view(u, {mid, mid}),
                          add(view(u, {low, mid}), mul(view(u, {high, mid}), weak(.5))));
         return u;
       },
       {12, 30}},
      {"a shifted write",
       [](const Given& n) {
         Array u = tracer::copy(random_f64({n[0]}));
         tracer::assign(view(u, {Slice{n[1], {}, {}}}),
                        add(view(u, {Slice{{}, n[0] - n[1], {}}}), weak(1)));
         return u;
       },
       {600, 5}},
      {"joined parts",
       [](const Given& n) {
         const Array parts[] = {random_f64({n[0], n[1]}), random_f64({n[0], n[2]}, 2)};
         return mul(numpy::concatenate(parts, 1), weak(2));
       },
       {6, 9, 20}},
      {"padded and summed",
       [](const Given& n) {
         const Array p = numpy::pad(random_f64({n[0], n[1]}), Dims{n[2], n[3]});
         return reduce(ReduceKind::Sum, mul(p, p), 1);
       },
       {8, 30, 1, 2}},
      {"rolled",
       [](const Given& n) {
         const Array u = random_f64({n[0], n[1]});
         return add(u, numpy::roll(u, Dims{n[2]}, Dims{1}));
       },
       {9, 40, 3}},
      {"windows",
       [](const Given& n) {
         const Array x = random_f64({n[0]});
         return reduce(ReduceKind::Max,
                       add(numpy::sliding_window_view(x, Dims{n[1]}, std::nullopt), weak(1)), 1);
       },
       {200, 5}},
      {"another shape",
       [](const Given& n) {
         const Array x = mul(random_f64({n[0], n[1] * n[2]}), weak(2));
         return reduce(ReduceKind::Sum, tracer::reshape(x, Dims{n[0] * n[1], n[2]}), 1);
       },
       {10, 6, 8}},
      {"gathered rows",
       [](const Given& n) {
         const Array x = random_f64({n[0], n[1]});
         const Array at =
             apply(OpId::Remainder, numpy::arange(scalar_int(0), scalar_int(n[2]), scalar_int(1)),
                   Operand(scalar_int(n[0]), Weak::Int));
         Array source = x, index = at;
         source.shape[0] = n[2];
         source.strides[0] = 0;
         index.shape.push_back(1);
         index.strides.push_back(0);
         return add(
             tracer::gather(source, index, x.strides[0], contiguous_strides(source.shape, 8)),
             weak(1));
       },
       {30, 8, 50}},
      {"running sums",
       [](const Given& n) {
         return mul(tracer::accumulate(OpId::Add, random_f64({n[0], n[1]}), 1), weak(2));
       },
       {10, 60}},
      {"a product",
       [](const Given& n) {
         return add(tracer::matmul(random_f32({n[0], n[1]}), random_f32({n[1], n[2]}, 2)),
                    random_f32({n[2]}, 3));
       },
       {40, 50, 60},
       true},
      {"attention",
       [](const Given& n) {
         const Array q = random_f32({n[0], n[2]}), k = random_f32({n[1], n[2]}, 2);
         return tracer::matmul(softmax(tracer::matmul(q, tracer::swapaxes(k, -1, -2))),
                               random_f32({n[1], n[3]}, 3));
       },
       {70, 130, 33, 40},
       true},
  };
  int count = 0;
  for (const ReuseGraph& g : reuse_graphs(random_f64))
    if (count++ % 5 == 0)
      all.push_back(
          {g.name, [build = g.build](const Given& n) { return build(n[0], n[1]); }, {9, 17}});
  return all;
}

// What is done to a number.
Given changes(std::int64_t n) {
  Given to{n + 1, n - 1, 4 * n / 5, 2 * n, 3 * n, 7 * n, 1, 2, 8, 9, 64, 65};
  std::erase_if(to, [&](std::int64_t m) { return m == n || m < 0; });
  return to;
}

std::vector<unsigned char> value(const Family& f, const Given& n) { return bytes(f.build(n)); }

}  // namespace
}  // namespace changed_numbers

using namespace changed_numbers;

TEST_CASE("a plan serves no numbers that it was not made for") {
  config().machine = &kMachine;
  config().eager_limit = 0;
  config().plan = PlanMode::Always;
  int served = 0, planned = 0;
  for (const Family& f : families()) {
    for (std::size_t at = 0; at < f.numbers.size(); ++at)
      for (const std::int64_t to : changes(f.numbers[at])) {
        Given other = f.numbers;
        other[at] = to;
        INFO(f.name << ", number " << at << " from " << f.numbers[at] << " to " << to);
        std::vector<unsigned char> own;
        engine::forget_plans();
        try {
          own = value(f, other);
        } catch (const Error&) {
          continue;  // such arrays do not fit
        }
        engine::forget_plans();
        value(f, f.numbers);
        const engine::Stats before = engine::stats();
        const std::vector<unsigned char> after = value(f, other);
        const bool again = engine::stats().plans_made == before.plans_made;
        (again ? served : planned) += 1;
        REQUIRE(after.size() == own.size());
        if (!f.products) {
          CHECK(after == own);
          continue;
        }
        const auto* const x = reinterpret_cast<const float*>(after.data());
        const auto* const y = reinterpret_cast<const float*>(own.data());
        double off = 0;
        for (std::size_t i = 0; i < own.size() / sizeof(float); ++i)
          off = std::max(off, std::abs(static_cast<double>(x[i]) - y[i]));
        CHECK(off < 1e-3);
      }
  }
  // Both come: else nothing was tried.
  CHECK(served > 100);
  CHECK(planned > 100);
}

// The thresholds themselves: numbers next to each other, of one magnitude, on either side of one.
TEST_CASE("no plan serves both sides of a threshold") {
  config().eager_limit = 0;
  const auto summed = [](std::int64_t rows, std::int64_t columns, std::int64_t axis) {
    const Array x = tracer::empty({rows, columns}, DType::Float64);
    return reduce(ReduceKind::Sum, add(x, weak(1)), axis);
  };
  const auto multiplied = [](std::int64_t m, std::int64_t k, std::int64_t n) {
    return add(tracer::matmul(tracer::empty({m, k}, DType::Float32),
                              tracer::empty({k, n}, DType::Float32)),
               weak(1));
  };
  const auto mapped = [](std::int64_t n) {
    return add(tracer::empty({n}, DType::Float64), weak(1));
  };
  struct Sides {
    const char* threshold;
    std::function<Array()> below, above;
  };
  const Sides all[] = {
      {"a reduction worth cutting", [&] { return summed(819, 40, 0); },
       [&] { return summed(820, 40, 0); }},
      {"too few rows for the threads", [&] { return summed(63, 1000, 1); },
       [&] { return summed(64, 1000, 1); }},
      {"more rows than columns", [&] { return summed(600, 600, 0); },
       [&] { return summed(601, 600, 0); }},
      {"a product worth tiles", [&] { return multiplied(99, 100, 100); },
       [&] { return multiplied(100, 100, 100); }},
      {"stores past the caches", [&] { return mapped((4 << 20) - 1); },
       [&] { return mapped(4 << 20); }},
  };
  const fusion::Target target = engine::host_target();
  for (const Sides& s : all) {
    INFO(s.threshold);
    const Array below = s.below(), above = s.above();
    const Ref<tracer::Node> first = tracer::read(below), second = tracer::read(above);
    const fusion::Graph low(std::vector<tracer::Node*>{first.get()});
    const fusion::Graph high(std::vector<tracer::Node*>{second.get()});
    CHECK((low.key() == high.key()));
    std::vector<std::int64_t> values;
    CHECK(fusion::bind(*fusion::make_plan(low, target), low, values));
    CHECK_FALSE(fusion::bind(*fusion::make_plan(low, target), high, values));
    CHECK_FALSE(fusion::bind(*fusion::make_plan(high, target), low, values));
  }
}
