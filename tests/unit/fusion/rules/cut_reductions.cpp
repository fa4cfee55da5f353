// Few results of a long reduction are folded in chunks, which is asked of extents alone.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;

namespace {

bool cut(const Array& a, fusion::Target target = {}) {
  const Planned p({apply(OpId::Negative, a)}, {&fusion::cut_reductions()}, kMachine, target);
  const char* const why = "few results of a long reduction";
  const int blocked = p.regions(fusion::FoldOrder::Chunks);
  CHECK(p.stored(why) == blocked);
  if (blocked)
    p.exact(why);
  else
    CHECK(p.plan->considered.empty());
  return blocked == 1;
}
bool sum_is_cut(const Dims& shape, int axis) {
  return cut(reduce(ReduceKind::Sum, operand(shape), axis));
}

}  // namespace

TEST_CASE("cut_reductions: one result from so many elements on") {
  CHECK(sum_is_cut({fusion::kBlockedFold}, 0));
  CHECK_FALSE(sum_is_cut({fusion::kBlockedFold - 1}, 0));
}

TEST_CASE("cut_reductions: it decides bits, so that the costs that are shown decide nothing") {
  const auto cost = [](std::int64_t elements, int workers) {
    const Array sum = reduce(ReduceKind::Sum, operand({elements}), 0);
    return Planned({apply(OpId::Negative, sum)}, {&fusion::cut_reductions()}, kMachine,
                   {.workers = workers})
        .exact("few results of a long reduction");
  };
  for (const int workers : {2, 8}) {
    const fusion::Choice c = cost(1000000, workers);
    CHECK(c.instead < c.as_is);
  }
  const fusion::Choice alone = cost(1000000, 1);
  CHECK(alone.instead > alone.as_is);
}

TEST_CASE("cut_reductions: rows while there are too few of them for the threads") {
  CHECK(sum_is_cut({fusion::kMinParallelRows - 1, 1000}, 1));
  CHECK_FALSE(sum_is_cut({fusion::kMinParallelRows, 1000}, 1));
  CHECK_FALSE(sum_is_cut({1000, 63}, 1));
  // More workers, where chunks leave the bits as they are.
  const auto of = [](ReduceKind kind, std::int64_t columns) {
    const Array a = operand({fusion::kMinParallelRows, columns});
    return cut(reduce(kind, a, 1), {.ordered_products = false, .min_parallel_rows = 1000});
  };
  CHECK(of(ReduceKind::Sum, fusion::kLongRow + 1));
  CHECK_FALSE(of(ReduceKind::Sum, fusion::kLongRow));
  CHECK_FALSE(of(ReduceKind::Prod, fusion::kLongRow + 1));
}

TEST_CASE("cut_reductions: columns while they are short of their number") {
  CHECK(sum_is_cut({4096, 16}, 0));
  CHECK_FALSE(sum_is_cut({512, 512}, 0));
  // The outermost axis is not reduced: threads have that.
  CHECK_FALSE(sum_is_cut({2, 4096, 16}, 1));
}

TEST_CASE("cut_reductions: not products of floats, whose order shows") {
  const Array a = reduce(ReduceKind::Prod, operand({100000}), 0);
  CHECK_FALSE(cut(a));
  CHECK(cut(a, {.ordered_products = false}));
}
