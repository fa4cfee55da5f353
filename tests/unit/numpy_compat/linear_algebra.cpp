#include <limits>

#include "unevaluated.hpp"

using namespace plait;
using namespace plait::numpy;
using namespace plait::numpy::test;

TEST_CASE("norms have NumPy's shapes and dtypes") {
  without_values();
  const double inf = std::numeric_limits<double>::infinity();
  const Array x = zeros(Dims{2, 3, 4});
  CHECK(norm(x).shape == Dims{});
  CHECK(norm(x, {}, {}, true).shape == Dims{1, 1, 1});
  for (double p : {2.0, 1.0, 0.0, 3.0, 0.5, inf, -inf})
    CHECK(norm(x, p, Dims{2}).shape == Dims{2, 3});
  for (double p : {1.0, -1.0, inf, -inf}) {
    CHECK(norm(x, p, Dims{0, 2}).shape == Dims{3});
    CHECK(norm(x, p, Dims{2, 0}, true).shape == Dims{1, 3, 1});
  }
  CHECK(norm(x, NormOrder::Kind::Frobenius, Dims{-2, -1}).shape == Dims{2});
  CHECK(norm(zeros(Dims{3}, DType::Complex64)).dtype == DType::Float32);
  CHECK(norm(zeros(Dims{3}, DType::Int8)).dtype == DType::Float64);
  CHECK(norm(zeros(Dims{3}, DType::Float32), 3.0).dtype == DType::Float32);
}

TEST_CASE("errors of norm") {
  without_values();
  const Array m = zeros(Dims{2, 2});
  CHECK(message<ValueError>([] { norm(zeros(Dims{2, 2, 2}), 1.0); }) ==
        "Improper number of dimensions to norm.");
  CHECK(message<ValueError>([&] { norm(m, {}, Dims{0, 0}); }) == "Duplicate axes given.");
  CHECK(message<ValueError>([&] { norm(m, 3.0); }) == "Invalid norm order for matrices.");
  CHECK(message<ValueError>([&] { norm(m, NormOrder::Kind::Frobenius, Dims{0}); }) ==
        "Invalid norm order 'fro' for vectors");
  CHECK(message<AxisError>([&] { norm(m, {}, Dims{2}); }) ==
        "axis 2 is out of bounds for array of dimension 2");
  CHECK(norm_needs_svd(2.0, 2, {}));
  CHECK_FALSE(norm_needs_svd(2.0, 1, {}));
  CHECK_FALSE(norm_needs_svd({}, 2, {}));
}

TEST_CASE("products have NumPy's shapes") {
  without_values();
  const Array v = zeros(Dims{3}), m = zeros(Dims{2, 3}), t = zeros(Dims{4, 3, 5});
  CHECK(dot(v, v).shape == Dims{});
  CHECK(dot(m, v).shape == Dims{2});
  CHECK(dot(m, t).shape == Dims{2, 4, 5});
  CHECK(inner(m, zeros(Dims{4, 3})).shape == Dims{2, 4});
  CHECK(outer(m, v).shape == Dims{6, 3});
  CHECK(tensordot(m, t, Dims{1}, Dims{1}).shape == Dims{2, 4, 5});
  CHECK(tensordot(m, m, 2).shape == Dims{});
  CHECK(cross(m, v).shape == Dims{2, 3});
  CHECK(cross(zeros(Dims{3, 2}), zeros(Dims{3, 2}), 0, 0, 0).shape == Dims{3, 2});
  CHECK(trace(t).shape == Dims{5});
  CHECK(trace(zeros(Dims{2, 2}, DType::Int8)).dtype == DType::Int64);
}

TEST_CASE("errors of products") {
  without_values();
  const Array m = zeros(Dims{2, 3});
  CHECK(message<ShapeError>([&] { dot(m, m); }) ==
        "shapes (2,3) and (2,3) not aligned: 3 (dim 1) != 2 (dim 0)");
  CHECK(message<ShapeError>([&] { dot(m, zeros(Dims{5, 2, 3})); }) ==
        "shapes (2,3) and (5,2,3) not aligned: 3 (dim 1) != 2 (dim 1)");
  CHECK(message<ShapeError>([&] { inner(m, zeros(Dims{4})); }) ==
        "shapes (2,3) and (4,) not aligned: 3 (dim 1) != 4 (dim 0)");
  CHECK(message<ValueError>([&] { vdot(zeros(Dims{2}), zeros(Dims{3})); }) ==
        "cannot reshape array of size 3 into shape (2,)");
  CHECK(message<ValueError>([&] { tensordot(m, m, 1); }) == "shape-mismatch for sum");
  CHECK(message<ValueError>([&] { cross(zeros(Dims{4}), zeros(Dims{4})); }) ==
        "incompatible dimensions for cross product\n(dimension must be 2 or 3)");
  CHECK(message<ValueError>([&] { trace(zeros(Dims{3})); }) ==
        "diag requires an array of at least two dimensions");
}
