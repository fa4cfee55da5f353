// What masks select, in every tier and across blocks.
#include "engine/direct/select.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "codegen/loops/selecting.hpp"
#include "core/config.hpp"

using namespace plait;

namespace {

std::vector<std::byte> mask_of(std::int64_t n, unsigned percent) {
  std::mt19937 gen(percent + static_cast<unsigned>(n));
  std::vector<std::byte> m(static_cast<std::size_t>(n));
  for (std::byte& b : m) b = std::byte{static_cast<unsigned char>(gen() % 100 < percent)};
  return m;
}

}  // namespace

TEST_CASE("values of all sizes are compressed and expanded as one after the other") {
  for (std::int64_t n : {0, 1, 7, 8, 17, 1000, 8192, 100003})
    for (unsigned percent : {0U, 3U, 50U, 100U})
      for (std::size_t item : {1U, 2U, 4U, 8U, 16U}) {
        const std::vector<std::byte> mask = mask_of(n, percent);
        std::vector<std::byte> values(static_cast<std::size_t>(n) * item);
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = std::byte{static_cast<unsigned char>(i * 7 / 3)};
        std::vector<std::byte> want;
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < n; ++i) {
          if (mask[static_cast<std::size_t>(i)] == std::byte{0}) continue;
          const auto at = values.begin() + i * static_cast<std::int64_t>(item);
          want.insert(want.end(), at, at + static_cast<std::int64_t>(item));
          places.push_back(i);
        }
        const engine::Selection s(mask.data(), n);
        REQUIRE(s.count() == static_cast<std::int64_t>(places.size()));
        std::vector<std::byte> got(want.size() + 1, std::byte{0xAA});
        s.compress(item, values.data(), got.data());
        CHECK(got.back() == std::byte{0xAA});
        got.pop_back();
        CHECK(got == want);
        std::vector<std::int64_t> found(places.size());
        s.places(found.data());
        CHECK(found == places);
        std::vector<std::byte> back = values;
        for (std::int64_t i : places)
          std::memset(back.data() + i * static_cast<std::int64_t>(item), 0, item);
        s.expand(item, back.data(), want.data());
        CHECK(back == values);
      }
}

TEST_CASE("every tier selects the same") {
  const std::int64_t n = 1003;
  const std::vector<std::byte> mask = mask_of(n, 40);
  std::vector<std::int64_t> first(1003), other(1003);
  const auto& base = loops::selecting(CpuTier::Baseline);
  base.places(mask.data(), n, 5, first.data());
  for (int tier = 0; tier <= static_cast<int>(config().tier); ++tier) {
    const auto& t = loops::selecting(static_cast<CpuTier>(tier));
    CHECK(t.count(mask.data(), n) == base.count(mask.data(), n));
    t.places(mask.data(), n, 5, other.data());
    CHECK(first == other);
  }
}

TEST_CASE("a label selects what its mask does, whatever the integers") {
  const auto check = [](auto zero, DType t) {
    using T = decltype(zero);
    for (const std::int64_t n : {0, 1, 8191, 8192, 100003}) {
      std::mt19937 gen(static_cast<unsigned>(n));
      std::vector<T> labels(static_cast<std::size_t>(n));
      // Some are no label: negative, or too large.
      for (T& l : labels) l = static_cast<T>(static_cast<int>(gen() % 302) - 20);
      const engine::Groups groups(t, reinterpret_cast<const std::byte*>(labels.data()), n);
      std::vector<double> values(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
      for (const std::int64_t k : {0, 1, 100, 255}) {
        std::vector<std::byte> mask(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < mask.size(); ++i)
          mask[i] = std::byte{static_cast<std::int64_t>(labels[i]) == k};
        const engine::Selection by_mask(mask.data(), n), by_label(groups, k);
        REQUIRE(by_label.count() == by_mask.count());
        const auto count = static_cast<std::size_t>(by_mask.count());
        std::vector<std::int64_t> want(count), got(count);
        by_mask.places(want.data());
        by_label.places(got.data());
        CHECK(got == want);
        std::vector<double> selected(count), all = values, expected = values;
        by_label.compress(8, reinterpret_cast<const std::byte*>(values.data()),
                          reinterpret_cast<std::byte*>(selected.data()));
        CHECK(std::equal(selected.begin(), selected.end(), want.begin()));
        const std::vector<double> stored(count, -1);
        const auto* from = reinterpret_cast<const std::byte*>(stored.data());
        by_label.expand(8, reinterpret_cast<std::byte*>(all.data()), from);
        by_mask.expand(8, reinterpret_cast<std::byte*>(expected.data()), from);
        CHECK(all == expected);
      }
    }
  };
  check(std::int8_t{}, DType::Int8);
  check(std::uint8_t{}, DType::UInt8);
  check(std::int32_t{}, DType::Int32);
  check(std::uint64_t{}, DType::UInt64);
}
