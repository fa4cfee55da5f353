// What threads read over and over is kept in shared memory.
#include "offers.hpp"

using namespace plait;
using namespace plait::test;

TEST_CASE("stage_tiles: what is read often enough, in as much shared memory as there is") {
  const RandomKernel r = nearest_kernel(513, 64, 64, DType::Float32);
  const auto best = [&](const GpuMachine& gpu) { return offers(r, gpu).front().mapping; };
  const Mapping all = best({.multiprocessors = 1});
  CHECK((all.whole_tiles && all.row_tiles && all.streamed < 0));
  const Mapping pieces = best({.multiprocessors = 1, .shared_bytes = 90 * 1024});
  CHECK((pieces.whole_tiles && pieces.row_tiles && pieces.streamed >= 0));
  CHECK(is_plain(best({.multiprocessors = 1, .shared_bytes = 1024})));
  CHECK(is_plain(best({.multiprocessors = 1, .copy = 20e-6, .shared = 200e-9})));
  // The same row of means is all that is read: nothing comes again.
  CHECK(is_plain(offers(row_kernel(RowWork::Sums, 600, 8, DType::Float64),
                        {.multiprocessors = 1, .own_row = 30e-9})
                     .front()
                     .mapping));
}

TEST_CASE(
    "stage_tiles: no offer for few rows, without the memory, or where nothing is read again") {
  const auto offered = [](const RandomKernel& r, const GpuMachine& gpu) {
    return count(offers(r, gpu), [](const Mapping& m) { return m.whole_tiles || m.row_tiles; });
  };
  CHECK(offered(nearest_kernel(513, 64, 64, DType::Float32), {.multiprocessors = 1}) > 0);
  CHECK(offered(nearest_kernel(513, 64, 64, DType::Float32),
                {.multiprocessors = 1, .shared_bytes = 1024}) == 0);
  CHECK(offered(nearest_kernel(511, 64, 64, DType::Float32), {.multiprocessors = 1}) == 0);
  CHECK(offered(transposed_kernel(1, 64, 96, DType::Float32), {.multiprocessors = 1}) == 0);
}
