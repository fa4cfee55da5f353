#include "core/bounded_table.hpp"

#include <catch2/catch.hpp>
#include <memory>

using plait::BoundedTable;

namespace {

using Table = BoundedTable<std::shared_ptr<int>>;

void put(Table& t, const std::string& key, std::size_t bytes) {
  auto& e = t.at(key);
  e.value = std::make_shared<int>(0);
  t.add(e, bytes);
}

bool unheld(const std::shared_ptr<int>& p) { return p.use_count() == 1; }

}  // namespace

TEST_CASE("past the limit the entries used longest ago go") {
  Table t(10'000);
  for (int i = 0; i < 9; ++i) put(t, std::to_string(i), 1000);
  t.keep_bounded();
  CHECK(t.size() == 9);
  REQUIRE(t.find("0"));
  for (int i = 9; i < 12; ++i) put(t, std::to_string(i), 1000);
  t.keep_bounded();
  CHECK(t.bytes() <= 10'000);
  CHECK(t.find("0"));
  CHECK(t.find("11"));
  CHECK_FALSE(t.find("1"));
}

TEST_CASE("what is held stays and may pass the limit") {
  Table t(10'000);
  std::vector<std::shared_ptr<int>> held;
  for (int i = 0; i < 20; ++i) {
    put(t, std::to_string(i), 1000);
    if (i % 2) held.push_back(t.find(std::to_string(i))->value);
    t.keep_bounded(unheld);
  }
  for (int i = 1; i < 20; i += 2) CHECK(t.find(std::to_string(i)));
  const std::size_t before = t.bytes();
  held.resize(3);
  const std::size_t given = t.trim(unheld);
  CHECK(given == before - t.bytes());
  CHECK(t.size() == 3);
  CHECK(t.clear() > 3000);
  CHECK(t.bytes() == 0);
}

TEST_CASE("entries grow, shrink, and are counted with their keys") {
  Table t(1'000'000);
  put(t, std::string(500, 'k'), 100);
  CHECK(t.bytes() >= 600);
  auto& e = t.at(std::string(500, 'k'));
  const std::size_t before = t.bytes();
  t.add(e, 50);
  t.remove(e, 150);
  CHECK(t.bytes() == before - 100);
  t.remove(e, 1 << 20);
  CHECK(t.bytes() == 0);
}

TEST_CASE("a limit that is lowered holds at the next look") {
  Table t(1'000'000);
  for (int i = 0; i < 20; ++i) put(t, std::to_string(i), 1000);
  t.set_limit(10'000);
  t.keep_bounded();
  CHECK(t.bytes() <= 10'000);
  CHECK(t.find("19"));
}
