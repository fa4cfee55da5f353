// linalg:: by LAPACK: what the factors make together is the matrix.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <limits>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;
namespace linalg = plait::linalg;

namespace {

template <class T>
array<T> sample(std::initializer_list<std::int64_t> shape) {
  return plait::random::randn<double>(shape_type(shape)).astype<T>();
}
template <>
array<std::complex<double>> sample(std::initializer_list<std::int64_t> shape) {
  return sample<double>(shape) + sample<double>(shape) * std::complex<double>(0, 1);
}
template <class T>
array<T> adjoint(const array<T>& a) {
  return plait::conj(plait::swapaxes(a, -1, -2)).template astype<T>();
}
template <class T, class U>
bool close(const array<T>& a, const array<U>& b) {
  return a.shape() == b.shape() && plait::allclose(a, b, 1e-4, 1e-4);
}

}  // namespace

TEMPLATE_TEST_CASE("factors give the matrix back", "", float, double, std::complex<double>) {
  using T = TestType;
  const array<T> a = sample<T>({3, 5, 5}), tall = sample<T>({2, 6, 4});
  CHECK(close(plait::matmul(a, linalg::inv(a)),
              array<T>(plait::broadcast_to(plait::eye<T>(5), {3, 5, 5}))));
  const array<T> b = sample<T>({5, 2});
  CHECK(close(plait::matmul(a, linalg::solve(a, b)), array<T>(plait::broadcast_to(b, {3, 5, 2}))));

  for (const bool complete : {false, true}) {
    const auto [q, r] = linalg::qr(tall, complete);
    CHECK(q.shape() == shape_type{2, 6, complete ? 6 : 4});
    CHECK(close(plait::matmul(q, r), tall));
    CHECK(close(plait::triu(r), r));
  }
  const auto [u, s, vt] = linalg::svd(tall, false);
  CHECK(close(plait::matmul(u * plait::expand_dims(s, -2), vt), tall));
  CHECK(close(linalg::svdvals(tall), s));
  CHECK(linalg::svd(tall).u.shape() == shape_type{2, 6, 6});
  CHECK(close(linalg::pinv(tall),
              plait::matmul(linalg::inv(plait::matmul(adjoint(tall), tall)), adjoint(tall))));

  const array<T> square = plait::matmul(adjoint(tall), tall);
  const array<T> low = linalg::cholesky(square), up = linalg::cholesky(square, true);
  CHECK(close(plait::matmul(low, adjoint(low)), square));
  CHECK(close(up, adjoint(low)));
  const auto [w, v] = linalg::eigh(square);
  CHECK(close(plait::matmul(square, v), (v * plait::expand_dims(w, -2))));
  CHECK(close(linalg::eigvalsh(square), w));
  const auto [values, vectors] = linalg::eig(a);
  CHECK(close(plait::matmul(a, vectors), (vectors * plait::expand_dims(values, -2))));
  CHECK(close(linalg::eigvals(a), values));
  CHECK(close(plait::prod(values, {1}), linalg::det(a)));
  const auto [sign, logarithm] = linalg::slogdet(a);
  CHECK(close(plait::abs(sign), plait::ones({3})));
  CHECK(close(plait::exp(logarithm), plait::abs(linalg::det(a))));
}

TEST_CASE("views, integers, vectors and stacks") {
  const array<int> a{{2, 1}, {1, 3}};
  CHECK(linalg::det(a).item() == Approx(5));
  CHECK(linalg::solve(a, array<int>{3, 4}).get(0) == Approx(1));
  CHECK(
      linalg::solve(plait::transpose(array<double>{{2, 0}, {1, 3}}), array<double>{3, 3}).get(0) ==
      Approx(1));
  CHECK(close(linalg::matrix_power(a, 3), array<double>{{15, 20}, {20, 35}}));
  CHECK(close(linalg::matrix_power(a, -1), linalg::inv(a)));
  CHECK(linalg::matrix_rank(array<double>{{1, 2}, {2, 4}}).item() == 1);
  CHECK(linalg::norm(array<double>{{3, 0}, {0, -4}}, 2).item() == Approx(4));
  CHECK(linalg::norm(array<double>{{3, 0}, {0, -4}}, -2).item() == Approx(3));
  CHECK(linalg::inv(plait::empty({0, 0})).shape() == shape_type{0, 0});
}

TEST_CASE("least squares") {
  const array<double> a{{1, 0}, {1, 1}, {1, 2}}, b{1, 3, 5.5};
  const auto l = linalg::lstsq(a, b);
  CHECK(l.x.get(1) == Approx(2.25));
  CHECK(l.rank == 2);
  CHECK(l.residuals.get(0) == Approx(plait::sum(plait::square(plait::matmul(a, l.x) - b)).item()));
  CHECK(linalg::lstsq(array<double>{{1, 1}, {1, 1}, {1, 1}}, b).residuals.size() == 0);
}

TEST_CASE("matrices that have no such result are errors of the call") {
  const array<double> singular{{1, 2}, {2, 4}};
  CHECK_THROWS_WITH(linalg::inv(singular), "linalg::inv: Singular matrix");
  CHECK_THROWS_AS(linalg::solve(singular, array<double>{1, 2}), plait::LinAlgError);
  CHECK(linalg::det(singular).item() == 0);
  CHECK_THROWS_AS(linalg::cholesky(-singular), plait::LinAlgError);
  CHECK_THROWS_AS(linalg::inv(plait::ones({2, 3})), plait::LinAlgError);
  CHECK_THROWS_AS(linalg::det(plait::ones({3})), plait::LinAlgError);
  CHECK_THROWS_AS(linalg::eig(array<double>{{1, std::numeric_limits<double>::infinity()}, {0, 1}}),
                  plait::LinAlgError);
  CHECK_THROWS_AS(linalg::solve(plait::eye(3), plait::ones({2})), plait::LinAlgError);
}

// A matrix by lanes has the bits that it has alone, whatever its place and its neighbours are; and
// factors give the matrix back, of views, too.
TEMPLATE_TEST_CASE("stacks of small matrices", "", float, double) {
  using T = TestType;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9}) {
    const std::int64_t count = 523;  // no multiple of lanes
    const array<T> a = sample<T>({count, n, n}), b = sample<T>({count, n, 3});
    const array<T> spd = plait::matmul(a, adjoint(a)) + plait::eye<T>(n);
    const array<T> x = linalg::solve(spd, b), inverse = linalg::inv(spd), d = linalg::det(a),
                   low = linalg::cholesky(spd), up = linalg::cholesky(spd, true);
    CHECK(plait::allclose(plait::matmul(spd, x), b, 1e-2, 1e-2));
    CHECK(plait::allclose(plait::matmul(spd, inverse),
                          plait::broadcast_to(plait::eye<T>(n), {count, n, n}), 1e-2, 1e-2));
    CHECK(plait::allclose(plait::matmul(low, adjoint(low)), spd, 1e-3, 1e-3));
    CHECK(plait::allclose(up, adjoint(low), 1e-3, 1e-3));
    CHECK(plait::allclose(linalg::inv(adjoint(spd)), adjoint(inverse), 1e-2, 1e-2));
    const auto [sign, logarithm] = linalg::slogdet(a);
    CHECK(plait::allclose(sign * plait::exp(logarithm), d, 1e-3, 1e-5));
    const array<T> odd = plait::view(spd, plait::range(1, plait::placeholders::_, 2));
    CHECK(plait::array_equal(linalg::inv(odd),
                             plait::view(inverse, plait::range(1, plait::placeholders::_, 2))));
    for (const std::int64_t i : {std::int64_t{0}, count - 1}) {
      const array<T> one = plait::view(spd, i);
      CHECK(plait::array_equal(linalg::inv(one), plait::view(inverse, i)));
      CHECK(plait::array_equal(linalg::solve(one, plait::view(b, i)), plait::view(x, i)));
      CHECK(plait::array_equal(linalg::cholesky(one), plait::view(low, i)));
      CHECK(linalg::det(array<T>(plait::view(a, i))).item() == d.get(i));
    }
  }
}

TEST_CASE("pivots of small matrices") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  // Rows in another order, with ties: by the first of the largest elements.
  const array<double> turned{{0, 0, 2}, {0, -3, 0}, {4, 0, 0}};
  CHECK(linalg::det(turned).item() == 24);
  CHECK(plait::array_equal(linalg::solve(turned, array<double>{2, -3, 4}), plait::ones({3})));
  const array<double> signs{{1, 2}, {-1, 3}};
  CHECK(linalg::det(signs).item() == 5);
  // The product of its pivots leaves the range of float64 and comes back.
  const array<double> wide = plait::diag(array<double>{1e200, 1e200, 1e-200, 1e-200});
  CHECK(linalg::det(wide).item() == Approx(1));
  CHECK(linalg::det(array<double>{{1, 2}, {2, 4}}).item() == 0);
  CHECK(std::isinf(linalg::slogdet(array<double>{{1, 2}, {2, 4}}).second.item()));
  CHECK(std::isnan(linalg::det(array<double>{{nan, 1}, {0, 1}}).item()));
  CHECK(std::isnan(linalg::inv(array<double>{{nan, 1}, {1, 1}}).get(0, 0)));
  CHECK(std::isnan(linalg::cholesky(array<double>{{nan, 1}, {1, 1}}).get(0, 0)));
  // One of many.
  array<double> many = plait::array<double>(plait::broadcast_to(plait::eye(4), {999, 4, 4})).copy();
  many.set(0, 998, 3, 3);
  CHECK_THROWS_WITH(linalg::inv(many), "linalg::inv: Singular matrix");
  CHECK_THROWS_AS(linalg::cholesky(many), plait::LinAlgError);
  CHECK(linalg::det(many).get(998) == 0);
}

TEMPLATE_TEST_CASE("products of stacks of small matrices", "", float, double) {
  using T = TestType;
  const array<T> f = sample<T>({3, 4});
  const array<T> a = sample<T>({1000, 4, 4}), b = sample<T>({1000, 4, 2});
  const array<T> fused = plait::matmul(plait::matmul(f, a), b) + T(1);
  CHECK(fused.shape() == shape_type{1000, 3, 2});
  for (const std::int64_t i : {0, 1, 500, 999}) {
    const array<T> one =
        plait::matmul(plait::matmul(f, array<T>(plait::view(a, i))), array<T>(plait::view(b, i))) +
        T(1);
    CHECK(close(array<T>(plait::view(fused, i)), one));
  }
}

TEST_CASE("conditions of matrices") {
  const array<double> m{{1, 0, -1}, {0, 1, 0}, {1, 0, 1}};
  CHECK(linalg::cond(m).item() == Approx(std::sqrt(2)));
  CHECK(linalg::cond(m, -2).item() == Approx(std::sqrt(0.5)));
  CHECK(linalg::cond(m, 1).item() == Approx(2));
  CHECK(linalg::cond(m, -1).item() == Approx(1));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(linalg::cond(m, infinity).item() == Approx(2));
  CHECK(linalg::cond(array<int>{{2, 0}, {0, 1}}).item() == 2);
  const array<double> both = plait::stack({plait::eye(2), plait::zeros({2, 2})});
  CHECK(close(linalg::cond(both), array<double>{1, infinity}));
  CHECK(close(linalg::cond(both, 1), array<double>{1, infinity}));
  CHECK_THROWS_WITH(linalg::cond(plait::zeros({0, 0})),
                    "linalg::cond: cond is not defined on empty arrays");
  CHECK_THROWS_AS(linalg::cond(plait::ones({2, 3}), 1), plait::LinAlgError);
}

TEST_CASE("products of several matrices") {
  const array<double> a = plait::arange<double>(6).reshape({2, 3}),
                      b = plait::arange<double>(12).reshape({3, 4}), c = plait::arange<double>(4);
  CHECK(close(linalg::multi_dot(a, b, c), array<double>{162, 504}));
  CHECK(close(linalg::multi_dot(c, plait::transpose(b), plait::transpose(a)),
              array<double>{162, 504}));
  CHECK(linalg::multi_dot(c, plait::transpose(b), a.reshape({3, 2}), array<int>{1, 2}).ndim() == 0);
  const array<double> x = sample<double>({5, 40}), y = sample<double>({40, 3}),
                      z = sample<double>({3, 30}), w = sample<double>({30, 2});
  CHECK(close(linalg::multi_dot(std::vector<array<double>>{x, y, z, w}),
              plait::matmul(plait::matmul(plait::matmul(x, y), z), w)));
  CHECK_THROWS_WITH(linalg::multi_dot(std::vector<array<double>>{a}),
                    "linalg::multi_dot: Expecting at least two arrays.");
  CHECK_THROWS_AS(linalg::multi_dot(a, plait::ones({2, 3, 4})), plait::LinAlgError);
}

TEST_CASE("tensorinv and tensorsolve") {
  const auto matrix = [](std::int64_t modulus, double diagonal) {
    return plait::arange<double>(576).reshape({24, 24}) % double(modulus) +
           plait::eye(24) * diagonal;
  };
  const array<double> a = matrix(7, 50), c = matrix(11, 30).reshape({3, 8, 4, 6});
  const array<double> b = plait::arange<double>(24);
  const auto inverse = linalg::tensorinv(a.reshape({4, 6, 8, 3}));
  CHECK(inverse.shape() == shape_type{8, 3, 4, 6});
  CHECK(inverse(1, 2, 3, 4) == Approx(-0.00016840112618795938).epsilon(1e-10));
  const auto x = linalg::tensorsolve(a.reshape({4, 6, 8, 3}), b.reshape({4, 6}));
  CHECK(x.shape() == shape_type{8, 3});
  CHECK(x(2, 1) == Approx(0.010585212868296062).epsilon(1e-10));
  const auto y = linalg::tensorsolve(c.transpose({2, 0, 1, 3}), b.reshape({3, 8}), 0);
  CHECK(y.shape() == shape_type{6, 4});
  CHECK(y(1, 2) == Approx(0.29313858925242847).epsilon(1e-10));
  CHECK_THROWS_AS(linalg::tensorinv(a, 0), plait::ValueError);
  CHECK_THROWS_AS(linalg::tensorsolve(plait::ones({2, 3}), plait::ones({2})), plait::LinAlgError);
}

// In lanes of single precision; Python's are of double.
TEST_CASE("inverses and determinants of small float matrices are theirs of double") {
  plait::random::seed(3);
  for (const std::int64_t n : {1, 2, 3, 4, 5}) {
    const array<float> a = plait::random::randn<float>({997, n, n});
    const array<double> wide = a.astype<double>(), exact = linalg::inv(wide),
                        det = linalg::det(wide);
    const auto largest = [](const array<double>& m) { return plait::amax(plait::abs(m), {1, 2}); };
    const array<double> sizes = largest(exact), conditions = sizes * largest(wide);
    const array<double> errors =
        largest(linalg::inv(a).astype<double>() - exact) / (sizes * conditions);
    CHECK(plait::amax(errors).item() < 20 * 6e-8);
    const array<double> off =
        plait::abs(linalg::det(a).astype<double>() - det) / (plait::abs(det) * conditions);
    CHECK(plait::amax(off).item() < 20 * 6e-8);
    // One alone has the bits that it has among others.
    const array<float> all = linalg::inv(a), one = linalg::inv(array<float>(plait::view(a, 996)));
    CHECK(plait::array_equal(one, plait::view(all, 996)));
  }
}
