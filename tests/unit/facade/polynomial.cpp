// Polynomials; what is expected is NumPy's.
#include <catch2/catch.hpp>

#include "plait/plait.hpp"

namespace polynomial_test {

using plait::array;
using doubles = std::vector<double>;

template <class T>
std::vector<T> list(const array<T>& a) {
  return std::vector<T>(a.begin(), a.end());
}
template <class T>
void check_close(const array<T>& a, const std::vector<double>& expected) {
  REQUIRE(a.size() == expected.size());
  CHECK(plait::allclose(plait::ravel(a), array<double>(expected), 1e-12, 1e-12));
}

TEST_CASE("polynomials have values") {
  const array<double> p{2, -3, 0.5};
  CHECK(list(plait::polyval(p, array<double>{0, 1, 2})) == doubles{0.5, -0.5, 2.5});
  CHECK(plait::polyval(p, 3.0).item() == 9.5);
  CHECK(list(plait::polyval(array<int>{1, 2}, array<int>{3, 4})) == std::vector<int>{5, 6});
  CHECK(std::isnan(plait::polyval(array<double>{1}, INFINITY).item()));
  CHECK(plait::polyval(array<float>{}, array<double>{1, 2}).size() == 2);
  using c = std::complex<double>;
  CHECK(plait::polyval(p, array<c>{c(0, 1)})(0) == c(-1.5, -3));
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::polyval(array<float>{}, array<double>{})), array<double>>);
  const plait::any_array x = p;
  CHECK(plait::polyval(x, x).as<double>()(0) == 2.5);
}

TEST_CASE("polynomials are fitted") {
  const array<double> x{0, 1, 2, 3, 4}, y{1, 0, 4, 9, 17};
  check_close(plait::polyfit(x, y, 2),
              {1.357142857142858, -1.3285714285714336, 0.7142857142857196});
  check_close(plait::polyfit(x, y, 1, array<double>{1, 1, 1, 0.5, 0.5}),
              {3.3605947955390327, -1.275092936802973});
  const array<double> both = plait::stack({y, 2.0 * y}, 1);
  CHECK(plait::polyfit(x, both, 1).shape() == plait::shape_type{2, 2});
  check_close(plait::polyfit(x, both, 1), {4.1, 8.2, -2, -4});
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::polyfit(array<float>{}, array<float>{}, 1)), array<double>>);
  CHECK(plait::polyfit(array<float>{0, 1, 2}, array<float>{1, 3, 5}, 1)(0) == Approx(2));
  CHECK_THROWS_WITH(plait::polyfit(x, y, -1), "polyfit: expected deg >= 0");
  CHECK_THROWS_WITH(plait::polyfit(x, array<double>{1}, 1),
                    "polyfit: expected x and y to have same length");
  CHECK_THROWS_AS(plait::polyfit(both, y, 1), plait::DTypeError);
  CHECK_THROWS_AS(plait::polyfit(x, y, 1, array<double>{1}), plait::DTypeError);
}

TEST_CASE("polynomials are added, multiplied, divided") {
  const array<int> a{1, 2, 3}, b{4, 5};
  CHECK(list(plait::polyadd(a, b)) == std::vector<int>{1, 6, 8});
  CHECK(list(plait::polyadd(b, a)) == std::vector<int>{1, 6, 8});
  CHECK(list(plait::polysub(b, a)) == std::vector<int>{-1, 2, 2});
  CHECK(list(plait::polymul(a, b)) == std::vector<int>{4, 13, 22, 15});
  CHECK(list(plait::polymul(array<int>{0, 0, 2}, array<int>{0, 3, 1})) == std::vector<int>{6, 2});
  CHECK(list(plait::polymul(array<int>{0, 0}, a)) == std::vector<int>{0, 0, 0});
  auto [q, r] = plait::polydiv(array<double>{3, 5, 2}, array<double>{2, 1});
  CHECK(list(q) == doubles{1.5, 1.75});
  CHECK(list(r) == doubles{0.25});
  auto [small, whole] = plait::polydiv(array<int>{1}, a);
  CHECK(list(small) == doubles{0});
  CHECK(list(whole) == doubles{1});
  CHECK_THROWS_WITH(plait::polymul(plait::ones({2, 2}), plait::ones({2})),
                    "polymul: Polynomial must be 1d only.");
}

TEST_CASE("polynomials have derivatives, integrals, roots") {
  const array<double> p{1, 2, 3, 4};
  CHECK(list(plait::polyder(p)) == doubles{3, 4, 3});
  CHECK(list(plait::polyder(p, 2)) == doubles{6, 4});
  CHECK(list(plait::polyder(p, 0)) == doubles{1, 2, 3, 4});
  CHECK(plait::polyder(p, 5).size() == 0);
  CHECK(list(plait::polyint(array<int>{3, 4, 3}, 1, 7)) == doubles{1, 2, 3, 7});
  CHECK(list(plait::polyint(array<double>{6, 2}, 2)) == doubles{1, 1, 0, 0});
  CHECK_THROWS_WITH(plait::polyder(p, -1),
                    "polyder: Order of derivative must be positive (see polyint)");
  CHECK_THROWS_WITH(plait::polyint(p, -1),
                    "polyint: Order of integral must be positive (see polyder)");
  const auto found = plait::roots(array<double>{0, 1, -3, 2, 0});
  CHECK(list(plait::sort(plait::real(found)))[2] == Approx(2));
  CHECK(found.size() == 3);
  CHECK(plait::roots(array<double>{0, 0}).size() == 0);
  CHECK(plait::abs(plait::roots(array<int>{1, 0, 1}))(0) == Approx(1));
  CHECK_THROWS_AS(plait::roots(plait::ones({2, 2})), plait::ValueError);
  CHECK(list(plait::poly(array<int>{1, 2, 3})) == doubles{1, -6, 11, -6});
  CHECK(list(plait::poly(array<double>{})) == doubles{1});
  CHECK(list(plait::vander(array<double>{1, 2, 3}, 3)) == doubles{1, 1, 1, 4, 2, 1, 9, 3, 1});
  CHECK(list(plait::vander(array<int>{2, 3}, 3, true)) ==
        std::vector<std::int64_t>{1, 2, 4, 1, 3, 9});
  CHECK(plait::vander(array<int>{2, 3}).shape() == plait::shape_type{2, 2});
  CHECK_THROWS_AS(plait::vander(plait::ones({2, 2})), plait::ValueError);
}

}  // namespace polynomial_test
