// A team takes a row.
#include "offers.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("share_rows: a team fits the rows, and what it keeps the memory") {
  const RandomKernel r = row_kernel(RowWork::Standardise, 1, 1);
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

TEST_CASE(
    "share_rows: no offer where the smallest team has no work, or a row is all that there is") {
  const auto offered = [](const RandomKernel& r) {
    return count(offers(r), [](const Mapping& m) { return m.team > 1; });
  };
  CHECK(offered(row_kernel(RowWork::Sums, 100, 8)) == 0);
  CHECK(offered(row_kernel(RowWork::Sums, 100, 9)) == 4);
  CHECK(offered(shifted_kernel(100, 101, 101, 0, 0, DType::Float32, false)) == 0);
}

TEST_CASE("share_rows: what an element costs in each team decides") {
  const RandomKernel r = row_kernel(RowWork::ArgMax, 1, 1);
  for (const std::size_t quickest : {0, 1, 2, 3}) {
    GpuMachine gpu;
    for (GpuTeam& team : gpu.teams) team.element = 20e-6;
    gpu.teams[quickest].element = 0.2e-9;
    CHECK(offers(r.kernel, {300, 1200}, 1000, gpu).front().mapping.team ==
          gpu.teams[quickest].threads);
  }
}
