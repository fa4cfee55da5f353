// A product of weights that follow from another product is computed with it.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;

namespace {

Array row_of(ReduceKind kind, const Array& s) { return reduce(kind, s, -1, true); }
Array exponentials(const Array& s) {
  return apply(OpId::Exp, apply(OpId::Subtract, s, row_of(ReduceKind::Max, s)));
}
Array divided(const Array& e) { return apply(OpId::Divide, e, row_of(ReduceKind::Sum, e)); }

// weights(scores) @ values
template <class F>
Planned attended(F&& weights, const Machine& m = kMachine, std::int64_t depth = 64,
                 bool lanes = true) {
  const auto product = [&] {
    return tracer::matmul(weights(tracer::matmul(operand({300, 32}), operand({32, 520}))),
                          operand({520, 40}));
  };
  return {{product()},
          {&fusion::call_libraries(), &fusion::place_products(), &fusion::attend_in_blocks()},
          m,
          {.lanes = lanes, .product_depth = depth}};
}
Array softmax(const Array& s) { return divided(exponentials(s)); }

}  // namespace

TEST_CASE("attend_in_blocks: a softmax of scores, whatever the machine") {
  for (const double byte : {0., 1.}) {
    const Planned p = attended(softmax, with_memory(byte));
    REQUIRE(p.plan->steps.size() == 1);
    CHECK(p.plan->steps[0].region.order == fusion::FoldOrder::Rescaled);
    REQUIRE(p.plan->steps[0].region.attention);
    CHECK(p.plan->steps[0].region.attention->folds.size() == 2);
    const fusion::Choice c = p.exact("what its rows follow from is computed in blocks");
    CHECK((c.instead < c.as_is) == (byte > 0 || kMachine.operation > 0));
    CHECK(p.plan->bytes_moved == p.plan->bytes_least);
  }
}

TEST_CASE(
    "attend_in_blocks: on a device where it is faster, or the scores are too large to store") {
  Machine m = with_memory(0);
  m.operation = 0;
  const auto in_blocks = [&] { return attended(softmax, m, 64, false).calls() == 0; };
  m.attention_product.single = m.blas_product.single / 2;
  CHECK(in_blocks());
  m.attention_product.single = m.blas_product.single * 2;
  CHECK_FALSE(in_blocks());
  m.most_stored = 300 * 520 * 8 - 1;
  CHECK(in_blocks());
}

TEST_CASE("attend_in_blocks: not weights that blocks of keys cannot rescale") {
  // A sum of differences is not homogeneous in the maximum.
  const Planned p = attended([](const Array& s) {
    const Array d = apply(OpId::Subtract, s, row_of(ReduceKind::Max, s));
    return apply(OpId::Divide, apply(OpId::Exp, d), row_of(ReduceKind::Sum, d));
  });
  CHECK(p.calls() == 2);
  CHECK(p.products() == 0);
  CHECK(attended(softmax, kMachine, 0).calls() == 2);  // no region multiplies
}
