// A thread takes neighbours by one access.
#include "offers.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("pack_neighbours: where enough threads are left, and rows are more than their ends") {
  const auto packed = [](std::int64_t rows, std::int64_t columns, const GpuMachine& gpu) {
    return offers(shifted_kernel(rows, columns, columns, 0, 0, DType::Float32, false), gpu)
               .front()
               .mapping.pack > 1;
  };
  constexpr GpuMachine small{.multiprocessors = 1};
  CHECK(packed(40, 101, small));
  CHECK_FALSE(packed(400, 40, small));  // a row is ends
  CHECK_FALSE(packed(10, 101, small));  // half a multiprocessor
  CHECK_FALSE(packed(40, 101, {.multiprocessors = 1, .packed = 22e-9}));
}

TEST_CASE("pack_neighbours: no offer where an access moves as much already, or its line is apart") {
  const auto pack = [](const RandomKernel& r) { return mapping::analyse_nest(r.kernel).pack; };
  CHECK(pack(shifted_kernel(40, 101, 101, 0, 0, DType::Float32, false)) == 4);
  CHECK(pack(shifted_kernel(40, 101, 101, 0, 0, DType::Float64, false)) == 2);
  CHECK(pack(shifted_kernel(40, 101, 101, 0, 0, DType::Complex128, false)) == 1);
  CHECK(pack(transposed_kernel(1, 64, 96, DType::Float32)) == 1);
  const auto packs = [](const Mapping& m) { return m.pack > 1; };
  CHECK(count(offers(shifted_kernel(40, 101, 101, 0, 0, DType::Float64, false)), packs) == 1);
  CHECK(count(offers(transposed_kernel(1, 64, 96, DType::Float32)), packs) == 0);
}
