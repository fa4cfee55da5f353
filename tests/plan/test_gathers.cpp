// Gathers in regions: one loop with what reads them, their source in memory.
#include <catch2/catch.hpp>

#include "arrays.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array indices(const Dims& shape, std::int64_t extent, unsigned seed = 7) {
  engine::start();
  Array a = tracer::empty(shape, DType::Int64);
  std::mt19937_64 gen(seed);
  auto* p = static_cast<std::int64_t*>(tracer::data(a));
  for (std::int64_t i = 0; i < a.size(); ++i)
    p[i] = static_cast<std::int64_t>(gen() % static_cast<std::uint64_t>(extent));
  return a;
}

// a[at] along the first axis of a.
Array rows(const Array& a, const Array& at) {
  Array source = a, index = at;
  source.shape[0] = at.shape[0];
  source.strides[0] = 0;
  for (int d = 1; d < a.ndim(); ++d) {
    index.shape.push_back(1);
    index.strides.push_back(0);
  }
  return tracer::gather(
      source, index, a.strides[0],
      contiguous_strides(source.shape, static_cast<std::int64_t>(itemsize(a.dtype))));
}

}  // namespace

TEST_CASE("a gather and the chain behind it are one region") {
  const Array x = random_f64({5000}), at = indices({200000}, 5000);
  Both r = both([&] {
    return apply(OpId::Multiply, apply(OpId::Sqrt, apply(OpId::Absolute, rows(x, at))), weak(2.0));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("gathers at computed indices and of several sources are one region") {
  const Array x = random_f64({5000}), y = random_f32({5000}), at = indices({100000}, 4990);
  Both r = both([&] {
    const Array shifted = apply(OpId::Add, at, Operand(scalar_int(3), Weak::Int));
    return apply(OpId::Add, rows(x, shifted), rows(y, at));
  });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("what is gathered from is in memory") {
  const Array x = random_f64({5000}), at = indices({100000}, 5000);
  Both r = both([&] { return rows(apply(OpId::Exp, x), at); });
  INFO(r.text);
  CHECK(r.plan.regions == 2);
  CHECK(r.fused == r.direct);
}

TEST_CASE("gathered rows are reduced in the loop that reads them") {
  for (std::int64_t width : {1, 3, 8, 50}) {
    const Array x = random_f64({300, width}), at = indices({7000}, 300);
    for (int axis : {0, 1}) {
      Both r = both([&] {
        const Array v = rows(x, at);
        // Of columns, sums of the fused and of the direct way are cut at other places.
        const ReduceKind kind = axis == 0 ? ReduceKind::Max : ReduceKind::Sum;
        return reduce(kind, apply(OpId::Multiply, v, v), axis);
      });
      INFO(r.text << "width " << width << ", axis " << axis);
      CHECK(r.plan.regions == 1);
      CHECK(r.fused == r.direct);
    }
  }
}

TEST_CASE("the sum of what is gathered has NumPy's tree") {
  const Array x = random_f64({5000}), at = indices({300000}, 5000);
  Both r = both([&] { return tracer::reduce(ReduceKind::Sum, rows(x, at)); });
  INFO(r.text);
  CHECK(r.plan.regions == 1);
  CHECK(r.fused == r.direct);
}

TEST_CASE("a write sees the gathers of what it overwrites") {
  for (std::int64_t n : {1000, 60000}) {
    const Array at = indices({n - 1}, n);
    Both r = both([&] {
      Array a = random_f64({n}, 3);
      tracer::assign(view(a, {tracer::Slice{1, {}, {}}}),
                     apply(OpId::Multiply, rows(a, at), weak(0.5)));
      return a;
    });
    INFO(r.text << n);
    CHECK(r.fused == r.direct);
  }
}

TEST_CASE("a later write to the source or the indices is not seen") {
  config().eager_limit = 0;
  const Array x = random_f64({1000}), at = indices({5000}, 1000);
  const Array made = rows(x, at), want = tracer::copy(rows(x, at));
  tracer::evaluate(want);
  tracer::assign(x, weak(0.0));
  tracer::assign(at, Operand(scalar_int(0), Weak::Int));
  CHECK(bytes(made) == bytes(want));
}
