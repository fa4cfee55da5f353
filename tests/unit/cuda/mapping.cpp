// Which mapping the rules offer, what the table makes of it, and that the cheapest is taken.
#include <bit>
#include <catch2/catch.hpp>

#include "../interp/product_kernel.hpp"
#include "codegen/cuda/program.hpp"
#include "fusion/mapping/phases.hpp"
#include "kernels.hpp"

using namespace plait;
using mapping::Mapping;
using mapping::Offer;

namespace {

std::vector<Offer> offers(const ir::Kernel& k, std::vector<std::int64_t> params, std::int64_t rows,
                          const GpuMachine& gpu = {}) {
  return mapping::mappings(k, mapping::analyse_nest(k), gpu, {params.data(), rows});
}
std::vector<Offer> offers(const test::RandomKernel& r, const GpuMachine& gpu = {}) {
  return offers(r.kernel, r.params, r.grid, gpu);
}
int count(const std::vector<Offer>& all, bool (*of)(const Mapping&)) {
  return static_cast<int>(
      std::count_if(all.begin(), all.end(), [&](const Offer& o) { return of(o.mapping); }));
}
bool is_plain(const Mapping& m) {
  return m.team == 1 && m.pack == 1 && !m.transposed && !m.whole_tiles && !m.row_tiles;
}

}  // namespace

TEST_CASE("the cheapest of all offers is taken, and the others stay to be seen") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Softmax, 1, 1);
  for (std::int64_t rows : {1, 100, 10000, 1000000})
    for (std::int64_t columns : {1, 9, 100, 1000, 10000}) {
      const auto all = offers(r.kernel, {columns, 4 * columns}, rows);
      CHECK(count(all, is_plain) == 1);
      CHECK(std::all_of(all.begin(), all.end(),
                        [&](const Offer& o) { return o.seconds >= all.front().seconds; }));
    }
}

TEST_CASE("pack_neighbours: where enough threads are left, and rows are more than their ends") {
  const auto packed = [](std::int64_t rows, std::int64_t columns, const GpuMachine& gpu) {
    return offers(test::shifted_kernel(rows, columns, columns, 0, 0, DType::Float32, false), gpu)
               .front()
               .mapping.pack > 1;
  };
  constexpr GpuMachine small{.multiprocessors = 1};
  CHECK(packed(40, 101, small));
  CHECK_FALSE(packed(400, 40, small));  // a row is ends
  CHECK_FALSE(packed(10, 101, small));  // half a multiprocessor
  CHECK_FALSE(packed(40, 101, {.multiprocessors = 1, .packed = 1.1}));
}

TEST_CASE("transpose_tiles: while what lies apart costs more than a copy") {
  const test::RandomKernel r = test::transposed_kernel(1, 64, 96, DType::Float32);
  CHECK(offers(r, {.multiprocessors = 1}).front().mapping.transposed);
  CHECK(is_plain(offers(r, {.multiprocessors = 1, .apart = 1}).front().mapping));
  CHECK(is_plain(offers(r).front().mapping));  // fewer threads than a device has room for
}

TEST_CASE("stage_tiles: what is read often enough, in as much shared memory as there is") {
  const test::RandomKernel r = test::nearest_kernel(513, 64, 64, DType::Float32);
  const auto best = [&](const GpuMachine& gpu) { return offers(r, gpu).front().mapping; };
  const Mapping all = best({.multiprocessors = 1});
  CHECK((all.whole_tiles && all.row_tiles && all.streamed < 0));
  const Mapping pieces = best({.multiprocessors = 1, .shared_bytes = 90 * 1024});
  CHECK((pieces.whole_tiles && pieces.row_tiles && pieces.streamed >= 0));
  CHECK(is_plain(best({.multiprocessors = 1, .shared_bytes = 1024})));
  CHECK(is_plain(best({.multiprocessors = 1, .copy = 1000, .shared = 10})));
  // The same row of means is all that is read: nothing comes again.
  CHECK(is_plain(offers(test::row_kernel(test::RowWork::Sums, 600, 8, DType::Float64),
                        {.multiprocessors = 1, .own_row = 1.5})
                     .front()
                     .mapping));
}

TEST_CASE("share_rows: a team fits the rows, and what it keeps the memory") {
  const test::RandomKernel r = test::row_kernel(test::RowWork::Standardise, 1, 1);
  const auto best = [&](std::int64_t rows, std::int64_t columns, const GpuMachine& gpu = {}) {
    return offers(r.kernel, {columns, 4 * columns}, rows, gpu).front().mapping;
  };
  // The borders that the table states.
  CHECK(best(100000, 128).team == 8);
  CHECK(best(100000, 129).team == 32);
  CHECK(best(20000, 1024).team == 32);
  CHECK(best(20000, 1025).team == 256);
  CHECK(best(100, 256).team == 32);
  CHECK(best(100, 257).team == 256);
  CHECK(best(100, 8192).team == 256);
  CHECK(best(100, 8193).team == 1024);
  CHECK(best(100, 8).team == 1);
  CHECK(best(100, 5000).keeps_rows);
  CHECK_FALSE(best(100, 5000, {.shared_bytes = 16 * 1024}).keeps_rows);
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

TEST_CASE(
    "what multiplies fragments is a block's, the largest locals in scratch where not all fit") {
  const test::RandomKernel r = test::product_kernel({64, 300, 200, 64, 32, 1, 32, DType::Float32});
  const auto all = offers(r);
  REQUIRE(all.size() == 1);
  CHECK((all[0].mapping.team == 256 && all[0].mapping.in_scratch == 0));
  GpuMachine small;
  small.shared_bytes = 99 * 1024;
  const Mapping m = offers(r, small)[0].mapping;
  const mapping::Nest n = mapping::analyse_nest(r.kernel);
  CHECK(std::popcount(m.in_scratch) == 1);
  CHECK(mapping::home_of(r.kernel, 1, n, m) == mapping::Home::Scratch);  // the product
  CHECK(mapping::team_bytes(r.kernel, n, m, mapping::Home::Team, r.params.data()) <=
        small.shared_bytes);
  // Loops that fill the operands and the one that stores go to warps, the sum's to nobody.
  CHECK(std::count(n.over_warps.begin(), n.over_warps.end(), 1) == 3);
  CHECK_FALSE((n.shared[1] || n.over_warps[1]));
}

TEST_CASE(
    "a barrier stands where threads touch what others wrote, also from one round to the next") {
  using mapping::Touched;
  const Touched fills{{false, false}, {true, false}}, reads{{true, false}, {false, true}},
      other{{false, true}, {}};
  mapping::Phases p;
  CHECK_FALSE(p.follow(fills));
  CHECK(p.follow(reads));
  CHECK(p.follow(other));
  CHECK_FALSE(p.follow(other));
  mapping::Phases loop;
  Touched body = fills;
  loop.enter(body += reads);
  CHECK(loop.follow(fills));  // after the last round has read it
}
