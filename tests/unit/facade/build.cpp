#include "plait/build.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;

TEST_CASE("creation") {
  const std::size_t n = 2;
  CHECK(plait::zeros<float>({n, 3}).shape() == shape_type{2, 3});
  CHECK(plait::ones<int>({2})(1) == 1);
  CHECK(plait::full({}, 2.5).item() == 2.5);
  CHECK(plait::empty<bool>(4).size() == 4);
  CHECK(plait::zeros_like(plait::ones({2, 2}))(1, 1) == 0);
  CHECK(plait::arange(5)(4) == 4);
  CHECK(plait::arange(1.0, 2.0, 0.25).size() == 4);
  CHECK(plait::arange(5, 0, -2)(2) == 1);
  const std::int64_t three = 3;
  static_assert(std::is_same_v<decltype(plait::arange(0, three))::value_type, std::int64_t>);
  CHECK(plait::arange<double>(0, three)(2) == 2.0);
  CHECK(plait::linspace(0, 1, 5)(1) == 0.25);
  CHECK(plait::linspace(0, 1, 4, false)(3) == 0.75);
  CHECK(plait::eye(3)(1, 1) == 1);
  CHECK(plait::eye<int>(2, 3, 1)(0, 1) == 1);
  CHECK(plait::tril(plait::ones({2, 2}))(0, 1) == 0);
  CHECK_THROWS_AS(plait::zeros({-1}), plait::ValueError);
}

TEST_CASE("joining and rearranging") {
  array<int> a{1, 2}, b{3};
  auto c = plait::concatenate({a, b});
  CHECK(std::vector<int>(c.begin(), c.end()) == std::vector<int>{1, 2, 3});
  CHECK(plait::stack({a, a}, 1).shape() == shape_type{2, 2});
  CHECK(plait::concatenate(std::vector<array<int>>{a, a, a}).size() == 6);
  CHECK(plait::tile(a, 3).size() == 6);
  CHECK(plait::repeat(a, 2)(1) == 1);
  array<int> square{{1, 2}, {3, 4}};
  CHECK(plait::repeat(square, 2).shape() == shape_type{8});
  CHECK(plait::repeat(square, 2)(2) == 2);
  CHECK(plait::repeat(square, 2, 1).shape() == shape_type{2, 4});
  CHECK(plait::roll(a, 1)(0) == 2);
  CHECK_THROWS_AS(plait::stack({a, b}), plait::ValueError);
}

TEST_CASE("borrowed memory is read in place and written through") {
  std::vector<double> memory{1, 2, 3, 4};
  {
    auto a = plait::adapt(memory.data(), {2, 2});
    auto late = a * 2;
    plait::view(a, 0) = 10.0;
    CHECK(late(0, 1) == 4);
    a.eval();
    CHECK(memory[0] == 10);
    // The borrowing goes on after eval().
    plait::view(a, 1) += plait::view(a, 0);
  }
  CHECK(memory == std::vector<double>{10, 10, 13, 14});
}

TEST_CASE("what is pending on borrowed memory runs before its last array goes") {
  array<double> sum;
  {
    std::vector<double> memory(100, 1.0);
    sum = plait::sum(plait::adapt(memory.data(), 100) + 1);
    std::fill(memory.begin(), memory.end(), 1e9);
  }
  CHECK(sum.item() == 200);
}

TEST_CASE("a view keeps the borrowing") {
  std::vector<int> memory{1, 2, 3};
  auto last = plait::view(plait::adapt(memory.data(), 3), plait::range(2, 3));
  last += 1;
  last.eval();
  CHECK(memory[2] == 4);
}

TEST_CASE("overlapping borrows see each other") {
  std::vector<int> memory{1, 2, 3, 4};
  auto whole = plait::adapt(memory.data(), 4);
  auto part = plait::adapt(memory.data() + 1, 2);
  part += 10;
  CHECK(whole(2) == 13);
}

TEST_CASE("two borrows end independently") {
  std::vector<int> one{1, 2}, two{3, 4};
  auto b = plait::adapt(two.data(), 2);
  {
    auto a = plait::adapt(one.data(), 2);
  }
  b += 1;
  b.eval();
  CHECK(two == std::vector<int>{4, 5});
}

TEST_CASE("const memory is read-only; strides are bytes") {
  const std::vector<int> memory{1, 2, 3, 4};
  auto a = plait::adapt(memory.data(), 2, 8);
  CHECK(a(1) == 3);
  CHECK_THROWS_AS(a += 1, plait::ValueError);
}

TEST_CASE("shapes of more elements or bytes than there can be are refused") {
  const std::int64_t big = std::int64_t{1} << 32;
  const auto bytes = Catch::Contains("is larger than the maximum possible size.");
  const plait::array<double> one = plait::ones({1});
  CHECK_THROWS_WITH(plait::zeros({big, big}), bytes);
  CHECK_THROWS_WITH(plait::empty({-1}), "negative dimensions are not allowed");
  CHECK_THROWS_WITH(plait::eye(big), bytes);
  CHECK_THROWS_WITH(plait::arange(big * (big / 4)), bytes);
  CHECK_THROWS_WITH(plait::broadcast_to(one, {big, big}), "broadcast_to: iterator is too large");
  CHECK_THROWS_WITH(plait::tile(plait::ones({5000}), big * (big / 16)), bytes);
  CHECK_THROWS_WITH(plait::repeat(one, big * (big / 4)), bytes);
  CHECK_THROWS_AS(one.reshape({big, big}), plait::ShapeError);
  CHECK_THROWS_WITH(plait::random::rand({big, big}), bytes);
  double memory[] = {1};
  CHECK_THROWS_WITH(plait::adapt(memory, {big, big}, {0, 0}), bytes);
  const auto wide = plait::broadcast_to(one, {big}), tall = plait::broadcast_to(one, {big, 1});
  CHECK_THROWS_WITH(wide + tall, "add: iterator is too large");
  CHECK_THROWS_WITH(plait::matmul(tall, plait::reshape(wide, {1, big})), bytes);
  CHECK_THROWS_WITH(plait::empty({big, big / 32}),
                    "Unable to allocate 4.00 EiB for an array with shape (4294967296, 134217728) "
                    "and data type float64");
}

TEST_CASE("geomspace has its ends exactly") {
  CHECK(plait::allclose(plait::geomspace(1, 1000, 4), array<double>{1, 10, 100, 1000}));
  const auto a = plait::geomspace(3, 7, 5);
  CHECK(a.get(0) == 3);
  CHECK(a.get(4) == 7);
  CHECK(plait::allclose(plait::geomspace(-1, -8, 3, false), array<double>{-1, -2, -4}));
  CHECK_THROWS_AS(plait::geomspace(0, 1), plait::ValueError);
}

TEST_CASE("an array of one value, and of every integer type of C++") {
  array<double> s = 0;
  CHECK(s.ndim() == 0);
  for (int i = 1; i < 4; ++i) s += i;
  CHECK(s.item() == 6);
  STATIC_REQUIRE_FALSE(std::is_assignable_v<array<double>&, int>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<int, array<bool>>);
  CHECK_THROWS_AS(array<std::int8_t>(300), plait::OverflowError);
  array<long long> l{1, 2};
  const array<unsigned long long> u{1, 2};
  const array<char> c{'a', 'b'};
  STATIC_REQUIRE(decltype(l)::dtype() == plait::dtype::int64);
  STATIC_REQUIRE(decltype(u)::dtype() == plait::dtype::uint64);
  STATIC_REQUIRE(plait::detail::size_of(decltype(c)::dtype()) == 1);
  l = l * 2 + array<std::int64_t>(1);
  l(0) += 10;
  CHECK(*l.data() == 13);
  CHECK(c.get(1) == 'b');
  std::vector<long long> memory{5, 6};
  plait::adapt(memory.data(), 2) += l;
  CHECK(memory == std::vector<long long>{18, 11});
}
