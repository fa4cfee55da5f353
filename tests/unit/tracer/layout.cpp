// Golden strides were computed with NumPy 2.4.
#include "tracer/layout.hpp"

#include <catch2/catch.hpp>

#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {
Array plus_one(const Array& a) {
  const Operand o[] = {a, Operand(scalar_int(1), Weak::Int)};
  return elementwise(OpId::Add, o);
}
Array add(const Array& a, const Array& b) {
  const Operand o[] = {a, b};
  return elementwise(OpId::Add, o);
}
Array zeros(const Dims& shape) { return full(shape, scalar_float(0)); }
}  // namespace

TEST_CASE("results are laid out in the operands' order") {
  const Array x = zeros({2, 3, 4});
  const std::int64_t axes[] = {2, 0, 1};
  const Array y = transpose(x, axes);
  CHECK(plus_one(y).strides == Dims{8, 96, 32});
  CHECK(plus_one(transpose(x)).strides == Dims{8, 32, 96});
  CHECK(add(flip(x, Dims{1}), x).strides == Dims{96, 32, 8});
  CHECK(add(transpose(x), zeros({4, 3, 2})).strides == Dims{48, 16, 8});
  CHECK(plus_one(full({2, 1, 3}, scalar_float(0), 'F')).strides == Dims{8, 16, 16});
}

TEST_CASE("broadcast operands lay out a result by the first that can tell") {
  const Array column = zeros({3, 1}), row = zeros({4});
  CHECK(add(column, row).shape == Dims{3, 4});
  CHECK(add(column, row).strides == Dims{32, 8});
  const std::int64_t axes[] = {1, 0, 2};
  const Array swapped = transpose(zeros({3, 2, 4}), axes);  // (2, 3, 4)
  CHECK(add(row, swapped).strides == Dims{32, 64, 8});
  CHECK(add(zeros({2, 1, 1}), swapped).strides == Dims{32, 64, 8});
  CHECK(add(zeros({2, 1, 4}), zeros({3, 1})).strides == Dims{96, 32, 8});
  CHECK(add(transpose(zeros({4, 3})), zeros({2, 1, 1})).strides == Dims{96, 8, 24});
  CHECK(add(zeros({0, 1}), row).strides == Dims{0, 0});
}

TEST_CASE("a mask lays out the result of 0-D operands") {
  Array mask = full({3, 4}, scalar_bool(true), 'F');
  ElementwiseOptions opt;
  opt.where = &mask;
  const Array x = zeros({});
  const Operand o[] = {x, x};
  CHECK(elementwise(OpId::Add, o, opt).strides == Dims{8, 24});
}

TEST_CASE("an explicit order wins") {
  const Array x = transpose(zeros({2, 3}));
  const Operand o[] = {x, x};
  ElementwiseOptions opt;
  opt.order = 'C';
  CHECK(elementwise(OpId::Add, o, opt).strides == Dims{16, 8});
  opt.order = 'A';
  CHECK(elementwise(OpId::Add, o, opt).strides == Dims{8, 24});
}

TEST_CASE("copies keep order K, A, C and F") {
  const std::int64_t axes[] = {2, 0, 1};
  const Array y = transpose(zeros({2, 3, 4}), axes);
  CHECK(copy(y, 'K').strides == Dims{8, 96, 32});
  CHECK(copy(y, 'A').strides == Dims{48, 24, 8});
  CHECK(copy(y, 'F').strides == Dims{8, 32, 64});
}

TEST_CASE("reductions keep the operand's order, arg-reductions give C order") {
  const std::int64_t axes[] = {2, 0, 1};
  const Array y = transpose(zeros({2, 3, 4}), axes);
  ReduceOptions opt;
  opt.axes = Dims{1};
  CHECK(reduce(ReduceKind::Sum, y, opt).strides == Dims{8, 32});
  opt.keepdims = true;
  CHECK(reduce(ReduceKind::Sum, y, opt).strides == Dims{8, 96, 32});
  ReduceOptions arg;
  arg.axes = Dims{0};
  CHECK(reduce(ReduceKind::ArgMin, y, arg).strides == Dims{24, 8});
}

TEST_CASE("axes of a reduction") {
  const Array x = transpose(zeros({4, 3, 2}));  // (2, 3, 4)
  ReduceOptions opt;
  opt.axes = Dims{-1, 0};
  CHECK(reduce(ReduceKind::Sum, x, opt).shape == Dims{3});
  opt.keepdims = true;
  CHECK(reduce(ReduceKind::Sum, x, opt).shape == Dims{1, 3, 1});
  CHECK(reduce(ReduceKind::ArgMax, x, {}).shape == Dims{});
  ReduceOptions kept;
  kept.keepdims = true;
  CHECK(reduce(ReduceKind::ArgMax, x, kept).shape == Dims{1, 1, 1});
  ReduceOptions none;
  none.axes = Dims{};
  CHECK(reduce(ReduceKind::Sum, x, none).strides == x.strides);
  opt.axes = Dims{2, -1};
  CHECK_THROWS_AS(reduce(ReduceKind::Sum, x, opt), ValueError);
  opt.axes = Dims{0, 0, 3};
  CHECK_THROWS_AS(reduce(ReduceKind::Sum, x, opt), AxisError);
  opt.axes = Dims{0, 1};
  CHECK_THROWS_AS(reduce(ReduceKind::ArgMax, x, opt), DTypeError);
}

TEST_CASE("reshape is a view where the groups of axes are dense") {
  const Index every_other[] = {All{}, Slice{std::nullopt, std::nullopt, 2}};
  const Array x = slice(zeros({4, 6}), every_other);
  const Array split = reshape(x, {2, 2, 3});
  CHECK(split.storage == x.storage);
  CHECK(split.strides == Dims{96, 48, 16});
  CHECK(reshape(x, {12}).storage == x.storage);  // 48 == 3 * 16
  const Array t = transpose(zeros({2, 3}));
  CHECK(reshape(t, {6}).storage != t.storage);
  CHECK(reshape(t, {6}, 'F').storage == t.storage);
}

TEST_CASE("extent covers negative strides and empty shapes") {
  const Extent e = extent({3, 2}, {-16, 8}, 8);
  CHECK(e.first == -32);
  CHECK(e.last == 16);
  CHECK(extent({0, 4}, {32, 8}, 8).last == 0);
}
