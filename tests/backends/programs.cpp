// Whole computations: k-means, softmax, stencils, updates in place.
#include "everywhere.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("k-means for primes and powers of two") {
  for (auto [k, d] : {std::pair{2, 2}, {3, 5}, {5, 1}, {1, 7}, {8, 8}, {13, 17}, {7, 129}}) {
    const Array x = random_f64({500, d}, 1), means = random_f64({k, d}, 2);
    everywhere("k-means " + std::to_string(k) + " x " + std::to_string(d), [&] {
      Array m = view(means, {tracer::All{}, tracer::NewAxis{}});
      Array diff = apply(OpId::Subtract, x, m);
      Array norm = apply(OpId::Sqrt, reduce(ReduceKind::Sum, apply(OpId::Multiply, diff, diff), 2));
      return reduce(ReduceKind::ArgMin, norm, 0);
    });
  }
}

TEST_CASE("softmax and variance along either axis") {
  const Array x = random_f32({120, 150});
  for (std::int64_t axis : {0, 1}) {
    everywhere(
        "softmax",
        [&] {
          Array e =
              apply(OpId::Exp, apply(OpId::Subtract, x, reduce(ReduceKind::Max, x, axis, true)));
          return apply(OpId::Divide, e, reduce(ReduceKind::Sum, e, axis, true));
        },
        1e-5);
    everywhere(
        "variance",
        [&] {
          Array mean = apply(OpId::Divide, reduce(ReduceKind::Sum, x, axis, true), weak(120));
          Array c = apply(OpId::Subtract, x, mean);
          return reduce(ReduceKind::Sum, apply(OpId::Multiply, c, c), axis);
        },
        1e-4);
  }
}

TEST_CASE("strided and transposed operands") {
  const Array x = sample(DType::Float64, {60, 83}), y = sample(DType::Float64, {83, 60}, 2);
  everywhere("transposed", [&] { return apply(OpId::Add, tracer::transpose(x), y); });
  everywhere("reversed", [&] {
    Array r = view(x, {tracer::Slice{{}, {}, -1}, tracer::Slice{1, {}, 3}});
    return apply(OpId::Multiply, r, r);
  });
}

TEST_CASE("updates in place: masked, overlapping, of fresh and of held memory") {
  const Array x = random_f64({70, 90});
  for (bool held : {false, true})
    everywhere("updates", [&] {
      Array a = tracer::copy(x);
      tracer::evaluate(a);
      const Array before = held ? tracer::copy(a) : Array{};
      const tracer::Slice up{1, {}, {}}, down{{}, -1, {}};
      Array target = view(a, {up});
      tracer::assign(target, apply(OpId::Add, target, view(a, {down})));
      Array mask = apply(OpId::Less, a, weak(0));
      tracer::assign(a, apply(OpId::Multiply, a, weak(0.5)), &mask);
      return held ? apply(OpId::Subtract, a, before) : a;
    });
}

TEST_CASE("large storage that is read beside where it is written") {
  const Array x = random_f64({1100, 157});
  const tracer::Slice all{};
  struct Shift {
    tracer::Slice target, before, after;
  };
  for (const Shift& rows : {Shift{{1, -1, {}}, {{}, -2, {}}, {2, {}, {}}},
                            Shift{{3, -5, {}}, {{}, -8, {}}, {8, {}, {}}}})
    for (const tracer::Slice& columns : {all, tracer::Slice{2, -3, {}}, tracer::Slice{{}, {}, 2}})
      everywhere("stencil", [&] {
        Array a = tracer::copy(x);
        tracer::evaluate(a);
        for (int i = 0; i < 2; ++i) {
          Array sum =
              apply(OpId::Add, view(a, {rows.before, columns}), view(a, {rows.after, columns}));
          Array target = view(a, {rows.target, columns});
          tracer::assign(target,
                         apply(OpId::Subtract, apply(OpId::Multiply, sum, weak(0.25)), target));
        }
        return a;
      });
  // Columns move: every row reads beside itself, and the other way round through the transpose.
  everywhere("columns", [&] {
    Array a = tracer::copy(x);
    tracer::evaluate(a);
    Array target = view(a, {all, tracer::Slice{1, {}, {}}});
    tracer::assign(target, apply(OpId::Add, target, view(a, {all, tracer::Slice{{}, -1, {}}})));
    Array down = view(tracer::transpose(a), {all, tracer::Slice{1, {}, {}}});
    tracer::assign(
        down, apply(OpId::Add, down, view(tracer::transpose(a), {all, tracer::Slice{{}, -1, {}}})));
    return a;
  });
}
