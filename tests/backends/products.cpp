// Products with what stands before and after them, in the same bits on every backend.
#include "everywhere.hpp"

using namespace plait;
using namespace plait::test;
using tracer::All;
using tracer::matmul;
using tracer::NewAxis;

TEST_CASE("products with neighbours, over edges of blocks and several of them") {
  for (const DType t : {DType::Float32, DType::Float64})
    for (const auto& [m, k, n] :
         {std::tuple{37, 290, 101}, {300, 513, 40}, {270, 20, 530}, {64, 1000, 1100}}) {
      const Array x = sample(t, {m, k}, 1, false), w = sample(t, {k, n}, 2, false),
                  turned = sample(t, {n, k}, 3, false), b = sample(t, {n}, 4, false),
                  c = sample(t, {m, n}, 5, false);
      const std::string shape = std::to_string(m) + " x " + std::to_string(k) + " x " +
                                std::to_string(n) + " " + std::string(name(t));
      const double close = t == DType::Float32 ? 1e-3 : 1e-10;
      everywhere(
          "bias, activation, residual " + shape,
          [&] {
            const Array h = apply(OpId::Add, matmul(x, w), b);
            return apply(OpId::Add, apply(OpId::Multiply, h, apply(OpId::Tanh, h)), c);
          },
          close);
      everywhere(
          "transposed, scaled, in another dtype " + shape,
          [&] {
            const Array h = matmul(apply(OpId::Exp, apply(OpId::Multiply, x, weak(0.1))),
                                   tracer::swapaxes(turned, 0, 1));
            return tracer::astype(apply(OpId::Multiply, h, weak(0.5)),
                                  t == DType::Float32 ? DType::Float64 : DType::Float32);
          },
          close);
      everywhere(
          "rows " + shape,
          [&] {
            const Array h = apply(OpId::Add, matmul(x, w), b);
            const Array d =
                apply(OpId::Subtract, h, view(reduce(ReduceKind::Max, h, 1), {All{}, NewAxis{}}));
            return reduce(ReduceKind::Sum, apply(OpId::Exp, d), 1);
          },
          close);
    }
}

TEST_CASE("batches of products with neighbours") {
  for (const DType t : {DType::Float32, DType::Float64}) {
    const Array x = sample(t, {3, 4, 70, 60}, 1, false), w = sample(t, {4, 60, 50}, 2, false),
                b = sample(t, {3, 1, 1, 50}, 3, false);
    const double close = t == DType::Float32 ? 1e-3 : 1e-10;
    everywhere(
        "a batch with a bias",
        [&] { return apply(OpId::Maximum, apply(OpId::Add, matmul(x, w), b), weak(0.0)); }, close);
    everywhere(
        "the least of each row",
        [&] {
          return reduce(ReduceKind::Min, apply(OpId::Add, matmul(apply(OpId::Tanh, x), w), b), 3);
        },
        close);
  }
}
