// Which loops the interpreter takes tiles along, and that they change no bits.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// Depth of the loop that is tiled: 0 is the grid. The interpreter's bytes are the reference's.
std::vector<std::int32_t> tiled(const Array& a) {
  Recorded r(a);
  const Bytes expected = r.run();
  fusion::tile(r.input(), r.lowered);
  CHECK(r.interpreted() == expected);
  std::vector<std::int32_t> loops;
  for (std::size_t l = 0; l < r.lowered.kernel.loops.size(); ++l)
    if (r.lowered.kernel.loops[l].tile) loops.push_back(static_cast<std::int32_t>(l));
  return loops;
}

}  // namespace

TEST_CASE("an interpreter never runs an element at a time where there are many") {
  const std::vector<std::int32_t> grid{0}, row{1};
  CHECK(tiled(apply(OpId::Sqrt, array({1000}))) == grid);
  // Lanes do not pay for short rows, tiles across them do.
  for (std::int64_t columns : {4, 9, 20})
    CHECK(tiled(reduce(ReduceKind::Sum, array({2000, columns}), 1)) == grid);
  CHECK(tiled(reduce(ReduceKind::ArgMax, array({2000, 20}), 1)) == grid);
  CHECK(tiled(reduce(ReduceKind::Sum, array({20, 2000}), 1)) == row);
  // A product keeps its order; its factors still come in tiles.
  CHECK(tiled(reduce(ReduceKind::Prod, array({2, 5000}), 1)) == row);
  CHECK(tiled(reduce(ReduceKind::Sum, array({40, 500}), 0)) == grid);
  // Short rows share tiles.
  for (std::int64_t columns : {3, 14, 60})
    CHECK(tiled(apply(OpId::Add, array({300, columns}), array({300, 1}))) == row);
}
