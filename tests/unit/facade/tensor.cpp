// Tensors: arrays that are values.
#include "plait/tensor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "plait/plait.hpp"

using plait::all;
using plait::array;
using plait::tensor;
using plait::view;

namespace {

template <class T>
std::vector<T> elements_of(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
using Elements = std::vector<double>;

// What a class does that knows nothing of arrays.
struct State {
  tensor<double> position, velocity;
  int step = 0;
};

void add_one(array<double>& x) { x += 1; }
void rename(array<double>& x, const array<double>& y) { x = y; }
double sum_and_spoil(const array<double>& x) {
  array<double> mine = x;
  mine += 100;
  array<double> turned = x.transpose();
  turned.fill(7);
  array<double> flat = plait::ravel(x);
  flat(0) = 9;
  return plait::sum(x).item();
}
double sum_of_mine(array<double> mine) {
  mine += 100;
  return plait::sum(mine).item();
}
void fill_diagonally(array<double>& x) {
  view(plait::diagonal(x)) = 5;
  array<double> same = plait::squeeze(x);
  same(0, 1) = 6;
}

template <class A, class B, class = void>
inline constexpr bool assignable = false;
template <class A, class B>
inline constexpr bool
    assignable<A, B, std::void_t<decltype(std::declval<A>() = std::declval<B>())>> = true;
template <class A, class = void>
inline constexpr bool added_to = false;
template <class A>
inline constexpr bool added_to<A, std::void_t<decltype(std::declval<A>() += 1.0)>> = true;
template <class A, class = void>
inline constexpr bool filled = false;
template <class A>
inline constexpr bool filled<A, std::void_t<decltype(std::declval<A>().fill(1.0))>> = true;

}  // namespace

TEST_CASE("copies of a tensor do not see each other's writes") {
  tensor<double> a{{1, 2}, {3, 4}};
  const auto apart = [&](auto write) {
    tensor<double> b = a, c = b;
    write(b);
    CHECK(elements_of(a) == Elements{1, 2, 3, 4});
    CHECK(elements_of(c) == Elements{1, 2, 3, 4});
    CHECK(elements_of(b) != Elements{1, 2, 3, 4});
    tensor<double> d = b;
    const Elements written = elements_of(d);
    write(a);
    CHECK(elements_of(b) == written);
    CHECK(elements_of(a) != Elements{1, 2, 3, 4});
    a = c;
  };
  apart([](auto& x) { x(0, 1) = 9; });
  apart([](auto& x) { x[{1, 1}] = 9; });
  apart([](auto& x) { x.set(9, 0, 0); });
  apart([](auto& x) { ++x.at(1, 0); });
  apart([](auto& x) { x += 1; });
  apart([](auto& x) { x *= x + 1; });
  apart([](auto& x) { x.fill(0); });
  apart([](auto& x) { x.assign(plait::ones({2}) * 8); });
  apart([](auto& x) { x = x * 2; });
  apart([](auto& x) { view(x, 0) = 9; });
  apart([](auto& x) { view(x) += 9; });
  apart([](auto& x) { plait::row(x, 1) *= 3; });
  apart([](auto& x) { plait::col(x, 0) = plait::col(x, 1); });
  apart([](auto& x) { x[x > 2.0] = 0; });
  apart([](auto& x) { view(x, plait::keep(1)) = 0; });
  apart([](auto& x) { plait::masked_view(x, x > 2.0) = 0; });
  apart([](auto& x) { plait::index_view(x, {{0, 1}}) = 0; });
  apart([](auto& x) { plait::fill_diagonal(x, 9); });
  apart([](auto& x) { view(plait::transpose(x), 0) = 9; });
  apart([](auto& x) { *plait::axis_begin(x) += 9; });
  apart([](auto& x) { plait::add_at(x, array<std::int64_t>{0, 0}, 1); });
  apart([](auto& x) { std::reverse(x.begin(), x.end()); });
  apart([](auto& x) { x.data()[1] = 9; });
  apart([](auto& x) { std::swap(x(0, 0), x(1, 1)); });
  apart([](auto& x) { add_one(x); });
  apart([](auto& x) { fill_diagonally(x); });
  apart([](auto& x) { (x + 1.0).eval_into(x); });
}

TEST_CASE("large copies of a tensor do not see each other's writes, evaluated or not") {
  for (const bool evaluated : {true, false}) {
    tensor<double> a = plait::arange<double>(0, 30000).reshape({300, 100}) * 1.0;
    if (evaluated) a.eval();
    tensor<double> b = a, c = a;
    b += 1;
    view(c, all(), 3) = 0;
    a *= 2;
    tensor<double> d = b;
    d(0, 0) = -1;
    CHECK(plait::sum(a).item() == 2 * 449985000.0);
    CHECK(plait::sum(b).item() == 449985000.0 + 30000);
    CHECK(plait::sum(c).item() == 449985000.0 - (100 * 44850.0 + 300 * 3));
    CHECK(plait::sum(d).item() == 449985000.0 + 30000 - 2);
  }
}

TEST_CASE("what is assigned to a tensor is a value") {
  tensor<double> a{1, 2}, b{3, 4, 5};
  const array<double> named{6, 7};
  a = b;
  b(0) = 0;
  CHECK(elements_of(a) == Elements{3, 4, 5});
  a = named;
  a += 1;
  CHECK(elements_of(named) == Elements{6, 7});
  CHECK(elements_of(a) == Elements{7, 8});
  a = a;  // NOLINT(clang-diagnostic-self-assign-overloaded)
  CHECK(elements_of(a) == Elements{7, 8});
  array<double> other{1, 1};
  rename(a, other);
  a += 1;
  CHECK(elements_of(other) == Elements{1, 1});
  rename(other, a);
  other += 1;
  CHECK(elements_of(a) == Elements{2, 2});
  CHECK(elements_of(other) == Elements{3, 3});
  a = view(b, plait::range(0, 2));
  b(1) = 100;
  CHECK(elements_of(a) == Elements{0, 4});
  a = b[b > 10.0];
  CHECK(elements_of(a) == Elements{100});
  a = {1, 2, 3};
  a = plait::flip(a);
  CHECK(elements_of(a) == Elements{3, 2, 1});
  CHECK(a.is_contiguous());
  a = array<float>{2};
  CHECK(elements_of(a) == Elements{2});
  STATIC_REQUIRE(!assignable<tensor<double>&, double>);
  STATIC_REQUIRE(!std::is_convertible_v<array<double>, tensor<float>>);
  STATIC_REQUIRE(std::is_constructible_v<tensor<float>, array<double>>);
  STATIC_REQUIRE(!std::is_convertible_v<std::vector<double>, tensor<double>>);
}

TEST_CASE("arrays that are made of a tensor are copies") {
  tensor<double> a{{1, 2}, {3, 4}};
  array<double> b = a;
  plait::any_array c = a;
  auto d = a.eval();
  b += 1;
  c += 1;
  d += 1;
  CHECK(elements_of(a) == Elements{1, 2, 3, 4});
  a.fill(0);
  CHECK(elements_of(b) == Elements{2, 3, 4, 5});
  b = a;
  b += 1;
  CHECK(elements_of(a) == Elements{0, 0, 0, 0});
  array<double> moved = std::move(a), again = moved;
  again += 1;
  CHECK(elements_of(moved) == Elements{1, 1, 1, 1});  // an array again, whose copies share
}

TEST_CASE("functions that take arrays take tensors, and write to what is not const alone") {
  tensor<double> a{{1, 2}, {3, 4}};
  const tensor<double> c = a;
  CHECK(sum_and_spoil(a) == 10);
  CHECK(sum_and_spoil(c) == 10);
  CHECK(sum_of_mine(a) == 410);
  CHECK(elements_of(a) == Elements{1, 2, 3, 4});
  fill_diagonally(a);
  CHECK(elements_of(a) == Elements{5, 6, 3, 5});
  CHECK(elements_of(c) == Elements{1, 2, 3, 4});
  CHECK(elements_of(plait::where(a > 5.0, a, c)) == Elements{1, 6, 3, 4});
  CHECK(elements_of(plait::matmul(c, c)) == Elements{7, 10, 15, 22});
  CHECK(elements_of(plait::concatenate({c, c}))[6] == 3);
  CHECK(plait::allclose(plait::linalg::inv(plait::linalg::inv(c)), c));
  CHECK(plait::to_string(c) == "[[1. 2.]\n [3. 4.]]");
  plait::eval(a, c);
}

TEST_CASE("nothing writes to a const tensor") {
  using Const = const tensor<double>&;
  STATIC_REQUIRE(!assignable<Const, Const>);
  STATIC_REQUIRE(!added_to<Const>);
  STATIC_REQUIRE(!filled<Const>);
  STATIC_REQUIRE(!assignable<decltype(std::declval<Const>()(0)), double>);
  STATIC_REQUIRE(!assignable<decltype(view(std::declval<Const>(), 0)), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<Const>().data()), const double*>);
  STATIC_REQUIRE(std::is_same_v<decltype(*std::declval<Const>().begin()), const double&>);
  const tensor<double> c{{1, 2}, {3, 4}};
  const auto spoil = [](auto&& made) { made += 1; };
  spoil(plait::transpose(c));
  spoil(plait::reshape(c, {4}));
  spoil(plait::ravel(c));
  spoil(plait::flip(c));
  spoil(plait::diagonal(c));
  spoil(plait::squeeze(c));
  spoil(plait::expand_dims(c, 0));
  spoil(plait::swapaxes(c, 0, 1));
  spoil(plait::real(c));
  spoil(plait::atleast_3d(c));
  spoil(c.reshape({4}));
  spoil(c.transpose());
  spoil(plait::split(c, 2)[0]);
  array<double> read = view(c);
  CHECK_THROWS_AS(read += 1, plait::ValueError);
  CHECK(elements_of(c) == Elements{1, 2, 3, 4});
}

TEST_CASE("views of a tensor have its elements") {
  tensor<double> a = plait::zeros({2, 3});
  auto top = view(a, 0);
  auto turned = plait::transpose(a);
  top = 1;
  a += 1;
  CHECK(elements_of(top) == Elements{2, 2, 2});
  view(turned, 0) = 7;
  CHECK(elements_of(a) == Elements{7, 2, 2, 7, 1, 1});
  // A copy that is made while there are views has elements of its own, too.
  tensor<double> b = a;
  top = 0;
  CHECK(elements_of(b) == Elements{7, 2, 2, 7, 1, 1});
  const tensor<double>& read = a;
  const auto seen = view(read, 1);
  a(1, 1) = 5;
  CHECK(elements_of(seen) == Elements{7, 5, 1});
}

TEST_CASE("a copy takes memory once it, or the other, is written to") {
  tensor<double> a = plait::random::rand({1 << 16});
  a.eval();
  const tensor<double>& first = a;
  tensor<double> b = a;
  const tensor<double>& second = b;
  const array<double> third = a;
  CHECK(second.data() == first.data());
  CHECK(third.data() == first.data());
  CHECK(plait::sum(b).item() == plait::sum(a).item());
  CHECK(second.data() == first.data());
  std::vector<tensor<double>> history(100, a);
  for (const auto& t : history) CHECK(t.data() == first.data());
  b(0) = 2;
  CHECK(second.data() != first.data());
  CHECK(third.data() == first.data());
  // The last one writes in place.
  history.clear();
  const double* const memory = second.data();
  b(1) = 3;
  CHECK(second.data() == memory);
  CHECK(b(0) == 2);
}

TEST_CASE("temporaries and what is moved become tensors without a copy") {
  array<double> a = plait::random::rand({1 << 16});
  a.eval();
  const double* const memory = std::as_const(a).data();
  tensor<double> t = std::move(a);
  CHECK(std::as_const(t).data() == memory);
  CHECK(a.size() == 0);
  tensor<double> u = std::move(t);
  CHECK(std::as_const(u).data() == memory);
  CHECK(t.size() == 0);
  CHECK_THROWS_AS(t += 1, plait::ValueError);
  t = std::move(u);
  CHECK(std::as_const(t).data() == memory);
  CHECK(u.size() == 0);
  u = t;
  std::swap(t, u);
  t(0) = -1;
  CHECK(u(0) >= 0);
  // Somebody else holds it: a copy.
  array<double> b{1, 2}, c = b;
  tensor<double> d = std::move(b);
  d(0) = 9;
  CHECK(c(0) == 1);
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<tensor<double>>);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<tensor<double>>);
}

TEST_CASE("a tensor of adapted memory is a copy of it") {
  std::vector<double> memory{1, 2, 3};
  tensor<double> t = plait::adapt(memory.data(), {3});
  t += 1;
  t.eval();
  CHECK(memory == Elements{1, 2, 3});
  memory[0] = 100;
  CHECK(elements_of(t) == Elements{2, 3, 4});
}

TEST_CASE("classes and containers of tensors copy") {
  State s{{1, 2}, {3, 4}};
  State before = s;
  s.position += s.velocity;
  s.velocity(0) = 0;
  CHECK(elements_of(before.position) == Elements{1, 2});
  CHECK(elements_of(before.velocity) == Elements{3, 4});
  CHECK(elements_of(s.position) == Elements{4, 6});
  std::vector<tensor<double>> list(3, tensor<double>{1, 2});
  list[0](0) = 9;
  list.push_back(list[0]);
  list[3] += 1;
  CHECK(elements_of(list[0]) == Elements{9, 2});
  CHECK(elements_of(list[1]) == Elements{1, 2});
  CHECK(elements_of(list[3]) == Elements{10, 3});
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a(0) < b(0); });
  CHECK(elements_of(list[2]) == Elements{9, 2});
  std::swap(list[0], list[3]);
  CHECK(elements_of(list[0]) == Elements{10, 3});
  std::map<std::string, tensor<double>> named;
  named["x"] = list[0];
  named["y"] = named["x"];
  named["x"](1) = 0;
  CHECK(elements_of(named["y"]) == Elements{10, 3});
  const auto changed = [t = list[0]]() mutable {
    t += 1;
    return t;
  };
  CHECK(elements_of(std::as_const(list)[0]) == Elements{10, 3});
  auto call = changed;
  CHECK(elements_of(call()) == Elements{11, 4});
}

TEST_CASE("a tensor of each kind of source") {
  CHECK(elements_of(tensor<double>(std::vector<double>{1, 2})) == Elements{1, 2});
  const std::vector<float> v{3, 4};
  CHECK(elements_of(tensor<double>(v.begin(), v.end())) == Elements{3, 4});
  tensor t = plait::zeros({2, 2});
  STATIC_REQUIRE(std::is_same_v<decltype(t), tensor<double>>);
  tensor u = t;
  STATIC_REQUIRE(std::is_same_v<decltype(u), tensor<double>>);
  CHECK(tensor<double>().shape() == plait::shape_type{0});
  CHECK(tensor<double>(2.0).ndim() == 0);
  CHECK(elements_of(tensor<bool>{true, false} | tensor<bool>{false, false}) ==
        std::vector<bool>{true, false});
  const tensor<std::complex<double>> z{{1.0, 2.0}};
  CHECK(plait::real(z).shape() == z.shape());
  plait::any_array x = t;
  const tensor<double> back = x.as<double>();
  CHECK(back.shape() == t.shape());
}

TEST_CASE("compiled functions take tensors") {
  auto step = plait::compile([](const array<double>& x, array<double>& y) {
    tensor<double> z = x;
    z += 1;
    y += z;
    return x * 2.0;
  });
  tensor<double> x = plait::ones({1000}), y = plait::zeros({1000});
  for (int i = 1; i <= 6; ++i) {
    tensor<double> before = y;
    x = step(x, y);
    CHECK(x(7) == std::pow(2.0, i));
    CHECK(before(7) == std::pow(2.0, i - 1) - 2 + i);
    CHECK(y(7) == std::pow(2.0, i) - 1 + i);
  }
  auto renamed = plait::compile([](array<double>& x) { x = x + 1.0; });
  tensor<double> kept = x;
  for (int i = 0; i < 5; ++i) renamed(x);
  CHECK(x(0) == 69);
  CHECK(kept(0) == 64);
}

TEST_CASE("a tensor is evaluated into memory and into tensors") {
  const tensor<double> a{1, 2, 3};
  Elements out(3);
  a.eval_into(out.data());
  CHECK(out == Elements{1, 2, 3});
  tensor<double> b = a;
  (a * 2.0).eval_into(b);
  plait::assign(view(b, plait::range(0, 1)), array<double>{9});
  CHECK(elements_of(b) == Elements{9, 4, 6});
  CHECK(elements_of(a) == Elements{1, 2, 3});
}

TEST_CASE("vectors of tensors are joined as vectors of arrays are") {
  const std::vector<tensor<double>> rows{array<double>{1, 2}, array<double>{3, 4}};
  CHECK(elements_of(plait::stack(rows)) == Elements{1, 2, 3, 4});
  CHECK(elements_of(plait::concatenate(rows)) == Elements{1, 2, 3, 4});
  CHECK(elements_of(plait::hstack(rows)) == Elements{1, 2, 3, 4});
  CHECK(plait::vstack(rows).shape() == plait::shape_type{2, 2});
  CHECK(plait::dstack(rows).shape() == plait::shape_type{1, 2, 2});
  CHECK(elements_of(plait::column_stack(rows)) == Elements{1, 3, 2, 4});
  const std::vector views{view(rows[0], all()), view(rows[1], all())};
  CHECK(elements_of(plait::stack(views)) == Elements{1, 2, 3, 4});
}

TEST_CASE("what a tensor cannot hold is not assigned to it") {
  STATIC_REQUIRE(std::is_assignable_v<tensor<double>&, array<int>>);
  STATIC_REQUIRE(!std::is_assignable_v<tensor<int>&, array<double>>);
  STATIC_REQUIRE(!std::is_assignable_v<array<int>&, array<std::int64_t>>);
}
