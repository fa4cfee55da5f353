#include <catch2/catch.hpp>

#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {
Array matrix() { return empty({3, 4}, DType::Float64); }
}  // namespace

TEST_CASE("slices move the offset and share the storage") {
  const Array a = matrix();
  const Index rows[] = {Slice{1, std::nullopt, std::nullopt},
                        Slice{std::nullopt, std::nullopt, -2}};
  const Array v = slice(a, rows);
  CHECK(v.storage == a.storage);
  CHECK(v.shape == Dims{2, 2});
  CHECK(v.strides == Dims{32, -16});
  CHECK(v.offset == 32 + 24);
  const Index last[] = {std::int64_t{-1}, NewAxis{}, Ellipsis{}};
  CHECK(slice(a, last).shape == Dims{1, 4});
  CHECK(slice(a, last).offset == 64);
}

TEST_CASE("an empty slice stays inside its storage") {
  const Index beyond[] = {Slice{7, 9, std::nullopt}};
  const Array v = slice(matrix(), beyond);
  CHECK(v.shape == Dims{0, 4});
  CHECK(v.offset == 0);
}

TEST_CASE("axes are moved, flipped, dropped and added without a copy") {
  const Array a = matrix();
  CHECK(transpose(a).strides == Dims{8, 32});
  CHECK(swapaxes(a, 0, -1).shape == Dims{4, 3});
  CHECK(moveaxis(expand_dims(a, Dims{0}), Dims{0}, Dims{2}).shape == Dims{3, 4, 1});
  CHECK(flip(a, std::nullopt).offset == 64 + 24);
  CHECK(squeeze(expand_dims(a, Dims{0, -1}), std::nullopt).shape == a.shape);
  CHECK(diagonal(a, 1, 0, 1).strides == Dims{40});
  CHECK_FALSE(diagonal(a, 1, 0, 1).writeable);
  CHECK_FALSE(broadcast_to(a, {2, 3, 4}).writeable);
  CHECK(broadcast_to(a, {2, 3, 4}).strides == Dims{0, 32, 8});
}

TEST_CASE("real and imaginary parts are views of the bytes") {
  const Array z = empty({5}, DType::Complex64);
  CHECK(real(z).dtype == DType::Float32);
  CHECK(imag(z).offset == 4);
  CHECK(imag(z).strides == Dims{8});
  CHECK(imag(z).storage == z.storage);
}

TEST_CASE("views of views are read relative to the storage") {
  const Array a = matrix();
  const Index first[] = {Slice{1, std::nullopt, std::nullopt}};
  const Array v = slice(slice(a, first), first);
  const Ref<Node> n = read(v);
  REQUIRE(n->kind == NodeKind::View);
  CHECK(n->offset == 64);
  CHECK(n->inputs[0] == read(a));
}

TEST_CASE("bounds decide whether memory may be shared") {
  const Array a = matrix();
  const Index top[] = {std::int64_t{0}}, bottom[] = {std::int64_t{2}};
  CHECK(may_share_memory(a, slice(a, top)));
  CHECK_FALSE(may_share_memory(slice(a, bottom), slice(a, top)));
  CHECK_FALSE(may_share_memory(a, matrix()));
}
