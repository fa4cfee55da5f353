#include "unevaluated.hpp"

using namespace plait;
using namespace plait::numpy;
using namespace plait::numpy::test;

TEST_CASE("joined shapes and dtypes") {
  without_values();
  const Array a = zeros(Dims{2, 3}), b = zeros(Dims{2, 3}, DType::Int8), v = zeros(Dims{3});
  const Array ab[] = {a, b}, vv[] = {v, v}, bb[] = {b, b}, av[] = {a, v};
  CHECK(concatenate(ab, 0).shape == Dims{4, 3});
  CHECK(concatenate(ab, -1).shape == Dims{2, 6});
  CHECK(concatenate(ab, {}).shape == Dims{12});
  CHECK(concatenate(ab).dtype == DType::Float64);
  CHECK(concatenate(bb).dtype == DType::Int8);
  CHECK(stack(ab, -1).shape == Dims{2, 3, 2});
  CHECK(hstack(vv).shape == Dims{6});
  CHECK(hstack(ab).shape == Dims{2, 6});
  CHECK(vstack(av).shape == Dims{3, 3});
  CHECK(dstack(vv).shape == Dims{1, 3, 2});
  CHECK(dstack(ab).shape == Dims{2, 3, 2});
  CHECK(column_stack(vv).shape == Dims{3, 2});
  const Array turned[] = {tracer::transpose(a), tracer::transpose(a)};
  CHECK(concatenate(turned).strides == Dims{8, 48});
}

TEST_CASE("errors of joining") {
  without_values();
  const Array a = zeros(Dims{2, 3}), b = zeros(Dims{3, 2}), v = zeros(Dims{2}), s = zeros(Dims{});
  CHECK(message<ValueError>([] { concatenate({}); }) == "need at least one array to concatenate");
  CHECK(message<ValueError>([&] { concatenate(std::span(&s, 1)); }) ==
        "zero-dimensional arrays cannot be concatenated");
  CHECK(message<ShapeError>([&] {
          const Array both[] = {a, b};
          concatenate(both);
        }) ==
        "all the input array dimensions except for the concatenation axis must match exactly, but "
        "along dimension 1, the array at index 0 has size 3 and the array at index 1 has size 2");
  CHECK(message<ShapeError>([&] {
          const Array both[] = {v, b};
          concatenate(both);
        }) ==
        "all the input arrays must have same number of dimensions, but the array at index 0 has 1 "
        "dimension(s) and the array at index 1 has 2 dimension(s)");
  CHECK(message<ShapeError>([&] {
          const Array both[] = {a, b};
          stack(both);
        }) == "all input arrays must have the same shape");
  CHECK(message<ValueError>([&] { split(zeros(Dims{5}), 2); }) ==
        "array split does not result in an equal division");
  CHECK(message<ValueError>([&] { array_split(zeros(Dims{3}), 0); }) ==
        "number sections must be larger than 0.");
}

TEST_CASE("splits are views") {
  without_values();
  const Array a = zeros(Dims{5, 2});
  const auto parts = array_split(a, 3);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].shape == Dims{2, 2});
  CHECK(parts[2].shape == Dims{1, 2});
  CHECK(parts[1].storage == a.storage);
  CHECK(parts[1].offset == 32);
  const std::int64_t at[] = {1, 4};
  CHECK(split_at(a, at)[1].shape == Dims{3, 2});
}
