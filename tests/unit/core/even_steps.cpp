#include "core/even_steps.hpp"

#include <catch2/catch.hpp>
#include <vector>

namespace plait {
namespace {

std::optional<Dims> extents_of(const std::vector<std::int64_t>& v, std::int64_t* asked = nullptr) {
  return even_extents(static_cast<std::int64_t>(v.size()), [&](std::int64_t n, std::int64_t by) {
    if (asked) ++*asked;
    const auto at = [&](std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
    return at(n) - at(n - by) == at(by) - at(0);
  });
}

}  // namespace

TEST_CASE("sequences that nested loops step through") {
  CHECK(extents_of({7}) == Dims{});
  CHECK(extents_of({7, 5}) == Dims{2});
  CHECK(extents_of({0, 3, 6, 9}) == Dims{4});
  CHECK(extents_of({0, 0, 0, 1, 1, 1}) == Dims{2, 3});
  CHECK(extents_of({0, 1, 2, 0, 1, 2, 0, 1, 2}) == Dims{3, 3});
  CHECK(extents_of({0, 1, 10, 11, 5, 6, 15, 16}) == Dims{2, 2, 2});
  CHECK(extents_of({0, 1, 10, 11, 5, 6, 15, 17}) == std::nullopt);
  CHECK(extents_of({0, 1, 2, 4, 5}) == std::nullopt);
}

TEST_CASE("other sequences are left at once") {
  std::vector<std::int64_t> v(1000);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int64_t>(i * i);
  std::int64_t asked = 0;
  CHECK(extents_of(v, &asked) == std::nullopt);
  CHECK(asked <= 4);
}

}  // namespace plait
