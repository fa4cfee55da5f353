// What lies across the grain goes through shared memory.
#include "offers.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("transpose_tiles: while what lies apart costs more than a copy") {
  const RandomKernel r = transposed_kernel(1, 64, 96, DType::Float32);
  CHECK(offers(r, {.multiprocessors = 1}).front().mapping.transposed);
  CHECK(is_plain(offers(r, {.multiprocessors = 1, .apart = 20e-9}).front().mapping));
  CHECK(is_plain(offers(r).front().mapping));  // fewer threads than a device has room for
}

TEST_CASE("transpose_tiles: no offer where rows lie along the grain or are no tile long") {
  const auto offered = [](const RandomKernel& r) {
    return count(offers(r), [](const Mapping& m) { return m.transposed; });
  };
  CHECK(offered(transposed_kernel(1, 32, 32, DType::Float32)) == 1);
  CHECK(offered(transposed_kernel(1, 31, 96, DType::Float32)) == 0);
  CHECK(offered(transposed_kernel(1, 96, 31, DType::Float32)) == 0);
  CHECK(offered(shifted_kernel(64, 96, 96, 0, 0, DType::Float32, false)) == 0);
}
