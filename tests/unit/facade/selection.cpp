// What a[keys], a[mask] and the like give is an array like any other, and writes to what it is of.
#include "plait/detail/selection.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <sstream>

#include "plait/io.hpp"
#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;
using plait::view;

namespace {
using Doubles = std::vector<double>;
Doubles values(const array<double>& a) { return {a.begin(), a.end()}; }
double sum_of(const array<double>& a) { return plait::sum(a).item(); }

struct Given {
  array<double> a{1, 2, 3, 4}, b{4, 1};
  array<std::int64_t> k{3, 0};
  array<bool> m{true, false, false, true};
};
}  // namespace

TEST_CASE_METHOD(Given, "selections are operands of every function of arrays") {
  CHECK(plait::allclose(a[k], b));
  CHECK(plait::allclose(b, a[k]));
  CHECK(plait::array_equal(a[k], b));
  CHECK(values(plait::concatenate({a[k], a})) == Doubles{4, 1, 1, 2, 3, 4});
  CHECK(plait::stack({a[m], a[k]}).shape() == shape_type{2, 2});
  CHECK(values(plait::zeros_like(a[m])) == Doubles{0, 0});
  CHECK(values(plait::union1d(a[m], b)) == Doubles{1, 4});
  CHECK(values(plait::average(a[k], b)) == Doubles{17.0 / 5});
  CHECK(sum_of(a[k]) == 5);
  CHECK(values(a[k] * 2 - a[m]) == Doubles{7, -2});
  CHECK(values(plait::where(a[k] > 2, a[k], -a[k])) == Doubles{4, -1});
  CHECK(values(plait::vectorize([](auto x) { return x + 1; }, a[k])) == Doubles{5, 2});
  CHECK(values(a[array<std::int64_t>(k[k > 0])]) == Doubles{4});
  std::ostringstream out;
  out << a[k];
  CHECK(out.str() == "[4. 1.]");
  CHECK(plait::to_string(a[m]) == "[1. 4.]");
}

TEST_CASE_METHOD(Given, "selections have the members of arrays") {
  CHECK(a[k].shape() == shape_type{2});
  CHECK(a[m].shape(0) == 2);
  CHECK(a[m].ndim() == 1);
  CHECK(values(a[k].copy()) == Doubles{4, 1});
  CHECK(values(a[k].eval()) == Doubles{4, 1});
  CHECK(a[k](0) == 4);
  CHECK(a[k].get(1) == 1);
  CHECK(a[k].astype<float>().get(0) == 4);
  CHECK(a[a > 3].item() == 4);
  double out[2];
  a[k].eval_into(out);
  CHECK(out[0] == 4);
  const auto s = a[k];
  CHECK(std::accumulate(s.begin(), s.end(), 0.0) == 5);
  CHECK(std::count(s.begin(), s.end(), 4.0) == 1);
  double sum = 0;
  for (const double x : a[m]) sum += x;
  CHECK(sum == 5);
  auto first = a[k];
  STATIC_REQUIRE(std::is_same_v<decltype(first(0)), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(*first.begin()), const double&>);
}

TEST_CASE_METHOD(Given,
                 "an array that is made of a selection is a copy, whatever is written later") {
  auto s = a[k];
  array<double> one = s, other;
  other = a[k];
  std::vector<array<double>> list{a[k]};
  a *= 10;
  s += 1;
  CHECK(values(a) == Doubles{11, 20, 30, 41});
  CHECK(values(s) == Doubles{41, 11});
  CHECK(values(one) == Doubles{4, 1});
  CHECK(values(other) == Doubles{4, 1});
  CHECK(values(list[0]) == Doubles{4, 1});
  array<double> named = s;
  named += 1;
  CHECK(values(s) == Doubles{41, 11});
}

TEST_CASE_METHOD(Given, "selections are written to") {
  plait::filter(a, m) = 0;
  CHECK(values(a) == Doubles{0, 2, 3, 0});
  plait::filter(a, a > 0) = array<double>{7, 8};
  CHECK(values(a) == Doubles{0, 7, 8, 0});
  a[k] = a[array<std::int64_t>{1, 2}];
  CHECK(values(a) == Doubles{8, 7, 8, 7});
  a[m].fill(3);
  a[k].assign(b);
  CHECK(values(a) == Doubles{1, 7, 8, 4});
  array<int> i{1, 2, 3};
  i[i > 1] <<= 2;
  i[i > 8] |= 1;
  CHECK(i.get(2) == 13);
  CHECK_THROWS_AS(a[k] = plait::ones({3}), plait::ShapeError);
  CHECK_THROWS_AS(a[k + 9] = 1, plait::IndexError);
  CHECK_THROWS_AS(a[k + 9].shape(), plait::IndexError);
  const array<double> fixed = a;
  STATIC_REQUIRE(std::is_same_v<decltype(plait::filter(fixed, m)), array<double>>);
  auto read = view(fixed);
  STATIC_REQUIRE(std::is_same_v<decltype(read[m]), array<double>>);
  array<double> gone = std::move(a);
  CHECK_THROWS_AS(a[m], plait::ValueError);
}

TEST_CASE_METHOD(Given, "one value where a mask is true reads nothing") {
  const array<double> large = plait::ones({1000});
  array<double> target = large + 1;
  const array<bool> pending = target > 1;
  target[pending] = 0;
  CHECK(sum_of(target) == 0);
}
