// A product is a region with what stands around it where that spares memory, else a library call.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;

namespace {

struct Multiplied : Planned {
  Multiplied(const Array& a, const Machine& m = kMachine, std::int64_t depth = 64)
      : Planned(
            {a},
            {&fusion::call_libraries(), &fusion::place_products(), &fusion::multiply_in_regions()},
            m, {.product_depth = depth}) {}
  bool in_region() const {
    const bool called = choice("computed by a library call").taken;
    CHECK(products() == !called);
    CHECK(calls() == called);
    return !called;
  }
};

Array multiplied() { return tracer::matmul(operand({300, 200}), operand({200, 100})); }
Array one_more() { return apply(OpId::Add, multiplied(), weak(1)); }
Array of_exponentials() {
  return tracer::matmul(apply(OpId::Exp, operand({300, 200})), operand({200, 100}));
}

}  // namespace

TEST_CASE("multiply_in_regions: with what reads it or what it reads, not by itself") {
  CHECK_FALSE(Multiplied(multiplied()).in_region());
  CHECK(Multiplied(one_more()).in_region());
  CHECK(Multiplied(of_exponentials()).in_region());
}

TEST_CASE("multiply_in_regions: while what it spares costs more than its blocks") {
  Machine m = with_memory(0);
  m.operation = 0;
  CHECK_FALSE(Multiplied(one_more(), m).in_region());
  m.block = 0;  // what is left is who multiplies faster
  m.blas_product.single = m.tile_product.single / 2;
  CHECK_FALSE(Multiplied(one_more(), m).in_region());
  m = with_memory(1e-9);
  m.block = 1e-3;
  CHECK_FALSE(Multiplied(of_exponentials(), m).in_region());
}

TEST_CASE("multiply_in_regions: not with its own transpose, of which a library computes half") {
  const auto one_more = [](const Array& a, const Array& b) {
    return apply(OpId::Add, tracer::matmul(a, b), weak(1));
  };
  const Array x = operand({200, 300}), y = operand({200, 300});
  CHECK(Multiplied(one_more(tracer::transpose(x), y)).in_region());
  CHECK_FALSE(Multiplied(one_more(tracer::transpose(x), x)).in_region());
  CHECK_FALSE(Multiplied(one_more(x, tracer::transpose(x))).in_region());
  const Array computed = apply(OpId::Exp, x);
  CHECK_FALSE(Multiplied(one_more(tracer::transpose(computed), computed)).in_region());
  CHECK_FALSE(Multiplied(one_more(tracer::transpose(apply(OpId::Exp, x)), computed)).in_region());
  const Array rows = operand({8, 200, 300});
  const std::int64_t axes[] = {0, 2, 1};
  CHECK_FALSE(Multiplied(one_more(rows, tracer::transpose(rows, axes))).in_region());
}

TEST_CASE("multiply_in_regions: not a large one whose columns are packed again") {
  const auto deep = [](std::int64_t k) {
    return apply(OpId::Add, tracer::matmul(operand({2000, k}), operand({k, 300})), weak(1));
  };
  CHECK(Multiplied(deep(40)).in_region());
  CHECK_FALSE(Multiplied(deep(2000)).in_region());
}

TEST_CASE("multiply_in_regions: not what no tile takes") {
  const auto left = [](const Multiplied& p) {
    CHECK(p.plan->considered.empty());
    CHECK(p.calls() == 1);
  };
  left(Multiplied(one_more(), kMachine, 0));
  const Array a = operand({300, 200}, DType::Complex128),
              b = operand({200, 100}, DType::Complex128);
  left(Multiplied(apply(OpId::Add, tracer::matmul(a, b), weak(1))));
  left(Multiplied(apply(OpId::Add, tracer::matmul(operand({300, 4}), operand({4, 100})), weak(1))));
}

TEST_CASE("multiply_in_regions: a region says what its blocks are computed from") {
  const auto region = [](const Array& a) {
    const Multiplied p(a);
    REQUIRE(p.products() == 1);
    return std::ranges::find_if(p.plan->steps, [](const auto& s) { return s.region.product >= 0; })
        ->region;
  };
  CHECK(region(one_more()).sums.empty());
  CHECK_FALSE(region(one_more()).computes_columns);
  CHECK_FALSE(region(of_exponentials()).computes_columns);
  const auto term = [] { return tracer::matmul(operand({300, 60}), operand({60, 100})); };
  const Array sum = apply(OpId::Add, apply(OpId::Add, term(), term()), operand({300, 100}));
  const fusion::RegionSpec two = region(apply(OpId::Multiply, sum, weak(2)));
  REQUIRE(two.sums.size() == 1);
  CHECK(two.sums[0].products == two.products());
  CHECK(two.sums[0].start == -1);
}
