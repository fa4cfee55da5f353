#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <limits>

#include "plait/plait.hpp"

using plait::array;

namespace {
// A file of the test's, gone with it.
class Table {
 public:
  explicit Table(const char* text) { std::ofstream(path()) << text; }
  ~Table() { std::remove(path()); }
  static const char* path() { return "plait_test_table.csv"; }
};
}  // namespace

TEST_CASE("tables of text are read") {
  const Table file("x; y\n1; -2.5\n\n +3 ;1e-3\r\n");
  const array<double> a = plait::load_csv<double>(Table::path(), ';', 1);
  CHECK(plait::array_equal(a, array<double>{{1, -2.5}, {3, 0.001}}));
  CHECK_THROWS_AS(plait::load_csv<int>(Table::path(), ';', 1), plait::ValueError);
  CHECK_THROWS_WITH(plait::load_csv<double>(Table::path(), ';'),
                    "load_csv: 'plait_test_table.csv', line 1: 'x' is no number of the element "
                    "type");
}

TEST_CASE("what is written is read as it was") {
  const Table file("");
  const array<double> a = plait::random::randn({5, 3}) * 1e-7;
  plait::dump_csv(Table::path(), plait::transpose(a));
  CHECK(plait::array_equal(plait::load_csv<double>(Table::path()), plait::transpose(a)));
  const array<std::int64_t> k{std::numeric_limits<std::int64_t>::max(), -1};
  plait::dump_csv(Table::path(), k);
  CHECK(plait::array_equal(plait::load_csv<std::int64_t>(Table::path()), k.reshape({2, 1})));
  CHECK_THROWS_AS(plait::dump_csv(Table::path(), plait::ones({2, 2, 2})), plait::ValueError);
}

TEST_CASE("rows of other lengths, and no file") {
  const Table file("1,2\n3\n");
  CHECK_THROWS_AS(plait::load_csv<double>(Table::path()), plait::ValueError);
  CHECK_THROWS_AS(plait::load_csv<double>("/nowhere/a.csv"), plait::Error);
}
