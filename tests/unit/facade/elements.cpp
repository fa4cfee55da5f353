// Single elements and iterators: what they read, what they write through to, what does not compile.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <thread>

#include "plait/plait.hpp"

using plait::all;
using plait::array;
using plait::range;
using plait::view;

namespace {

template <class T>
std::vector<T> in_order(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}

template <class A, class = void>
inline constexpr bool has_data = false;
template <class A>
inline constexpr bool has_data<A, std::void_t<decltype(std::declval<A>().data())>> = true;
template <class A, class B, class = void>
inline constexpr bool adds_to = false;
template <class A, class B>
inline constexpr bool adds_to<A, B, std::void_t<decltype(std::declval<A>() += std::declval<B>())>> =
    true;

}  // namespace

TEST_CASE("get and set are the elements, as they are now") {
  array<double> a{{1, 2, 3}, {4, 5, 6}};
  CHECK(a.get(1, 0) == 4);
  CHECK(a.get(-1, -1) == 6);
  a.set(7, 1, 0);
  CHECK(a.get(1, 0) == 7);
  CHECK(view(a, all(), 0).get(1) == 7);
  CHECK(a.transpose().get(2, 1) == 6);
  view(a, 1) += 1.0;  // pending, over memory that was read
  CHECK(a.get(1, 0) == 8);
  const auto before = a + 0.0;
  a.set(0.5, 0, 0);
  CHECK(before.get(0, 0) == 1);
  CHECK(a.get(0, 0) == 0.5);
  a.data()[1] = 9;
  CHECK(a.get(0, 1) == 9);
  a = plait::full({1, 1}, 3.0);
  CHECK(a.get(0, 0) == 3);
  CHECK_THROWS_AS(a.get(1, 0), plait::IndexError);
  CHECK_THROWS_AS(a.get(0), plait::IndexError);
  CHECK_THROWS_AS(a.set(1, 0, 1), plait::IndexError);
  CHECK_THROWS_AS(array<std::uint8_t>{1}.set(256, 0), plait::OverflowError);
  CHECK(plait::full({}, 2.5).get() == 2.5);
}

TEST_CASE("a copy that shares its memory until it is written to is read on its own") {
  array<double> a = plait::ones({1000}), b = a.copy();
  CHECK(a.get(5) == 1);
  CHECK(b.get(5) == 1);
  b.set(2, 5);
  CHECK(a.get(5) == 1);
  CHECK(b.get(5) == 2);
  a.data()[5] = 3;
  CHECK(b.get(5) == 2);
  CHECK(a.get(5) == 3);
}

TEST_CASE("borrowed memory is read as the array has it") {
  std::vector<double> memory{1, 2, 3};
  auto a = plait::adapt(memory.data(), 3);
  CHECK(a.get(2) == 3);
  a.set(5, 2);
  CHECK(a.get(2) == 5);
  {
    auto again = plait::adapt(memory.data() + 1, 2);
    again += 1.0;
  }
  CHECK(a.get(2) == 6);
}

TEST_CASE("elements are read while other threads evaluate what reads them") {
  array<double> a = plait::arange<double>(0, 5000);
  std::vector<std::thread> threads;
  std::vector<double> sums(3);
  for (double& sum : sums)
    threads.emplace_back([&a, &sum] {
      for (int i = 0; i < 200; ++i) sum += plait::sum(a * 2.0).item() - a.get(i) - a.get(-1 - i);
    });
  for (std::thread& t : threads) t.join();
  CHECK(sums == std::vector<double>(3, 200 * (4999.0 * 5000 - 4999)));
}

TEST_CASE("at and brackets take an element as parentheses do") {
  array<double> a{{1, 2}, {3, 4}}, v{5, 6};
  a.at(0, 1) = 7;
  a[{1, 0}] += 1;
  v[1] = a[{0, 1}];
  CHECK(in_order(a) == std::vector<double>{1, 7, 4, 4});
  const array<double>& c = v;
  STATIC_REQUIRE(std::is_same_v<decltype(c[1]), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(c.at(1)), double>);
  CHECK(c[1] == 7);
  CHECK(c[-2] == 5);
  CHECK_THROWS_AS(double(a[0]), plait::IndexError);
  CHECK_THROWS_AS(c.at(2), plait::IndexError);
}

TEST_CASE("brackets take indices of any integer type, and elements that are indices") {
  array<double> v{5, 6, 7};
  const array<double>& c = v;
  array<int> k{2, 0};
  array<std::uint8_t> small{1};
  v[std::size_t(1)] = v[k[0]] + c[k[1]];
  CHECK(c[std::uint8_t(1)] == 12);
  CHECK(c[small[0]] == 12);
  v[k(0)] *= 2;
  CHECK(v[-1] == 14);
  CHECK(plait::view(c, plait::range(1, 3))[1] == 14);
  CHECK_THROWS_AS(c[3], plait::IndexError);
  CHECK_THROWS_AS(v[-4] = 1, plait::IndexError);
}

TEST_CASE("elements that are integers take the operators of bits and remainders") {
  array<int> k{7, 12};
  k(0) %= 4;
  k(1) &= 6;
  CHECK(in_order(k) == std::vector<int>{3, 4});
  k(0) |= k(1);
  k(1) ^= 5;
  CHECK(in_order(k) == std::vector<int>{7, 1});
  k(0) >>= 1;
  k(1) <<= k(0);
  CHECK(in_order(k) == std::vector<int>{3, 8});
  array<bool> m{true, false};
  m(0) &= m(1);
  m(1) |= true;
  CHECK(!m(0));
  CHECK(m(1));
}

TEST_CASE("complex elements tell their parts") {
  array<std::complex<double>> z{std::complex<double>(3, 4)};
  CHECK(z(0).real() == 3);
  CHECK(z(0).imag() == 4);
}

TEST_CASE("what names no element is refused where it is named") {
  array<double> m{{1, 2}, {3, 4}};
  const auto wrong =
      "an element takes one index an axis: 1 index for an array of dimension 2; view(a, i) and "
      "row(a, i) take fewer";
  CHECK_THROWS_WITH((void)m[1], wrong);
  CHECK_THROWS_WITH((void)m(1), wrong);
  CHECK_THROWS_WITH((void)m.at(1), wrong);
  CHECK_THROWS_AS((void)view(m, 0)(0, 0), plait::IndexError);
}

TEST_CASE("element references count, compare and compute as elements do") {
  array<double> a{1, 2};
  CHECK(a(0)++ == 1);
  CHECK(double(++a(0)) == 3);
  CHECK(a(0)-- == 3);
  CHECK(double(--a(0)) == 1);
  CHECK(std::max(a(0).value(), 1.5) == 1.5);
  CHECK(a(0) < a(1));
  CHECK(a(0) + a(1) == 3);
  CHECK(a(0) * 2 - a(1) / 4 == 1.5);
  using C = std::complex<double>;
  array<C> z{C(1, 2), C(3, 4)};
  CHECK(z(0) * z(1) == C(-5, 10));
  CHECK(z(0) + C(1, 0) == C(2, 2));
  CHECK(C(1, 0) - z(0) == C(0, -2));
  CHECK(z(0) != z(1));
}

TEST_CASE("an element takes the value of an array of no axes") {
  array<double> a{1, 2, 3};
  a(0) = plait::mean(a);
  a[1] = plait::sum(a) / 2;
  CHECK(in_order(a) == std::vector<double>{2, 3.5, 3});
  a(2) += plait::amax(a);
  a(2) -= array<int>(1);
  a(2) *= plait::any_array(plait::amin(a));
  a(2) /= array<float>(4.0f);
  CHECK(a(2) == 2.75);
  array<int> k{0, 0};
  k(0) = array<double>(2.5);  // as a number is stored
  CHECK(k(0) == 2);
  array<std::complex<double>> z{0};
  z(0) = plait::sum(a);
  CHECK(z(0).value() == 8.25);
  z(0) = a(0);
  CHECK(z(0).value() == 2.0);
  CHECK_FALSE(std::is_assignable_v<decltype(a(0)), decltype(z(0))>);
  CHECK_THROWS_WITH(a(0) = plait::ones({1}), Catch::Contains("setting an array element"));
  CHECK_THROWS_AS(k(0) = array<std::int64_t>(std::int64_t(1) << 40), plait::OverflowError);
  CHECK_FALSE(std::is_assignable_v<decltype(a(0)), array<std::complex<double>>>);
}

TEST_CASE("elements of integers are indices, extents and axes") {
  array<double> v{10, 20, 30};
  array<int> k{2, 0};
  CHECK(v[k(0)] == 30);
  v[k(1)] = 40;
  CHECK(std::as_const(v)[k(1)] == 40);
  CHECK(plait::zeros<double>({k(0), 3}).shape() == plait::shape_type{2, 3});
  CHECK(plait::sum(v, k(1)).item() == 90);
  const array<double> a{{1, 2}, {3, 4}};
  CHECK(in_order(array<double>(view(a, k(1)))) == std::vector<double>{1, 2});
  CHECK(in_order(array<double>(view(a, array<int>{1, 0}, k(1)))) == std::vector<double>{3, 1});
  CHECK_FALSE(std::is_convertible_v<decltype(v(0)), plait::extents>);
  CHECK_FALSE(std::is_convertible_v<array<double>, plait::extents>);  // max(a, b) has no axes b
  CHECK_FALSE(std::is_convertible_v<double, plait::extents>);
}

TEST_CASE("an element reference goes with its variable, and that of a temporary view by itself") {
  array<double> a{{1, 2}, {3, 4}}, b{{5, 6}, {7, 8}};
  auto element = a(0, 1);
  a = b;
  CHECK(element == 6);
  auto first = view(b, 1)(0), same = first;
  same = 9;
  CHECK(first == 9);
  CHECK(b(1, 0) == 9);
  auto row = view(a, 0);
  row(1) += 1;
  CHECK(b(0, 1) == 7);
}

TEST_CASE("elements are read without the library only where it has nothing to add") {
  array<double> a{1, 2, 3};
  CHECK(a.get(2) == 3);
  auto twice = plait::compile(plait::pure([&](const array<double>& x) { return x * a.get(0); }));
  for (int i = 0; i < 4; ++i) {  // the value of each call, not of the first
    a(0) = i;
    CHECK(twice(array<double>{1, 2}).get(1) == 2 * i);
  }
  array<double> given{{1, 2}};
  CHECK(given.get(0, 1) == 2);
  const array<double> sum = std::move(given) + array<double>{{1, 2}, {3, 4}};  // in its place
  CHECK(sum.get(1, 1) == 6);
  array<bool> m{true, false, true};
  auto chosen = a[m];
  CHECK(chosen.get(1) == 3);
  a(2) = 7;
  chosen = 5;
  CHECK(chosen.get(1) == 5);
  CHECK_THROWS_AS(chosen.get(0, 0), plait::IndexError);
}

TEST_CASE("std::swap of elements where they are named") {
  array<double> v{1, 2, 3}, w{4};
  std::swap(v(0), v(2));
  std::swap(v[1], w[0]);
  CHECK(in_order(v) == std::vector<double>{3, 4, 1});
  CHECK(w(0) == 2);
}

TEST_CASE("swap of element references exchanges the elements") {
  array<double> a{1, 2};
  auto first = a(0), last = a(1);
  swap(first, last);
  CHECK(in_order(a) == std::vector<double>{2, 1});
  std::swap(first, last);
  CHECK(in_order(a) == std::vector<double>{1, 2});
  swap(a(0), a(1));
  CHECK(in_order(a) == std::vector<double>{2, 1});
}

TEST_CASE("iterators write where data() does") {
  array<double> a{{3, 1}, {2, 5}, {4, 0}};
  const auto later = a * 1.0;
  for (double& x : view(a, all(), 1)) x += 10;
  CHECK(in_order(a) == std::vector<double>{3, 11, 2, 15, 4, 10});
  CHECK(in_order(later) == std::vector<double>{3, 1, 2, 5, 4, 0});
  std::sort(a.begin(), a.end());
  CHECK(in_order(a) == std::vector<double>{2, 3, 4, 10, 11, 15});
  std::sort(a.rbegin(), a.rend());
  CHECK(in_order(a) == std::vector<double>{15, 11, 10, 4, 3, 2});
  auto t = a.transpose();  // not evenly apart
  CHECK(in_order(t) == std::vector<double>{15, 10, 3, 11, 4, 2});
  std::sort(t.begin(), t.end());
  CHECK(in_order(t) == std::vector<double>{2, 3, 4, 10, 11, 15});
  CHECK(in_order(a) == std::vector<double>{2, 10, 3, 11, 4, 15});
  std::iota(view(a, all(), 0).begin(), view(a, all(), 0).end(), 0.0);
  CHECK(in_order(a) == std::vector<double>{0, 10, 1, 11, 2, 15});
  std::reverse(view(a, range(0, 3, 2)).begin(), view(a, range(0, 3, 2)).end());
  CHECK(in_order(a) == std::vector<double>{15, 2, 1, 11, 10, 0});
}

TEST_CASE("iterators take any layout, and nothing") {
  const array<double> a = plait::arange<double>(0, 24).reshape({2, 3, 4});
  CHECK(in_order(plait::flip(a, 2).transpose({2, 0, 1}))[0] == 3);
  const auto odd = plait::view(a, all(), range(0, 3, 2), range(3, 0, -2));
  CHECK(std::vector<double>(odd.begin(), odd.end()) ==
        std::vector<double>{3, 1, 11, 9, 15, 13, 23, 21});
  CHECK(std::vector<double>(odd.rbegin(), odd.rend()).front() == 21);
  CHECK(in_order(plait::broadcast_to(array<double>{1, 2}, {2, 2})) ==
        std::vector<double>{1, 2, 1, 2});
  CHECK(in_order(plait::full({}, 4.0)) == std::vector<double>{4});
  array<double> none;
  CHECK(none.begin() == none.end());
  CHECK(in_order(plait::zeros({3, 0})).empty());
  auto i = a.begin();
  CHECK(i[5] == 5);
  CHECK(*(i + 23) == 23);
  CHECK(a.end() - i == 24);
  CHECK((i < a.end() && ++i > a.begin()));
}

TEST_CASE("iterators take strides that are far, none and backwards, and many layouts") {
  const std::int64_t far = (1 << 21) / 8;  // elements: as far as an iterator says itself, and more
  for (const std::int64_t n : {far - 1, far, far + 1}) {
    array<double> rows = plait::zeros({3, n});
    for (int i = 0; i < 3; ++i) rows(i, 0) = i + 1;
    CHECK(in_order(view(rows, all(), 0)) == std::vector<double>{1, 2, 3});
    CHECK(in_order(plait::flip(view(rows, all(), 0), 0)) == std::vector<double>{3, 2, 1});
    CHECK(view(rows, all(), 0).end() - view(rows, all(), 0).begin() == 3);
  }
  CHECK(in_order(plait::broadcast_to(array<double>{7}, {3})) == std::vector<double>{7, 7, 7});
  const auto vast = plait::broadcast_to(array<double>{7}, {std::int64_t{1} << 40});
  CHECK_THROWS_WITH(vast.begin(), "iterator is too large");
  for (std::int64_t n = 2; n < 40; ++n) {
    const array<double> a = plait::arange<double>(0, 2 * n).reshape({2, n}).transpose();
    bool same = true;
    auto i = a.begin();
    for (std::int64_t k = 0; k < 2 * n; ++k) same &= i[k] == static_cast<double>(k / 2 + k % 2 * n);
    CHECK(same);
    CHECK(a.end() - i == 2 * n);
    CHECK(*(a.end() - 1) == static_cast<double>(2 * n - 1));
  }
}

TEST_CASE("iterators of one array compare by where they are in it, whoever moved it meanwhile") {
  array<double> a = plait::arange<double>(0, 100);
  plait::eval(a);
  const array<double> b = a.copy();
  const auto found = std::find(a.cbegin(), a.cend(), 40);
  const auto end = a.cend();
  a(0) = 1;  // the copy has the memory, or it gets its own
  CHECK(found - a.begin() == 40);
  CHECK(end - a.begin() == 100);
  CHECK(std::distance(a.cbegin(), end) == 100);
  CHECK(b(0) == 0);
}

TEST_CASE("iterators need no array to live on but that whose memory they are in") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<array<double>::iterator>);
  array<double> a = plait::arange<double>(0, 6).reshape({2, 3});
  auto i = plait::view(a.transpose()).begin(), end = plait::view(a.transpose()).end();
  CHECK(std::vector<double>(i, end) == std::vector<double>{0, 3, 1, 4, 2, 5});
  std::sort(i, end, [](double x, double y) { return x > y; });
  CHECK(in_order(a) == std::vector<double>{5, 3, 1, 4, 2, 0});
}

TEST_CASE("what is read-only is iterated over through a const name") {
  const std::vector<double> memory{1, 2};
  auto a = plait::adapt(memory.data(), 2);
  CHECK_THROWS_WITH(
      a.begin(),
      "assignment destination is read-only; what is only read, read through a const array");
  CHECK(in_order(a) == std::vector<double>{1, 2});
}

TEST_CASE("axis iterators give the views along an axis") {
  array<double> a{{1, 2}, {3, 4}};
  double k = 1;
  for (auto i = plait::axis_begin(a, 1); i != plait::axis_end(a, 1); ++i) *i *= k *= 10;
  CHECK(in_order(a) == std::vector<double>{10, 200, 30, 400});
  const array<double>& c = a;
  std::vector<double> sums;
  std::transform(plait::axis_begin(c), plait::axis_end(c), std::back_inserter(sums),
                 [](const array<double>& row) { return plait::sum(row).item(); });
  CHECK(sums == std::vector<double>{210, 430});
  STATIC_REQUIRE(!adds_to<decltype(*plait::axis_begin(c)), double>);
  auto i = plait::axis_begin(a);
  CHECK(double((*i++)(0)) == 10);
  CHECK(double((*i--)(0)) == 30);
  CHECK((i < plait::axis_end(a) && plait::axis_end(a) - 2 == i && 1 + i > i));
  CHECK_THROWS_AS(plait::axis_begin(a, 2), plait::AxisError);
}

TEST_CASE("views of const arrays are only read") {
  array<double> a{{1, 2}, {3, 4}};
  const array<double>& c = a;
  auto v = view(c, all(), 1);
  STATIC_REQUIRE(std::is_same_v<decltype(v), plait::array_view<const double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(v(0)), double>);
  STATIC_REQUIRE(std::is_same_v<decltype(*v.begin()), const double&>);
  STATIC_REQUIRE(std::is_same_v<decltype(v.data()), const double*>);
  STATIC_REQUIRE(std::is_same_v<decltype(view(v, 0)), plait::array_view<const double>>);
  STATIC_REQUIRE(std::is_same_v<decltype(plait::row(c, 0)), plait::array_view<const double>>);
  STATIC_REQUIRE(!std::is_assignable_v<decltype(v)&, double>);
  STATIC_REQUIRE(!std::is_assignable_v<decltype(v)&, const array<double>&>);
  STATIC_REQUIRE(!std::is_copy_assignable_v<decltype(v)>);
  STATIC_REQUIRE(!adds_to<decltype(v)&, double>);
  STATIC_REQUIRE(adds_to<decltype(view(a, 0)), double>);
  CHECK(in_order(v + v) == std::vector<double>{4, 8});
  double sum = 0;
  for (double x : v) sum += x;
  CHECK(sum == 6);
  array<double> named = v;
  CHECK_THROWS_AS(named += 1.0, plait::ValueError);
  named = v + 1.0;
  named += 1.0;
  CHECK(in_order(a) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("memory of a temporary is not given out") {
  using A = array<double>;
  STATIC_REQUIRE(has_data<A&>);
  STATIC_REQUIRE(has_data<const A&>);
  STATIC_REQUIRE(!has_data<A>);
  STATIC_REQUIRE(!has_data<const A>);
  STATIC_REQUIRE(!has_data<plait::array_view<double>>);
  STATIC_REQUIRE(!has_data<decltype(std::declval<A>().eval())>);
  STATIC_REQUIRE(has_data<decltype(std::declval<A&>().eval())>);
  // An element reference through `...` would print garbage: only trivial types pass.
  STATIC_REQUIRE(!std::is_trivially_copyable_v<decltype(std::declval<A&>()(0))>);
  A a{1, 2};
  const A b = (a + 1).eval();
  CHECK(b.data()[1] == 3);
}
