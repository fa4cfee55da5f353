#include "plait/random.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

TEST_CASE("a seed gives the same numbers for any number of threads") {
  const int before = plait::num_threads();
  plait::random::seed(7);
  plait::set_num_threads(1);
  auto a = plait::random::randn({200000});
  plait::random::seed(7);
  plait::set_num_threads(2);
  auto b = plait::random::randn({200000});
  plait::set_num_threads(before);
  CHECK(plait::all(a == b).item());
  CHECK_FALSE(plait::all(a == plait::random::randn({200000})).item());
}

TEST_CASE("distributions have their moments") {
  plait::random::seed(1);
  auto n = plait::random::randn<float>({500, 1000});
  CHECK(n.shape() == plait::shape_type{500, 1000});
  CHECK(plait::mean(n).item() == Approx(0).margin(0.01));
  CHECK(plait::stddev(n).item() == Approx(1).epsilon(0.01));
  auto wide = plait::random::randn({500, 1000}, 5.0, 2.0);
  CHECK(plait::mean(wide).item() == Approx(5).epsilon(0.01));
  CHECK(plait::stddev(wide).item() == Approx(2).epsilon(0.01));
  CHECK_THROWS_WITH(plait::random::randn({3}, 0.0, -1.0), "scale < 0");
  auto u = plait::random::rand({100000}, 2.0, 4.0);
  CHECK(plait::amin(u).item() >= 2);
  CHECK(plait::amax(u).item() < 4);
  CHECK(plait::mean(u).item() == Approx(3).epsilon(0.01));
  auto i = plait::random::randint<std::int8_t>({100000}, -3, 4);
  CHECK(plait::amin(i).item() == -3);
  CHECK(plait::amax(i).item() == 3);
  CHECK_THROWS_AS(plait::random::randint({3}, 4, 4), plait::ValueError);
  CHECK_THROWS_AS(plait::random::randint<std::int8_t>({3}, 0, 200), plait::ValueError);
}

TEST_CASE("uniform numbers are below their bound in every type") {
  plait::random::seed(3);
  const auto f = plait::random::rand<float>({1 << 23});
  CHECK(plait::max(f).item() < 1.0f);
  CHECK(plait::max(f).item() > 0.9999f);
  CHECK(plait::min(f).item() >= 0.0f);
  const float low = 16777216.0f, high = 16777218.0f;
  const auto narrow = plait::random::rand<float>({10000}, low, high);
  CHECK(plait::max(narrow).item() == low);
  CHECK(plait::max(plait::random::rand({10000}, 1.0, 1.0)).item() == 1.0);
  const auto down = plait::random::rand({10000}, 1.0, 0.0);
  CHECK(plait::min(down).item() > 0.0);
  CHECK_THROWS_AS(plait::random::rand({1}, -1e308, 1e308), plait::OverflowError);
}
