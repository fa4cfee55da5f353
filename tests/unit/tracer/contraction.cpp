// What a product of several axes is recorded as: a plain one where strides let its axes merge.
#include "tracer/contraction.hpp"

#include <catch2/catch.hpp>

#include "core/config.hpp"
#include "tracer/context.hpp"
#include "tracer/node.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {

// Operations stay pending, however small.
class Pending {
 public:
  Pending() { config().eager_limit = 0; }
  ~Pending() { config().eager_limit = before_; }

 private:
  std::int64_t before_ = config().eager_limit;
};

Array floats(const Dims& shape) { return empty(shape, DType::Float32); }

// The product behind a result that is a view of it, or it itself.
const Node& product_of(const Array& a) {
  const Node* n = a.storage->version.get();
  while (n->kind == NodeKind::View) n = n->inputs[0].get();
  return *n;
}

}  // namespace

TEST_CASE("axes that lie one after another are one axis of a plain product") {
  const Pending pending;
  const Array a = floats({2, 3, 40, 5}), b = floats({40, 5, 7, 6});
  const Array c = contract(a, b, 0, 2);
  CHECK(c.shape == Dims{2, 3, 7, 6});
  CHECK(c.strides == Dims{504, 168, 24, 4});
  const Node& n = product_of(c);
  REQUIRE(n.kind == NodeKind::MatMul);
  CHECK(n.axes.empty());
  CHECK(n.shape == Dims{6, 42});
  CHECK(product_depth(n) == 200);
  CHECK(n.inputs[0]->kind == NodeKind::View);
}

TEST_CASE("axes that lie apart stay axes of the operands, which are not copied") {
  const Pending pending;
  const Array x = floats({2, 8, 12, 14}), w = floats({6, 8, 3, 3});
  const Array windows =
      as_strided(x, DType::Float32, {2, 10, 12, 8, 3, 3}, {5376, 56, 4, 672, 56, 4}, 0);
  const std::int64_t order[] = {1, 2, 3, 0};
  const Array c = contract(windows, transpose(w, order), 0, 3);
  CHECK(c.shape == Dims{2, 10, 12, 6});
  const Node& n = product_of(c);
  REQUIRE(n.kind == NodeKind::MatMul);
  const ProductAxes axes = product_axes(n);
  CHECK(axes.batch == 0);
  CHECK(axes.rows == 3);
  CHECK(axes.columns == 1);
  CHECK(axes.sums == 3);
  CHECK(product_depth(n) == 72);
  CHECK(n.inputs[0]->kind == NodeKind::View);
  CHECK(n.inputs[0]->inputs[0].get() == x.storage->version.get());
}

TEST_CASE("a batch is broadcast, and what nothing is shared in is a sum in loops") {
  const Pending pending;
  const Array a = floats({1, 4, 9}), b = floats({5, 9, 3});
  CHECK(contract(a, b, 1, 1).shape == Dims{5, 4, 3});
  const Array dots = contract(floats({5, 9}), floats({5, 9}), 1, 1);
  CHECK(dots.shape == Dims{5});
  CHECK(product_of(dots).kind == NodeKind::Reduce);
}

TEST_CASE("products of integers sum over several axes, as those of floats do") {
  const Pending pending;
  const Array a = empty({2, 6, 4, 8}, DType::Int32), b = empty({4, 4, 3}, DType::Int32);
  const Index part[] = {All{}, All{}, All{}, Slice{0, 4, std::nullopt}};
  const Array c = contract(slice(a, part), b, 0, 2);
  CHECK(c.shape == Dims{2, 6, 3});
  CHECK(product_axes(product_of(c)).sums == 2);
  CHECK(product_of(c).inputs[0]->kind == NodeKind::View);
}
