#include "unevaluated.hpp"

using namespace plait;
using namespace plait::numpy;
using namespace plait::numpy::test;

TEST_CASE("rearranged shapes") {
  without_values();
  const Array a = zeros(Dims{2, 3});
  CHECK(tile(a, Dims{2}).shape == Dims{2, 6});
  CHECK(tile(a, Dims{4, 1, 2}).shape == Dims{4, 2, 6});
  CHECK(tile(a, Dims{1, 1}).storage != a.storage);
  CHECK(repeat(a, 3).shape == Dims{18});
  CHECK(repeat(a, 3, 0).shape == Dims{6, 3});
  CHECK(roll(a, Dims{1}).shape == Dims{2, 3});
  CHECK(roll(tracer::transpose(a), Dims{1, -1}, Dims{0, 1}).strides == Dims{8, 24});
  CHECK(diff(a).shape == Dims{2, 2});
  CHECK(diff(a, 2, 0).shape == Dims{0, 3});
  CHECK(diff(zeros(Dims{3}, DType::Bool)).dtype == DType::Bool);
}

TEST_CASE("meshgrid follows its indexing") {
  without_values();
  const Array xy[] = {zeros(Dims{3}), zeros(Dims{2})};
  CHECK(meshgrid(xy)[0].shape == Dims{2, 3});
  MeshgridOptions ij;
  ij.xy = false;
  CHECK(meshgrid(xy, ij)[1].shape == Dims{3, 2});
  MeshgridOptions sparse;
  sparse.sparse = true;
  CHECK(meshgrid(xy, sparse)[0].shape == Dims{1, 3});
  CHECK(meshgrid(xy, sparse)[1].shape == Dims{2, 1});
}

TEST_CASE("errors of rearranging") {
  without_values();
  const Array a = zeros(Dims{2, 2});
  CHECK(message<AxisError>([&] { roll(a, Dims{1}, Dims{2}); }) ==
        "axis 2 is out of bounds for array of dimension 2");
  CHECK(message<ShapeError>([&] { roll(a, Dims{1, 2, 3}, Dims{0, 1}); }) ==
        "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 "
        "with shape (3,) and arg 1 with shape (2,).");
  CHECK(message<ValueError>([&] { diff(a, -1); }) == "order must be non-negative but got -1");
  CHECK(message<ValueError>([&] { repeat(a, -1); }) == "negative dimensions are not allowed");
}
