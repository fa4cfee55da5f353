#include "core/free_list.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>
#include <vector>

using plait::FreeList;

namespace {

struct Counted {
  static inline int alive = 0;
  int value = 7;
  std::int64_t more[3];
  Counted() { ++alive; }
  explicit Counted(int v) : value(v) {
    if (v < 0) throw std::runtime_error("negative");
    ++alive;
  }
  ~Counted() { --alive; }
};

}  // namespace

TEST_CASE("objects of a free list are apart, and made and destroyed once each") {
  static FreeList<Counted> list;
  std::vector<Counted*> made;
  for (int i = 0; i < 200; ++i) made.push_back(i % 2 ? list.make() : list.make(i));
  CHECK(std::set<Counted*>(made.begin(), made.end()).size() == 200);
  CHECK(Counted::alive == 200);
  CHECK((made[1]->value == 7 && made[42]->value == 42));
  for (Counted* c : made) list.destroy(c);
  CHECK(Counted::alive == 0);
}

TEST_CASE("memory that was given back is used next, also when an object could not be made") {
  static FreeList<Counted> list;
  Counted* first = list.make();
  list.destroy(first);
  CHECK_THROWS_AS(list.make(-1), std::runtime_error);
  CHECK(Counted::alive == 0);
  Counted* again = list.make(3);
  CHECK(again == first);
  list.destroy(again);
}

TEST_CASE("slabs without an object in use are given back, the others go on") {
  static FreeList<Counted> list;
  CHECK(list.trim() == 0);
  std::vector<Counted*> made;
  for (int i = 0; i < 1000; ++i) made.push_back(list.make(i));
  Counted* const stays = made[500];
  for (Counted* c : made)
    if (c != stays) list.destroy(c);
  const std::size_t given = list.trim();
  CHECK(given >= 900 * sizeof(Counted));
  CHECK(list.trim() == 0);
  CHECK(stays->value == 500);
  made.clear();
  for (int i = 0; i < 1000; ++i) made.push_back(list.make(i));
  CHECK(std::set<Counted*>(made.begin(), made.end()).size() == 1000);
  CHECK(std::count(made.begin(), made.end(), stays) == 0);
  CHECK((stays->value == 500 && made[999]->value == 999));
  for (Counted* c : made) list.destroy(c);
  list.destroy(stays);
  CHECK(list.trim() > given);
  CHECK(Counted::alive == 0);
}
