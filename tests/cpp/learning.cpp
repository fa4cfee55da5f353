#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using namespace plait;
using plait::placeholders::_;

namespace {

// Logistic regression by gradient descent.
void logistic() {
  random::engine rng(14);
  array<double> X = rng.standard_normal({200, 3}), w = zeros<double>({3});
  const array<double> hidden{1.5, -2.0, 0.5};
  array<double> y = (rng.random({200}) < 1 / (1 + exp(-matmul(X, hidden)))).astype<double>();
  for (int epoch = 0; epoch < 50; ++epoch) {
    auto p = 1 / (1 + exp(-matmul(X, w)));
    w -= 0.5 * matmul(transpose(X), p - y) / 200;
  }
  std::vector<double> plain(3);
  for (int epoch = 0; epoch < 50; ++epoch) {
    double gradient[3] = {};
    for (int i = 0; i < 200; ++i) {
      double s = 0;
      for (int j = 0; j < 3; ++j) s += X(i, j) * plain[std::size_t(j)];
      for (int j = 0; j < 3; ++j) gradient[j] += X(i, j) * (1 / (1 + std::exp(-s)) - y(i));
    }
    for (std::size_t j = 0; j < 3; ++j) plain[j] -= 0.5 * gradient[j] / 200;
  }
  expect(allclose(w, array<double>(plain), 1e-10), "weights");
  auto right = (matmul(X, w) > 0) == (y == 1.0);
  expect(mean(right.astype<double>()).item() > 0.8, "accuracy");
}

// A network of two layers that learns XOR; its gradient is the slope of its loss.
void network() {
  random::engine rng(5);
  const array<double> X{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, y{{0}, {1}, {1}, {0}};
  array<double> W1 = rng.normal(0, 1, {2, 8}), b1 = zeros<double>({8});
  array<double> W2 = rng.normal(0, 1, {8, 1}), b2 = zeros<double>({1});
  const auto loss = [&](const array<double>& W) {
    return mean(square(matmul(tanh(matmul(X, W) + b1), W2) + b2 - y));
  };
  double before = 0, slope = 0;
  for (int epoch = 0; epoch < 400; ++epoch) {
    auto hidden = tanh(matmul(X, W1) + b1);
    auto error = 2.0 * (matmul(hidden, W2) + b2 - y) / 4.0;
    auto back = matmul(error, W2.transpose()) * (1 - hidden * hidden);
    array<double> dW1 = matmul(X.transpose(), back), dW2 = matmul(hidden.transpose(), error);
    if (epoch == 0) {
      before = loss(W1).item();
      slope = dW1(1, 3);
      array<double> moved = W1.copy();
      moved(1, 3) += 1e-6;
      expect_near((loss(moved).item() - before) / 1e-6, slope, 1e-5, "gradient");
    }
    W1 -= 0.3 * dW1;
    b1 -= 0.3 * sum(back, 0);
    W2 -= 0.3 * dW2;
    b2 -= 0.3 * sum(error, 0);
  }
  expect(loss(W1).item() < before / 20, "learns");
}

// Attention of several heads, by einsum, by nn::attention and by loops.
void attention() {
  random::engine rng(77);
  array<float> q = rng.standard_normal<float>({2, 5, 4}), k = rng.standard_normal<float>({2, 7, 4}),
               v = rng.standard_normal<float>({2, 7, 3});
  auto scores = einsum("hqd,hkd->hqk", q, k) / std::sqrt(4.0);
  auto weights = exp(scores - amax(scores, -1, keep_dims));
  weights /= sum(weights, {-1}, keep_dims);
  auto mixed = matmul(weights, v);
  expect(mixed.dtype() == dtype::float32, "single precision");
  expect(allclose(mixed, nn::attention(q, k, v), 1e-5, 1e-6), "attention");
  double total = 0, sum = 0;
  for (int j = 0; j < 7; ++j) {
    double s = 0;
    for (int d = 0; d < 4; ++d) s += q(1, 2, d) * k(1, j, d);
    total += std::exp(s / 2);
    sum += std::exp(s / 2) * v(1, j, 0);
  }
  expect_near(mixed(1, 2, 0), sum / total, 1e-5, "loop");
}

// Naive Bayes of three classes with Gaussians.
void naive_bayes() {
  random::engine rng(3);
  array<std::int64_t> label = repeat(arange(3), 40);
  const array<double> centres{{0, 0}, {3, 0}, {0, 4}};
  array<double> X = take(centres, label, 0) + rng.normal(0, 0.7, {120, 2});
  std::vector<array<double>> means, variances;
  for (int c = 0; c < 3; ++c) {
    array<double> members = X[label == c];
    means.push_back(mean(members, 0));
    variances.push_back(var(members, 0));
  }
  array<double> mu = stack(means), s2 = stack(variances);
  auto d = view(X, all(), newaxis()) - mu;
  array<double> likelihood = -0.5 * sum(d * d / s2 + log(s2), 2);
  auto guess = argmax(likelihood, 1);
  expect(count_nonzero(guess == label).item() >= 117, "guesses");
  double m = 0, v = 0;
  for (int i = 40; i < 80; ++i) m += X(i, 1) / 40;
  for (int i = 40; i < 80; ++i) v += (X(i, 1) - m) * (X(i, 1) - m) / 40;
  expect_near(mu(1, 1), m, 1e-12, "mean");
  expect_near(s2(1, 1), v, 1e-12, "variance");
}

// Five nearest neighbours and their votes.
void neighbours() {
  random::engine rng(10);
  array<double> points = rng.random({80, 3}), asked = rng.random({10, 3});
  array<int> colour = (col(points, 0) > 0.5).astype<int>();
  auto distance = linalg::norm(view(asked, all(), newaxis()) - points, {2});
  auto nearest = view(argsort(distance, 1), all(), range(_, 5));
  auto votes = sum(take(colour, nearest), 1);
  for (int i = 0; i < 10; ++i) {
    std::vector<std::pair<double, int>> all_of;
    for (int j = 0; j < 80; ++j) {
      double s = 0;
      for (int k = 0; k < 3; ++k) s += std::pow(asked(i, k) - points(j, k), 2);
      all_of.emplace_back(s, colour(j));
    }
    std::sort(all_of.begin(), all_of.end());
    int plain = 0;
    for (std::size_t k = 0; k < 5; ++k) plain += all_of[k].second;
    expect(votes(i) == plain, "votes");
  }
}

// Cross entropy of labels, its gradient by one-hot rows, and the confusion of classes.
void cross_entropy() {
  random::engine rng(19);
  array<double> logits = rng.normal(0, 2, {60, 4});
  array<std::int64_t> label = rng.integers(0, 4, {60});
  auto shifted = logits - view(amax(logits, 1), all(), newaxis());
  auto log_p = shifted - log(sum(exp(shifted), 1, keep_dims));
  const double loss = -mean(take_along_axis(log_p, expand_dims(label, 1), 1)).item();
  array<double> one_hot = take(eye(4), label, 0), gradient = (exp(log_p) - one_hot) / 60;
  array<std::int64_t> confusion = zeros<std::int64_t>({4, 4});
  auto guess = argmax(logits, 1);
  add_at(confusion, {label, guess}, 1);
  double plain = 0;
  long right = 0;
  for (int i = 0; i < 60; ++i) {
    double total = 0;
    int best = 0;
    for (int c = 0; c < 4; ++c) {
      total += std::exp(logits(i, c));
      if (logits(i, c) > logits(i, best)) best = c;
    }
    plain -= std::log(std::exp(logits(i, label(i))) / total) / 60;
    right += best == label(i);
  }
  expect_near(loss, plain, 1e-12, "loss");
  expect(trace(confusion).item() == right && sum(confusion).item() == 60, "confusion");
  expect(allclose(sum(gradient, 1), 0, 0, 1e-12), "gradient");
}

// The area under the ROC curve, by ranks and by pairs.
void roc() {
  random::engine rng(23);
  array<bool> sick = rng.random({150}) < 0.3;
  array<double> score = rng.standard_normal({150}) + sick;
  auto order = flip(argsort(score), 0);
  auto hit = take(sick, order);
  array<double> tpr = cumsum(hit) / double(count_nonzero(sick).item());
  array<double> fpr = cumsum(!hit) / double(count_nonzero(!sick).item());
  const double area =
      trapezoid(concatenate({zeros<double>({1}), tpr}), concatenate({zeros<double>({1}), fpr}))
          .item();
  double wins = 0, pairs = 0;
  for (int i = 0; i < 150; ++i)
    for (int j = 0; j < 150; ++j)
      if (sick(i) && !sick(j)) {
        ++pairs;
        wins += score(i) > score(j);
      }
  expect_near(area, wins / pairs, 1e-12, "area");
}

// The importance of pages by powers of a matrix.
void page_rank() {
  array<double> links{{0, 1, 1, 0}, {0, 0, 1, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}};
  array<double> walk = links / sum(links, 1, keep_dims);
  array<double> rank = full<double>({4}, 0.25);
  for (int step = 0; step < 100; ++step) {
    array<double> next = 0.85 * matmul(rank, walk) + 0.15 / 4;
    const bool still = allclose(next, rank, 0, 1e-14);
    rank = next;
    if (still) break;
  }
  auto [values, vectors] = linalg::eig(transpose(0.85 * walk + 0.15 / 4));
  array<double> first = real(col(vectors, argmax(real(values)).item()));
  expect(allclose(rank, first / sum(first), 1e-10), "eigenvector");
  expect(argmax(rank).item() == 2 && argmin(rank).item() == 3, "order");
}

// All shortest paths by Floyd and Warshall.
void shortest_paths() {
  random::engine rng(30);
  const int n = 20;
  array<double> weight = rng.uniform(1, 10, {n, n});
  weight[rng.random({n, n}) < 0.7] = std::numeric_limits<double>::infinity();
  fill_diagonal(weight, 0);
  array<double> d = weight.copy();
  for (int k = 0; k < n; ++k) d = minimum(d, add(view(d, all(), k, newaxis()), view(d, k)));
  std::vector<double> plain(n * n);
  std::copy(weight.begin(), weight.end(), plain.begin());
  const auto at = [&](int i, int j) -> double& { return plain[std::size_t(i * n + j)]; };
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) at(i, j) = std::min(at(i, j), at(i, k) + at(k, j));
  expect(array_equal(ravel(d), array<double>(plain)), "paths");
  // Who reaches whom: the closure of the adjacency.
  array<bool> reach = isfinite(weight);
  for (int step = 0; step < 5; ++step) reach = matmul(reach.astype<int>(), reach.astype<int>()) > 0;
  expect(array_equal(reach, isfinite(d)), "reach");
}

// Smith and Waterman's alignment of two sequences, one anti-diagonal at a time.
void alignment() {
  const std::string a = "TGTTACGGACTTGAC", b = "GGTTGACTATACG";
  const auto n = std::int64_t(a.size()), m = std::int64_t(b.size());
  array<int> s(std::vector<int>(a.begin(), a.end())), t(std::vector<int>(b.begin(), b.end()));
  array<int> match = where(view(s, all(), newaxis()) == t, 3, -3).astype<int>();
  // Diagonal d has the cells (i, d - i); index i of each array is row i.
  array<int> before = zeros<int>({n + 1}), last = zeros<int>({n + 1});
  int best = 0;
  for (std::int64_t d = 2; d <= n + m; ++d) {
    const auto low = std::max<std::int64_t>(1, d - m), high = std::min(n, d - 1);
    auto i = arange(low, high + 1);
    array<int> now = zeros<int>({n + 1});
    auto up = view(last, range(low - 1, high)) - 2, left = view(last, range(low, high + 1)) - 2;
    auto both = view(before, range(low - 1, high)) + take(match, (i - 1) * m + (d - i - 1));
    view(now, range(low, high + 1)) = maximum(maximum(both, 0), maximum(up, left));
    best = std::max(best, amax(now).item());
    before = last;
    last = now;
  }
  std::vector<std::vector<int>> H(a.size() + 1, std::vector<int>(b.size() + 1));
  int plain = 0;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      H[i][j] = std::max(
          {0, H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -3), H[i - 1][j] - 2, H[i][j - 1] - 2});
      plain = std::max(plain, H[i][j]);
    }
  expect(best == plain && best > 6, "score");
}

// Adam from many starts at once, down Rosenbrock's valley.
void adam() {
  random::engine rng(2);
  array<double> p = rng.uniform(-2, 2, {2, 30}), m = zeros_like(p), v = zeros_like(p);
  const auto value = [](const array<double>& at) {
    auto x = row(at, 0), y = row(at, 1);
    return pow(1 - x, 2) + 100 * pow(y - x * x, 2);
  };
  const double first = mean(value(p)).item();
  double x = p(0, 4), y = p(1, 4), mx = 0, my = 0, vx = 0, vy = 0;
  for (int step = 1; step <= 300; ++step) {
    auto a = row(p, 0), b = row(p, 1);
    auto g = stack({-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)});
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double c1 = 1 - std::pow(0.9, step), c2 = 1 - std::pow(0.999, step);
    p = p - 0.02 * (m / c1) / (sqrt(v / c2) + 1e-8);
    p.eval();
    const double gx = -2 * (1 - x) - 400 * x * (y - x * x), gy = 200 * (y - x * x);
    mx = 0.9 * mx + 0.1 * gx, my = 0.9 * my + 0.1 * gy;
    vx = 0.999 * vx + 0.001 * gx * gx, vy = 0.999 * vy + 0.001 * gy * gy;
    x -= 0.02 * (mx / c1) / (std::sqrt(vx / c2) + 1e-8);
    y -= 0.02 * (my / c1) / (std::sqrt(vy / c2) + 1e-8);
  }
  expect(mean(value(p)).item() < first / 50, "down");
  expect_near(p(0, 4), x, 1e-6, "x");
  expect_near(p(1, 4), y, 1e-6, "y");
}

// A Gaussian process through noisy samples of a sine.
void gaussian_process() {
  random::engine rng(40);
  array<double> x = sort(rng.uniform(0, 6, {25})), y = sin(x) + rng.normal(0, 0.05, {25});
  array<double> asked = linspace(0.5, 5.5, 11);
  const auto kernel = [](const array<double>& a, const array<double>& b) {
    return exp(-0.5 * square(subtract(view(a, all(), newaxis()), b)));
  };
  array<double> K = kernel(x, x) + 0.05 * 0.05 * eye(25), Ks = kernel(asked, x);
  auto L = linalg::cholesky(K);
  auto alpha = linalg::solve(transpose(L), linalg::solve(L, y));
  array<double> mu = matmul(Ks, alpha);
  auto w = linalg::solve(L, transpose(Ks));
  array<double> spread = sqrt(1.0 - sum(w * w, 0));
  expect(allclose(mu, matmul(Ks, matmul(linalg::inv(K), y)), 1e-6, 1e-8), "mean");
  expect(all(abs(mu - sin(asked)) < 0.2).item(), "sine");
  expect(all(spread < 0.5).item() && all(spread > 0.0).item(), "spread");
  auto [sign, logarithm] = linalg::slogdet(K);
  expect(sign.item() == 1, "sign");
  expect_near(2 * sum(log(diagonal(L))).item(), logarithm.item(), 1e-8, "evidence");
}

}  // namespace

const std::vector<Program>& learning() {
  static const std::vector<Program> programs{{"logistic", logistic},
                                             {"network", network},
                                             {"attention", attention},
                                             {"naive bayes", naive_bayes},
                                             {"neighbours", neighbours},
                                             {"cross entropy", cross_entropy},
                                             {"roc", roc},
                                             {"page rank", page_rank},
                                             {"shortest paths", shortest_paths},
                                             {"alignment", alignment},
                                             {"adam", adam},
                                             {"gaussian process", gaussian_process}};
  return programs;
}
