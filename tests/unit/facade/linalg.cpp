#include "plait/linalg.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "plait/plait.hpp"

using plait::array;
namespace linalg = plait::linalg;

TEST_CASE("norms") {
  array<double> a{{3, 4}, {0, -2}};
  CHECK(linalg::norm(a).item() == Approx(std::sqrt(29.0)));
  CHECK(linalg::norm(a, {1})(0) == 5);
  CHECK(linalg::norm(a, {-1}, plait::keep_dims).shape() == plait::shape_type{2, 1});
  CHECK(linalg::norm(a, linalg::order{1}, 1)(0) == 7);
  CHECK(linalg::norm(a, linalg::order{std::numeric_limits<double>::infinity()}, 1)(1) == 2);
  CHECK(linalg::norm(array<int>{3, 4}).item() == 5);
  // A number alone is an order.
  CHECK(linalg::norm(array<double>{3, -4}, 1).item() == 7);
  CHECK(linalg::norm(a, 1).item() == 6);
  CHECK(linalg::norm(a, -std::numeric_limits<float>::infinity()).item() == 2);
  CHECK(linalg::norm(a, linalg::order(1)).item() == 6);
  CHECK(linalg::norm(a, 1, 1)(0) == 7);
  CHECK(linalg::norm(a, 1, {1}, plait::keep_dims).shape() == plait::shape_type{2, 1});
  CHECK(linalg::norm(a, 0, -1)(1) == 1);
  CHECK_THROWS_AS(linalg::norm(a, 3), plait::ValueError);
  CHECK(linalg::norm(array<std::complex<float>>{std::complex<float>(3, 4)}, {0}).item() == 5);
}

TEST_CASE("products promote and check shapes") {
  array<float> a{{1, 2}, {3, 4}};
  array<double> v{1, 10};
  auto p = plait::matmul(a, v);
  STATIC_REQUIRE(std::is_same_v<decltype(p)::value_type, double>);
  CHECK(p(1) == 43);
  CHECK(linalg::dot(v, v).item() == 101);
  CHECK(linalg::outer(v, v)(1, 1) == 100);
  CHECK_THROWS_AS(plait::matmul(a, plait::ones({3})), plait::ValueError);
}

TEST_CASE("einsum of three operands and more") {
  const array<double> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 1}}, v{2, 3};
  CHECK(plait::array_equal(plait::einsum("ij,jk,k->i", a, b, v),
                           plait::matmul(a, plait::matmul(b, v))));
  CHECK(plait::array_equal(plait::einsum("ij,jk,kl", a, b, a),
                           plait::matmul(plait::matmul(a, b), a)));
  CHECK(plait::einsum("i,i,i,i->", v, v, v, v).item() == 97);
  CHECK(plait::array_equal(plait::einsum("i,j,i->ji", v, v, v), plait::outer(v, v * v)));
  STATIC_REQUIRE(
      std::is_same_v<decltype(plait::einsum("i,i,i", v, array<float>{1, 2}, v)), array<double>>);
  CHECK_THROWS_AS(plait::einsum("ij,jk->i", a, b, v), plait::ValueError);
  CHECK_THROWS_AS(plait::einsum("ij,jk,l->m", a, b, v), plait::ValueError);
}
