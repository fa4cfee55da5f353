// What calls find their variants in: which is found, which goes, and what may change meanwhile.
#include "engine/plans/call_cache.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

namespace plait::engine {
namespace {

using Number = std::shared_ptr<int>;
using Cache = CallCache<Number, 3>;

Number number(int n) { return std::make_shared<int>(n); }
auto is(int n) {
  return [n](const Number& v) { return *v == n; };
}
std::vector<int> numbers(const Cache& cache) {
  std::vector<int> all;
  for (const Number& v : cache) all.push_back(*v);
  return all;
}
Cache of_three() {
  Cache cache;
  for (const int n : {1, 2, 3}) CHECK(cache.add(number(n)) == nullptr);
  return cache;
}

TEST_CASE("the variant that was used last is asked first") {
  Cache cache = of_three();
  CHECK(*cache.find(is(1)) == 1);
  CHECK(numbers(cache) == std::vector{1, 3, 2});
  int asked = 0;
  CHECK(cache.find([&](const Number& v) { return ++asked && *v == 1; }));
  CHECK(asked == 1);
  CHECK_FALSE(cache.find(is(7)));
  CHECK(numbers(cache) == std::vector{1, 3, 2});
}

TEST_CASE("past the limit the variant goes that was used longest ago") {
  Cache cache = of_three();
  CHECK(cache.find(is(1)));
  CHECK(*cache.add(number(4)) == 2);
  CHECK(numbers(cache) == std::vector{4, 1, 3});
}

TEST_CASE("a variant that is taken has left the cache") {
  CallCache<std::unique_ptr<int>, 2> cache;
  cache.add(std::make_unique<int>(5));
  const auto five = [](const auto& v) { return *v == 5; };
  std::unique_ptr<int> taken = cache.take(five);
  CHECK((taken && cache.empty() && !cache.take(five)));
  cache.add(std::move(taken));
  CHECK(cache.size() == 1);
}

TEST_CASE("what a variant is asked may change the cache") {
  Cache cache = of_three();
  SECTION("the variant goes, and is found all the same") {
    CHECK(*cache.find([&](const Number& v) {
      cache.clear();
      return *v == 3;
    }) == 3);
    CHECK(cache.empty());
  }
  SECTION("others come before it") {
    CHECK(*cache.find([&](const Number& v) {
      if (*v != 2) return false;
      cache.add(number(4));
      return true;
    }) == 2);
    CHECK(numbers(cache) == std::vector{2, 4, 3});
  }
  SECTION("all go, and none fits") {
    CHECK_FALSE(cache.find([&](const Number&) {
      cache.clear();
      return false;
    }));
  }
}

TEST_CASE("a variant's end finds the cache without it") {
  struct Leaving {
    CallCache<std::shared_ptr<Leaving>, 2>* cache;
    std::size_t* left;
    ~Leaving() { *left = cache->size(); }
  };
  CallCache<std::shared_ptr<Leaving>, 2> cache;
  std::size_t left = 7;
  cache.add(std::make_shared<Leaving>(&cache, &left));
  SECTION("erased") { cache.erase(*cache.begin()); }
  SECTION("cleared") { cache.clear(); }
  CHECK(left == 0);
}

}  // namespace
}  // namespace plait::engine
