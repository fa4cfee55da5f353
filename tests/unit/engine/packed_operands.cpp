// Which operands of products are kept packed, and for how long.
#include "engine/products/packed_operands.hpp"

#include <catch2/catch.hpp>

#include "tracer/array.hpp"
#include "tracer/derived.hpp"

using namespace plait;
using engine::PackedOperand;
using engine::PackedOperands;

namespace {

const loops::Product& tiles() {
  return *loops::product(DType::Float32, DType::Float32, CpuTier::Baseline);
}
PackedOperand operand(std::uint64_t contents) {
  return {contents, nullptr, 4 * 100, 4, 600, 100, &tiles()};
}
// Whether panels are there; packs when asked to.
bool read(PackedOperands& kept, std::uint64_t contents) {
  const PackedOperand o = operand(contents);
  const auto [panels, keep] = kept.find(o);
  if (keep) kept.put(o, allocate(o.bytes()));
  return static_cast<bool>(panels);
}

}  // namespace

TEST_CASE("panels of blocks follow each other") {
  const PackedOperand o = operand(1);
  const std::int64_t depth = tiles().depth, wide = tiles().columns;
  const std::int64_t block = tiles().panels(100, depth, wide);
  CHECK(o.offset(0, wide) == tiles().panel(wide, depth));
  CHECK(o.offset(depth, 0) == block);
  CHECK(o.offset(2 * depth, wide) == 2 * block + tiles().panel(wide, 600 - 2 * depth));
  CHECK(static_cast<std::int64_t>(o.bytes()) ==
        2 * block + tiles().panels(100, 600 - 2 * depth, wide));
}

TEST_CASE("operands are packed when they are seen again, and dropped by their contents") {
  PackedOperands kept(8 * operand(1).bytes());
  CHECK(!read(kept, 1));
  CHECK(kept.stats().operands == 0);
  CHECK(!read(kept, 1));
  CHECK(kept.stats().operands == 1);
  CHECK(read(kept, 1));
  CHECK(kept.kept(1) == operand(1).bytes());
  CHECK(!read(kept, 0));
  CHECK(!read(kept, 0));
  kept.drop(1);
  CHECK(kept.stats().bytes == 0);
  // Packed while the contents went.
  kept.put(operand(1), allocate(operand(1).bytes()));
  CHECK(kept.stats().operands == 0);
  read(kept, 2);
  read(kept, 2);
  CHECK(kept.trim() == operand(2).bytes());
  CHECK(!read(kept, 2));
}

TEST_CASE("operands that take turns do not push each other out") {
  PackedOperands kept(2 * operand(1).bytes());
  for (int round = 0; round < 4; ++round) {
    int found = 0;
    for (const std::uint64_t c : {1, 2, 3}) found += read(kept, c);
    CHECK(found == (round < 2 ? 0 : 2));
  }
  CHECK(kept.stats().packed == 2);
  for (int i = 0; i < 2; ++i) read(kept, 3);  // the others are idle since
  CHECK(read(kept, 3));
  CHECK(kept.stats().operands == 2);
  kept.set_limit(operand(1).bytes());
  CHECK(kept.stats().bytes == 0);
}

TEST_CASE("a number stands for contents until they may be written to") {
  using namespace tracer;
  const Array a = full({64}, Scalar::of(DType::Float32, 1.0F));
  data(a);
  const std::uint64_t first = contents_of(*a.storage->version);
  CHECK(first != 0);
  CHECK(contents_of(*a.storage->version) == first);
  writable_data(a);
  const std::uint64_t second = contents_of(*a.storage->version);
  CHECK(second > first);
  export_memory(a, kHost);
  CHECK(contents_of(*a.storage->version) == 0);
  unexport(a);
  CHECK(contents_of(*a.storage->version) > second);
  pin(a, kHost);
  CHECK(contents_of(*a.storage->version) == 0);
}
