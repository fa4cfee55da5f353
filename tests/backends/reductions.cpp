// Reductions of every kind along every axis, and long ones that are cut into blocks.
#include "everywhere.hpp"

using namespace plait;
using namespace plait::test;

namespace {
std::string label(ReduceKind k, const Dims& shape, std::int64_t axis, DType t) {
  std::string s(reduce_info(k).name);
  for (std::int64_t n : shape) s += " " + std::to_string(n);
  return s + " axis " + std::to_string(axis) + " dtype " + std::to_string(static_cast<int>(t));
}
// Partial sums of the same terms differ by their order; every other reduction is exact.
double tolerance(ReduceKind k, DType t) {
  if (k != ReduceKind::Sum && k != ReduceKind::Prod) return 0;
  return t == DType::Float32 ? 1e-4 : t == DType::Float64 ? 1e-12 : 0;
}
}  // namespace

TEST_CASE("every kind along every axis") {
  for (const Dims& shape : {Dims{67}, Dims{5, 67}, Dims{3, 5, 37}})
    for (int k = 0; k <= static_cast<int>(ReduceKind::All); ++k)
      for (DType t : {DType::Int32, DType::Float32, DType::Float64}) {
        const Array x = sample(t, shape, 4, t == DType::Float64);
        for (int axis = 0; axis < shape.size(); ++axis) {
          const auto kind = static_cast<ReduceKind>(k);
          everywhere(
              label(kind, shape, axis, t), [&] { return reduce(kind, x, axis, axis == 1); },
              tolerance(kind, t));
        }
      }
}

TEST_CASE("long reductions") {
  for (std::int64_t n : {32767, 32768, 32769, 65536, 98311})
    for (ReduceKind k : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::Max,
                         ReduceKind::ArgMin, ReduceKind::ArgMax, ReduceKind::Any, ReduceKind::All})
      for (DType t : {DType::Int32, DType::Float32}) {
        const Array x = sample(t, {n}, 5, false);
        everywhere(label(k, {n}, 0, t), [&] { return reduce(k, x, 0); }, tolerance(k, t));
      }
}

TEST_CASE("few long rows keep NumPy's tree") {
  const Array x = random_f64({2, 50001});
  everywhere("rows", [&] { return reduce(ReduceKind::Sum, x, 1); });
  everywhere("columns", [&] { return reduce(ReduceKind::Sum, tracer::transpose(x), 0); });
}

TEST_CASE("sums of vector functions of float32: two groups of eight at a time, and what is left") {
  for (std::int64_t n : {5, 8, 15, 16, 23, 40, 129, 300}) {
    const Array x = random_f32({30, n});
    everywhere("exp, " + std::to_string(n),
               [&] { return reduce(ReduceKind::Sum, apply(OpId::Exp, x), 1); });
    everywhere("sin, " + std::to_string(n),
               [&] { return reduce(ReduceKind::Sum, apply(OpId::Sin, x), 1); });
  }
}

TEST_CASE("sums start from +0") {
  for (std::int64_t n : {1, 7, 100, 40000}) {
    const Array x = apply(OpId::Negative, tracer::full({n}, scalar_float(0)));
    everywhere("-0.0 x " + std::to_string(n), [&] { return reduce(ReduceKind::Sum, x, 0); });
  }
  everywhere("empty",
             [] { return reduce(ReduceKind::Sum, tracer::empty({3, 0}, DType::Float64), 1); });
}

TEST_CASE("masked reductions") {
  const Array x = random_f64({40, 90}), m = apply(OpId::Greater, x, weak(0.2));
  for (std::int64_t axis : {0, 1}) {
    tracer::ReduceOptions o;
    o.axes = Dims{axis};
    o.where = &m;
    everywhere("sum where", [&] { return tracer::reduce(ReduceKind::Sum, x, o); }, 1e-12);
  }
}
