// How strided operands are walked.
#include "engine/direct/direct_rows.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <vector>

using namespace plait;
using namespace plait::engine;

namespace {

// How often each element of an operand of doubles is read in a walk, by its offset.
std::map<std::int64_t, int> visits(const Rows& r, std::size_t operand, const std::byte* base) {
  std::map<std::int64_t, int> seen;
  for_each_row(r, [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) ++seen[p[operand] + i * s[operand] - base];
  });
  return seen;
}

}  // namespace

TEST_CASE("rows of few elements give way to those along a longer axis") {
  std::vector<double> memory(4 * 40 * 2);
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const Memory whole{base, {640, 16, 8}}, column{base, {640, 16, 0}};
  const Memory operands[] = {whole, column};
  Rows r = make_rows({4, 40, 2}, operands, 1);
  REQUIRE(r.length == 2);
  const auto before = visits(r, 0, base), before_column = visits(r, 1, base);
  lengthen_rows(r);
  CHECK(r.length == 160);  // the outer axes are one
  CHECK(visits(r, 0, base) == before);
  CHECK(visits(r, 1, base) == before_column);
  CHECK(before.size() == 320);
}

TEST_CASE("rows that are long enough, or have nothing longer beside them, stay") {
  std::vector<double> memory(64 * 64);
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const Memory part[] = {{base, {512, 8}}};
  Rows wide = make_rows({60, 30}, part, 1);
  lengthen_rows(wide);
  CHECK(wide.length == 30);
  Rows few = make_rows({3, 5}, part, 1);
  lengthen_rows(few);
  CHECK(few.length == 5);
}
