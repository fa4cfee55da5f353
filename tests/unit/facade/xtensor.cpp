#if __has_include(<xtensor/xarray.hpp>)
#include "plait/xtensor.hpp"

#include <catch2/catch.hpp>

#include "plait/plait.hpp"

TEST_CASE("xtensor containers and views are borrowed in any layout") {
  xt::xarray<double> x = {{1, 2, 3}, {4, 5, 6}};
  xt::xtensor<float, 2, xt::layout_type::column_major> f = {{1, 2}, {3, 4}};
  auto same = plait::adapt(x);
  CHECK(same.data() == x.data());
  CHECK(plait::adapt(f)(0, 1) == 2);
  CHECK(plait::adapt(xt::view(x, xt::all(), 1))(1) == 5);
  CHECK(plait::adapt(xt::view(x, 1, xt::range(2, xt::placeholders::_, -1)))(0) == 6);
  {
    auto a = plait::adapt(x);
    a *= 2;
  }
  CHECK(x(1, 2) == 12);
  const xt::xarray<double>& c = x;
  auto read_only = plait::adapt(c);
  CHECK_THROWS_AS(read_only += 1, plait::ValueError);
}

TEST_CASE("results become xtensor adaptors that own the memory") {
  auto make = [] {
    plait::array<double> a{{1, 2}, {3, 4}};
    return plait::as_xtensor(a + 1);
  };
  auto r = make();
  CHECK(r.shape(1) == 2);
  CHECK(r(1, 1) == 5);
  xt::xarray<double> sum = r + 1;
  CHECK(sum(0, 0) == 3);
}

TEST_CASE("results in any layout keep their elements") {
  const plait::array<double> a{{1, 2, 3}, {4, 5, 6}};
  const auto same = [](const plait::array<double>& x) {
    const auto r = plait::as_xtensor(x);
    for (std::int64_t i = 0; i < x.shape(0); ++i)
      for (std::int64_t j = 0; j < x.shape(1); ++j)
        if (r(i, j) != x(i, j)) return false;
    return r.shape(0) == std::size_t(x.shape(0)) && r.shape(1) == std::size_t(x.shape(1));
  };
  CHECK(same(a));
  CHECK(same(plait::transpose(a)));
  CHECK(same(plait::transpose(a) + 1));
  CHECK(same(plait::flip(a)));
  CHECK(same(plait::view(a, plait::all(), plait::range(0, 3, 2))));
  CHECK(same(plait::broadcast_to(plait::view(a, 0), {4, 3})));
  CHECK(same(plait::swapaxes(plait::exp(plait::transpose(a)), 0, 1)));
  CHECK(plait::as_xtensor(plait::sum(a))() == 21);
}

TEST_CASE("both sides see writes") {
  plait::array<double> a{1, 2, 3};
  auto r = plait::as_xtensor(a);
  CHECK(r.data() == static_cast<const plait::array<double>&>(a).data());
  r(0) = 10;
  a(1) = 20;
  CHECK(a(0) == 10);
  CHECK(r(1) == 20);
  auto t = plait::as_xtensor(
      plait::view(a, plait::range(plait::placeholders::_, plait::placeholders::_, -1)));
  CHECK(t(0) == 3);
}

TEST_CASE("a tensor beside xtensor is a value") {
  const xt::xarray<double> x{1, 2, 3};
  plait::tensor<double> t = plait::adapt(x);
  auto r = plait::as_xtensor(t);
  r(0) = 10;
  t += 1;
  CHECK(t(0) == 2);
  CHECK(r(1) == 2);
  CHECK(x(0) == 1);
  t = plait::compile(x * 2.0);
  t(0) = 0;
  CHECK(plait::sum(t + x).item() == 16);
}
#endif
