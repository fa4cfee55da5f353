// What stands around products in blocks: which operands and readers are in memory.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// In blocks, whatever a library takes.
struct InBlocks final : fusion::Rule {
  void begin(const fusion::Candidate& c, fusion::Offers& o) const override {
    for (std::int32_t i = 0; i < c.problem().graph.size(); ++i)
      if (!c.problem().graph[i].leaf && c.problem().graph[i].node->kind == tracer::NodeKind::MatMul)
        o.begin_with({fusion::Edit::Multiply, i, "in blocks"});
  }
};

Planned planned(const std::vector<Array>& wanted) {
  static const InBlocks in_blocks;
  return Planned(wanted, {&in_blocks, &fusion::place_products(), &fusion::keep_products()},
                 kMachine, {.product_depth = 64});
}
Array product() { return tracer::matmul(operand({300, 200}), operand({200, 100})); }

}  // namespace

TEST_CASE("place_products: columns are in memory, rows are computed once a block") {
  const Array a = apply(OpId::Exp, operand({300, 200})), b = apply(OpId::Exp, operand({200, 100}));
  const Planned p = planned({tracer::matmul(a, b)});
  CHECK(p.stored("columns of a product, which all blocks of rows read") == 1);
  CHECK(p.stored("rows of a product, which others read, too") == 0);
  CHECK(p.products() == 1);
}

TEST_CASE("place_products: columns in memory, and what it would take to compute them again") {
  const auto columns = [](std::int64_t blocks) {
    const std::int64_t rows = blocks * fusion::ProductBlocks().rows;
    // No name holds the columns any more where that is planned.
    const Array all = tracer::matmul(operand({rows, 200}), apply(OpId::Exp, operand({200, 100})));
    return planned({all}).exact("columns of a product, which all blocks of rows read");
  };
  const fusion::Choice three = columns(3), six = columns(6);
  CHECK(three.instead < three.as_is);
  CHECK(six.as_is == Approx(2 * three.as_is));
  CHECK(six.instead == three.instead);
}

TEST_CASE("place_products: what reads a product by its rows is in its region") {
  const Array same = product();
  CHECK(planned({apply(OpId::Exp, same)}).stored("read other than by the rows of its product") ==
        0);
  const Array turned = product();
  CHECK(planned({reduce(ReduceKind::Sum, turned, 0)})
            .stored("read other than by the rows of its product") == 1);
}

TEST_CASE("keep_products: a region has blocks of few products at a time") {
  for (const int products : {4, 5}) {
    Array all = product();
    for (int i = 1; i < products; ++i) all = apply(OpId::Multiply, all, product());
    const Planned p = planned({all});
    CHECK(p.products() == 1);
    CHECK(p.calls() == products - 4);
    CHECK(p.stored("computed by a library call") == products - 4);
  }
}
