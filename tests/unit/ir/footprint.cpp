// Bounds of what a kernel touches.
#include "ir/footprint.hpp"

#include <catch2/catch.hpp>
#include <utility>

#include "ir/builder.hpp"

using namespace plait;
using namespace plait::ir;

namespace {

Val number(Builder& b, OpId fn, Val x, Val y) { return b.apply(fn, DType::Int64, {x, y}); }

// Loads at `index(builder, grid variable)` times 8, stores at the grid's element.
template <class F>
Kernel loads_at(F&& index) {
  Builder b("loads");
  const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  const Val at = index(b, b.grid_var());
  b.store(out, {{}, {{b.grid_var(), {8}}}}, b.load(in, {{}, {{at, {8}}}}));
  return b.finish();
}

std::pair<std::int64_t, std::int64_t> loaded(const Kernel& k, std::int64_t begin,
                                             std::int64_t end) {
  const std::int64_t none = 0;
  const Touched t = footprint(k, &none, begin, end).at(0);
  CHECK(t.buffer == 0);
  CHECK_FALSE(t.stored);
  return {t.first, t.last};
}

using Bytes = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("what a stencil touches follows from its grid and its inner loops") {
  Builder b("rows");
  const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float32, true);
  const Val columns = b.param(0);
  const std::int32_t row = b.open_for(kNone, columns);
  const Val up = b.load(in, {{-80}, {{b.grid_var(), {80}}, {b.var(row), {8}}}});
  b.store(out, {{0, 1}, {{b.grid_var(), {40}}, {b.var(row), {4}}}}, b.cast(up, DType::Float32));
  b.close();
  const Kernel k = b.finish();
  const std::int64_t params[] = {10, 1000};
  const std::vector<Touched> t = footprint(k, params, 2, 5);
  REQUIRE(t.size() == 2);
  CHECK(Bytes(t[0].first, t[0].last) == Bytes(80, 320));
  CHECK(t[1].stored);
  CHECK(Bytes(t[1].first, t[1].last) == Bytes(1080, 1200));
  // A loop without iterations touches nothing.
  const std::int64_t empty[] = {0, 1000};
  for (const Touched& n : footprint(k, empty, 2, 5)) CHECK(n.first == n.last);
}

TEST_CASE("indices are bounded through the integer operations that planning uses") {
  const auto index = [](OpId fn, std::int64_t by) {
    return loads_at([=](Builder& b, Val i) { return number(b, fn, i, b.constant_index(by)); });
  };
  CHECK(loaded(index(OpId::Add, 3), 2, 5) == Bytes(40, 64));
  CHECK(loaded(index(OpId::Subtract, 3), 2, 5) == Bytes(-8, 16));
  CHECK(loaded(index(OpId::Multiply, -2), 2, 5) == Bytes(-64, -24));
  CHECK(loaded(index(OpId::Minimum, 3), 2, 5) == Bytes(16, 32));
  CHECK(loaded(index(OpId::Maximum, 3), 2, 5) == Bytes(24, 40));
  CHECK(loaded(index(OpId::FloorDivide, 4), 2, 9) == Bytes(0, 24));
  // Within a period, and over its end.
  CHECK(loaded(index(OpId::Remainder, 8), 9, 12) == Bytes(8, 32));
  CHECK(loaded(index(OpId::Remainder, 8), 7, 9) == Bytes(0, 64));
  CHECK(loaded(loads_at([](Builder& b, Val i) {
                 const Val far = b.constant_index(4);
                 return b.apply(OpId::Where, DType::Int64,
                                {b.apply(OpId::Less, DType::Bool, {i, far}), far, i});
               }),
               2, 6) == Bytes(16, 48));
}

TEST_CASE("what is read decides where a gather reads") {
  Builder b("gather");
  const auto indices = b.buffer(DType::Int64, false), in = b.buffer(DType::Float64, false);
  const auto out = b.buffer(DType::Float64, true);
  const Access here{{}, {{b.grid_var(), {8}}}};
  b.store(out, here, b.gather(in, {}, b.load(indices, here), {8}));
  const std::int64_t none = 0;
  const std::vector<Touched> t = footprint(b.finish(), &none, 0, 1);
  REQUIRE(t.size() == 3);
  CHECK(t[1].buffer == 1);
  CHECK(t[1].first <= -kAnywhere);
  CHECK(t[1].last >= kAnywhere);
}

TEST_CASE("an index that starts again does so in one iteration") {
  const Kernel k = loads_at([](Builder& b, Val i) {
    const Val first = b.apply(OpId::Equal, DType::Bool, {i, b.constant_index(0)});
    return b.apply(
        OpId::Where, DType::Int64,
        {first, b.constant_index(99), number(b, OpId::Subtract, i, b.constant_index(1))});
  });
  CHECK(loaded(k, 0, 1) == Bytes(99 * 8, 100 * 8));
  CHECK(loaded(k, 1, 5) == Bytes(0, 4 * 8));
  CHECK(loaded(k, 0, 5) == Bytes(-8, 100 * 8));
}
