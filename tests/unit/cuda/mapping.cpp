// Mappings that rules offer: the cheapest is taken.
#include <bit>

#include "../interp/product_kernel.hpp"
#include "codegen/cuda/program.hpp"
#include "rules/offers.hpp"

using namespace plait;
using mapping::CostedMapping;
using mapping::Mapping;
using test::offers;

namespace {

// Of a team, once a mapping was applied.
std::int64_t shared_bytes(const ir::Kernel& k, const std::int64_t* params) {
  std::int64_t total = 0;
  for (const ir::Local& l : k.locals)
    if (l.space == ir::Space::Shared) total += mapping::row_bytes(l, params);
  return total;
}

}  // namespace

TEST_CASE("the cheapest of all offers is taken, and the others stay to be seen") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  for (std::int64_t rows : {1, 100, 10000, 1000000})
    for (std::int64_t columns : {1, 9, 100, 1000, 10000}) {
      const auto all = offers(r.kernel, {columns, 4 * columns}, rows);
      CHECK(test::count(all, test::is_plain) == 1);
      CHECK(std::all_of(all.begin(), all.end(),
                        [&](const CostedMapping& o) { return o.seconds >= all.front().seconds; }));
    }
}

TEST_CASE("a program says how it is mapped and what else there was") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  const std::int64_t params[] = {1000, 4000};
  const mapping::Extents e{params, 16384};
  const std::string text = cuda::mapping_text(*cuda::generate(r.kernel, {}, e), e);
  CHECK(text.find("32 lanes an iteration, locals in shared memory, rows kept (") == 0);
  CHECK_THAT(text, Catch::Contains("\nnot a thread an iteration ("));
  CHECK_THAT(text, Catch::Contains("\nnot a block of 256 threads an iteration"));
}

TEST_CASE("locals of a mapped kernel say where they lie") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  const std::int64_t params[] = {1000, 4000};
  const auto spaces = [](const ir::Kernel& k) {
    std::vector<ir::Space> all;
    for (const ir::Local& l : k.locals) all.push_back(l.space);
    return all;
  };
  const mapping::NestFacts facts = mapping::analyse_nest(r.kernel);
  for (const CostedMapping& o : offers(r.kernel, {1000, 4000}, 16384)) {
    ir::Kernel k = r.kernel;
    mapping::NestFacts n = facts;
    mapping::apply(k, n, o.mapping);
    INFO(to_string(o.mapping));
    const ir::Space expected = o.mapping.team == 1     ? ir::Space::Cache
                               : o.mapping.rows_shared ? ir::Space::Shared
                                                       : ir::Space::Global;
    for (const ir::Space s : spaces(k)) CHECK(s == expected);
    CHECK(shared_bytes(k, params) == mapping::team_bytes(r.kernel, facts, o.mapping, params));
  }
  for (const ir::Space s : spaces(r.kernel)) CHECK(s == ir::Space::Cache);
}

TEST_CASE(
    "what multiplies fragments is a block's, the largest locals in scratch where not all fit") {
  const test::RandomKernel r = test::product_kernel({64, 300, 200, 64, 32, 1, 32, DType::Float32});
  const auto all = offers(r);
  REQUIRE(all.size() == 1);
  CHECK((all[0].mapping.team == 256 && all[0].mapping.in_scratch == 0));
  GpuMachine small;
  small.shared_bytes = 99 * 1024;
  const Mapping m = offers(r, small)[0].mapping;
  const mapping::NestFacts n = mapping::analyse_nest(r.kernel);
  CHECK(std::popcount(m.in_scratch) == 1);
  CHECK(mapping::space_of(r.kernel, 1, n, m) == ir::Space::Global);  // the product
  CHECK(mapping::team_bytes(r.kernel, n, m, r.params.data()) <= small.shared_bytes);
  ir::Kernel placed = r.kernel;
  mapping::NestFacts facts = n;
  mapping::apply(placed, facts, m);
  CHECK(placed.locals[1].space == ir::Space::Global);
  CHECK(shared_bytes(placed, r.params.data()) ==
        mapping::team_bytes(r.kernel, n, m, r.params.data()));
  // Loops that fill the operands and the one that stores go to warps, the sum's to nobody.
  CHECK(std::count(n.over_warps.begin(), n.over_warps.end(), 1) == 3);
  CHECK_FALSE((n.shared[1] || n.over_warps[1]));
}
