// Armadillo: a mixture of Gaussians by expectation maximisation. The covariances of the K
// components stand below each other, in a (K D) x D matrix.
#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

using Mat = tensor<double>;

struct Model {
  Mat means, vars, coeffs;
  Reals likelihoods;
};

Mat stacked_identities(size_t K, size_t D) {
  Mat vars = plait::zeros<double>({K * D, D});
  for (size_t k = 0; k < K; ++k) view(vars, range(k * D, (k + 1) * D), all()) = plait::eye(D);
  return vars;
}

// Densities of the components at the rows of X, times their coefficients: N x K.
Mat joint(const Mat& X, const Model& m) {
  const size_t N = X.shape(0), D = X.shape(1), K = m.means.shape(0);
  Mat p = plait::zeros<double>({N, K});
  for (size_t k = 0; k < K; ++k) {
    const Mat sigma = view(m.vars, range(k * D, (k + 1) * D), all());
    const double det = plait::linalg::det(sigma)();
    const Mat inverse = plait::linalg::inv(sigma);
    const Mat from = X - plait::row(m.means, k);
    const auto distance = plait::sum(plait::matmul(from, inverse) * from, 1);
    view(p, all(), k) =
        m.coeffs(k) / std::sqrt(det * std::pow(2 * pi, D)) * plait::exp(-0.5 * distance);
  }
  return p;
}

Model fit(const Mat& X, Mat means, int iterations) {
  const size_t N = X.shape(0), D = X.shape(1), K = means.shape(0);
  Model m{means, stacked_identities(K, D), plait::full<double>({K}, 1.0 / double(K)), {}};
  for (int i = 0; i < iterations; ++i) {
    Mat r = joint(X, m);
    const Mat total = plait::sum(r, {1}, plait::keep_dims);
    m.likelihoods.push_back(plait::sum(plait::log(total))());
    r /= total;
    const Mat of_component = plait::sum(r, 0);
    m.means = plait::matmul(plait::transpose(r), X) / view(of_component, all(), plait::newaxis());
    for (size_t k = 0; k < K; ++k) {
      const Mat from = X - plait::row(m.means, k);
      const auto weighted = from * view(r, all(), range(k, k + 1));
      view(m.vars, range(k * D, (k + 1) * D), all()) =
          plait::matmul(plait::transpose(weighted), from) / of_component(k);
    }
    m.coeffs = of_component / double(N);
  }
  return m;
}

struct Loops {
  Reals means, vars, coeffs, likelihoods;
};
Loops loops(const Reals& X, size_t D, Reals means, int iterations) {
  const size_t N = X.size() / D, K = means.size() / D;
  Loops m{means, Reals(K * D * D), Reals(K, 1.0 / double(K)), {}};
  for (size_t k = 0; k < K; ++k)
    for (size_t i = 0; i < D; ++i) m.vars[(k * D + i) * D + i] = 1;
  Reals r(N * K), factor(D * D), y(D);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (size_t k = 0; k < K; ++k) {
      double root = 1;
      for (size_t i = 0; i < D; ++i)
        for (size_t j = 0; j <= i; ++j) {
          double sum = m.vars[(k * D + i) * D + j];
          for (size_t l = 0; l < j; ++l) sum -= factor[i * D + l] * factor[j * D + l];
          factor[i * D + j] = i == j ? std::sqrt(sum) : sum / factor[j * D + j];
          if (i == j) root *= factor[i * D + i];
        }
      for (size_t n = 0; n < N; ++n) {
        double distance = 0;
        for (size_t i = 0; i < D; ++i) {
          y[i] = X[n * D + i] - m.means[k * D + i];
          for (size_t l = 0; l < i; ++l) y[i] -= factor[i * D + l] * y[l];
          y[i] /= factor[i * D + i];
          distance += y[i] * y[i];
        }
        r[n * K + k] =
            m.coeffs[k] / (root * std::pow(2 * pi, double(D) / 2)) * std::exp(-0.5 * distance);
      }
    }
    double likelihood = 0;
    Reals weights(K);
    m.means.assign(K * D, 0);
    m.vars.assign(K * D * D, 0);
    for (size_t n = 0; n < N; ++n) {
      double total = 0;
      for (size_t k = 0; k < K; ++k) total += r[n * K + k];
      likelihood += std::log(total);
      for (size_t k = 0; k < K; ++k) {
        weights[k] += r[n * K + k] /= total;
        for (size_t i = 0; i < D; ++i) m.means[k * D + i] += r[n * K + k] * X[n * D + i];
      }
    }
    for (size_t k = 0; k < K; ++k)
      for (size_t i = 0; i < D; ++i) m.means[k * D + i] /= weights[k];
    for (size_t n = 0; n < N; ++n)
      for (size_t k = 0; k < K; ++k)
        for (size_t i = 0; i < D; ++i)
          for (size_t j = 0; j < D; ++j)
            m.vars[(k * D + i) * D + j] += r[n * K + k] / weights[k] *
                                           (X[n * D + i] - m.means[k * D + i]) *
                                           (X[n * D + j] - m.means[k * D + j]);
    for (size_t k = 0; k < K; ++k) m.coeffs[k] = weights[k] / double(N);
    m.likelihoods.push_back(likelihood);
  }
  return m;
}

Mat data(size_t N) {
  plait::random::engine rng(3);
  Mat X = rng.normal(0, 1, {N, 2});
  view(X, range(0, N / 3), 0) *= 0.5;
  view(X, range(N / 3, N / 3 * 2), all()) += array<double>{4, 1};
  view(X, range(N / 3 * 2, N), all()) =
      plait::matmul(view(X, range(N / 3 * 2, N), all()), array<double>{{1.0, 0.8}, {0.0, 0.4}}) -
      5.0;
  return X;
}

}  // namespace

void mixture() {
  const Mat X = data(301);
  const Mat start = plait::take(X, {0, 120, 280}, 0);
  const Model m = fit(X, start, 12);
  const Loops l = loops(Reals(X.begin(), X.end()), 2, Reals(start.begin(), start.end()), 12);
  expect_same(m.means, l.means, 1e-9, "means");
  expect_same(m.vars, l.vars, 1e-9, "covariances");
  expect_same(m.coeffs, l.coeffs, 1e-9, "coefficients");
  for (size_t i = 1; i < 12; ++i) {
    expect_near(m.likelihoods[i], l.likelihoods[i], 1e-9, "likelihood");
    expect(m.likelihoods[i] >= m.likelihoods[i - 1], "the likelihood grows");
  }
}

}  // namespace ported
