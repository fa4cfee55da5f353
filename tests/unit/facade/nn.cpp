#include "plait/nn.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "plait/plait.hpp"

using plait::array;
using plait::shape_type;

TEST_CASE("attention is softmax of scores times values") {
  const auto q = plait::random::randn<double>({2, 5, 3}),
             k = plait::random::randn<double>({2, 7, 3}),
             v = plait::random::randn<double>({2, 7, 4});
  const array<double> s = plait::matmul(q, plait::swapaxes(k, 1, 2)) / std::sqrt(3.0);
  const array<double> e = plait::exp(s), w = e / plait::sum(e, {2}, plait::keep_dims);
  CHECK(plait::allclose(plait::nn::attention(q, k, v), plait::matmul(w, v)));
  plait::nn::attention_options causal;
  causal.is_causal = true;
  const array<double> seen = plait::tri(5, 7, 2);
  const array<double> masked = plait::nn::attention(q, k, v, array<bool>(seen > 0));
  CHECK(plait::allclose(plait::nn::attention(q, k, v, causal), masked));
  CHECK_FALSE(plait::allclose(plait::nn::attention(q, k, v), masked));
  CHECK_THROWS_AS(plait::nn::attention(q, v, v), plait::ValueError);
}

TEST_CASE("convolutions with stride, padding, dilation, groups and bias") {
  const array<double> x = plait::arange<double>(16).reshape({1, 1, 4, 4});
  const array<double> w = plait::ones({1, 1, 2, 2});
  const array<double> y = plait::nn::conv(x, w);
  CHECK(y.shape() == shape_type{1, 1, 3, 3});
  CHECK(y.get(0, 0, 0, 0) == 0 + 1 + 4 + 5);
  plait::nn::conv_options o;
  o.stride = {2, 3};
  o.padding = 1;
  CHECK(plait::nn::conv(x, w, array<double>{100}, o).get(0, 0, 0, 0) == 100);
  CHECK(plait::nn::conv(x, w, o).shape() == shape_type{1, 1, 3, 2});
  plait::nn::conv_options wide;
  wide.dilation = 3;
  CHECK(plait::nn::conv(x, w, wide).item() == 0 + 3 + 12 + 15);
  plait::nn::conv_options apart;
  apart.groups = 2;
  const array<double> pair = plait::concatenate({x, x * 2.0}, 1);
  const array<double> each = plait::nn::conv(pair, plait::ones({2, 1, 2, 2}), apart);
  CHECK(each.shape() == shape_type{1, 2, 3, 3});
  CHECK(each.get(0, 1, 0, 0) == 20);
  CHECK_THROWS_AS(plait::nn::conv(pair, w), plait::ValueError);
}

TEST_CASE("pools") {
  const array<double> x = plait::arange<double>(16).reshape({1, 1, 4, 4});
  CHECK(plait::nn::pool(x, 2).get(0, 0, 1, 1) == 15);
  plait::nn::pool_options mean;
  mean.kind = plait::nn::pooling::mean;
  mean.stride = 1;
  CHECK(plait::nn::pool(x, {2, 2}, mean).get(0, 0, 0, 0) == 2.5);
  plait::nn::pool_options padded;
  padded.padding = 1;
  CHECK(plait::nn::pool(x * -1.0 - 1.0, 2, padded).get(0, 0, 0, 0) == -1);
  CHECK_THROWS_AS(plait::nn::pool(plait::ones({2, 2}), 2), plait::ValueError);
}
