#include <algorithm>
#include <numeric>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using namespace plait;

namespace {

// Columns of a table: moments, quantiles, z-scores, correlations.
void columns() {
  random::engine rng(11);
  array<double> table = rng.normal(5.0, 2.0, {400, 3});
  view(table, all(), 2) += 0.5 * view(table, all(), 0);
  const array<double> means = mean(table, {0}), deviations = stddev(table, {0});
  const array<double> z = (table - means) / deviations;
  const array<double> correlation = matmul(transpose(z), z) / double(table.shape(0));
  const array<double> quartiles = quantile(table, {0.25, 0.5, 0.75}, 0);

  std::vector<std::vector<double>> column(3);
  for (std::size_t j = 0; j < 3; ++j)
    for (std::int64_t i = 0; i < table.shape(0); ++i) column[j].push_back(table.get(i, j));
  const auto mean_of = [](const std::vector<double>& v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
  };
  const auto covariance = [&](const std::vector<double>& v, const std::vector<double>& w) {
    double sum = 0;
    for (std::size_t i = 0; i < v.size(); ++i) sum += (v[i] - mean_of(v)) * (w[i] - mean_of(w));
    return sum / double(v.size());
  };
  for (std::size_t j = 0; j < 3; ++j) {
    expect_near(means(j), mean_of(column[j]), 1e-12, "mean");
    expect_near(deviations(j), std::sqrt(covariance(column[j], column[j])), 1e-12, "deviation");
    for (std::size_t l = 0; l < 3; ++l)
      expect_near(correlation(j, l),
                  covariance(column[j], column[l]) / std::sqrt(covariance(column[j], column[j]) *
                                                               covariance(column[l], column[l])),
                  1e-11, "correlation");
    auto sorted = column[j];
    std::sort(sorted.begin(), sorted.end());
    expect_near(quartiles(1, j), (sorted[199] + sorted[200]) / 2, 1e-12, "median");
    expect_near(quartiles(0, j), sorted[99] + 0.75 * (sorted[100] - sorted[99]), 1e-12,
                "first quartile");
  }
  expect(quartiles.shape(0) == 3 && quartiles.shape(1) == 3, "shape of quantiles");
}

// Means of groups by bincount, bins by digitize and histogram.
void groups() {
  random::engine rng(5);
  array<std::int64_t> group = rng.integers(0, 4, {300});
  array<double> value = rng.exponential(2.0, {300});
  array<double> total = bincount(group, value), average = total / bincount(group);
  array<double> edges{0.0, 1.0, 2.0, 4.0, 8.0};
  auto [counts, same_edges] = histogram(value, edges);
  array<std::int64_t> bin = digitize(value, edges);

  std::vector<double> sums(4), sizes(4);
  std::vector<std::int64_t> in(6);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto g = std::size_t(group.get(i));
    sums[g] += value.get(i);
    sizes[g] += 1;
    std::size_t b = 0;
    for (double edge : edges) b += value.get(i) >= edge ? 1 : 0;
    ++in[b];
    expect(bin(i) == std::int64_t(b), "bin");
  }
  for (std::size_t g = 0; g < 4; ++g)
    expect_near(average(g), sums[g] / sizes[g], 1e-12, "mean of a group");
  for (std::size_t b = 0; b < 4; ++b) expect(counts(b) == in[b + 1], "count");
  expect(array_equal(edges, same_edges), "edges");
}

// Lloyd's k-means, until no label changes.
void kmeans() {
  random::engine rng(8);
  const long n = 300, k = 3;
  array<double> points = rng.normal(0.0, 0.3, {n, 2});
  view(points, range(0, 100)) += array<double>{2.0, 0.0};
  view(points, range(100, 200)) += array<double>{0.0, 2.0};
  array<double> means = take(points, {0, 150, 299}, 0);
  array<std::int64_t> label = full<std::int64_t>({n}, -1);
  int rounds = 0;
  for (;; ++rounds) {
    array<std::int64_t> nearest =
        argmin(linalg::norm(points - view(means, all(), newaxis()), {2}), 0);
    if (array_equal(nearest, label)) break;
    label = nearest;
    for (long j = 0; j < k; ++j) view(means, j) = mean(points[label == j], 0);
  }

  double mean[3][2] = {{points(0, 0), points(0, 1)},
                       {points(150, 0), points(150, 1)},
                       {points(299, 0), points(299, 1)}};
  std::vector<int> own(300, -1);
  for (int round = 0; round < rounds; ++round) {
    double sum[3][3] = {};
    for (int i = 0; i < 300; ++i) {
      double best = 1e300;
      for (int j = 0; j < 3; ++j) {
        const double d = std::hypot(points.get(i, 0) - mean[j][0], points.get(i, 1) - mean[j][1]);
        if (d < best) best = d, own[std::size_t(i)] = j;
      }
      double* s = sum[own[std::size_t(i)]];
      s[0] += points.get(i, 0), s[1] += points.get(i, 1), s[2] += 1;
    }
    for (int j = 0; j < 3; ++j)
      mean[j][0] = sum[j][0] / sum[j][2], mean[j][1] = sum[j][1] / sum[j][2];
  }
  expect(rounds > 1, "rounds");
  for (std::size_t i = 0; i < 300; ++i) expect(label(i) == own[i], "label");
  for (int j = 0; j < 3; ++j) expect_near(means(j, 1), mean[j][1], 1e-12, "mean");
}

// Principal components by the SVD, against the eigenvalues of the covariance.
void components() {
  random::engine rng(21);
  array<double> hidden = rng.standard_normal({200, 2});
  array<double> mixing{{1.0, 0.5, -1.0, 2.0}, {0.0, 1.0, 1.0, -0.5}};
  array<double> data = matmul(hidden, mixing) + 0.01 * rng.standard_normal({200, 4});
  array<double> centred = data - mean(data, 0);
  auto [u, s, vt] = linalg::svd(centred, false);
  array<double> variance = s * s / 199.0;
  array<double> covariance = dot(transpose(centred), centred) / 199.0;
  auto [values, vectors] = linalg::eigh(covariance);
  for (int i = 0; i < 4; ++i) expect_near(variance(i), values(3 - i), 1e-10, "variance");
  array<double> scores = matmul(centred, transpose(vt));
  expect(allclose(scores, u * s), "scores");
  expect(bool(sum(view(variance, range(0, 2))) / sum(variance) > 0.999), "two components");

  double trace_by_hand = 0;
  for (int j = 0; j < 4; ++j) {
    double mean = 0, squares = 0;
    for (int i = 0; i < 200; ++i) mean += data.get(i, j) / 200;
    for (int i = 0; i < 200; ++i) squares += (data.get(i, j) - mean) * (data.get(i, j) - mean);
    trace_by_hand += squares / 199;
  }
  expect_near(sum(variance).item(), trace_by_hand, 1e-11, "trace");
  expect_near(trace(covariance).item(), trace_by_hand, 1e-11, "trace of the covariance");
}

// A bootstrap: 1000 samples of 40 by one gather.
void bootstrap() {
  random::engine rng(1);
  array<double> sample = rng.exponential(3.0, {40});
  array<std::int64_t> chosen = rng.integers(0, 40, {1000, 40});
  array<double> means = mean(take(sample, chosen), {1});
  const double low = percentile(means, 2.5).item(), high = percentile(means, 97.5).item();

  std::vector<double> own;
  for (long i = 0; i < 1000; ++i) {
    double sum = 0;
    for (long j = 0; j < 40; ++j) sum += sample.get(chosen.get(i, j));
    own.push_back(sum / 40);
  }
  std::sort(own.begin(), own.end());
  expect_near(low, own[24] + 0.975 * (own[25] - own[24]), 1e-12, "lower bound");
  expect_near(high, own[974] + 0.025 * (own[975] - own[974]), 1e-12, "upper bound");
  expect(low < mean(sample).item() && mean(sample).item() < high, "interval");
}

// Ranks, the best three, and where new scores stand among the old ones.
void ranking() {
  array<double> score{3.5, 9.0, 1.25, 7.0, 9.5, 4.0};
  array<std::int64_t> order = argsort(-score);
  array<std::int64_t> rank = argsort(order) + 1;
  const std::vector<std::int64_t> expected{5, 2, 6, 3, 1, 4};
  expect(std::equal(rank.begin(), rank.end(), expected.begin(), expected.end()), "ranks");
  array<double> best = take(score, view(order, range(0, 3)));
  expect(best(0) == 9.5 && best(1) == 9.0 && best(2) == 7.0, "best three");
  array<double> top = sort(view(partition(score, 3), range(3, placeholders::_)));
  expect(array_equal(top, flip(best, 0)), "partition");
  array<std::int64_t> place = searchsorted(sort(score), array<double>{0.0, 4.0, 10.0}, side::right);
  expect(place(0) == 0 && place(1) == 3 && place(2) == 6, "places");
  auto [names, how_often] = unique_counts(array<int>{3, 1, 3, 3, 2, 1});
  expect(names(2) == 3 && how_often(2) == 3, "counts");
  std::vector<array<double>> rows{array<double>{2.0, 1.0}, array<double>{1.0, 5.0}};
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a(0) < b(0); });
  expect(rows[0](1) == 5.0, "rows by their first element");
}

// A regression by least squares, by normal equations and by QR.
void regression() {
  random::engine rng(77);
  auto x = linspace(-1.0, 1.0, 60);
  array<double> y = 2.0 - 3.0 * x + 0.5 * x * x + rng.normal(0.0, 0.05, {60});
  array<double> design = column_stack({ones<double>({60}), x, x * x});
  array<double> beta = linalg::lstsq(design, y).x;
  array<double> again =
      linalg::solve(matmul(transpose(design), design), matmul(transpose(design), y));
  auto [q, r] = linalg::qr(design);
  expect(allclose(beta, again) && allclose(beta, linalg::solve(r, matmul(transpose(q), y))),
         "three ways");
  const double r2 =
      1.0 - sum(square(y - matmul(design, beta))).item() / sum(square(y - mean(y))).item();

  double m[3][4] = {};
  for (int i = 0; i < 60; ++i) {
    const double row[3] = {1.0, x.get(i), x.get(i) * x.get(i)};
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) m[a][b] += row[a] * row[b];
      m[a][3] += row[a] * y.get(i);
    }
  }
  for (int p = 0; p < 3; ++p)
    for (int a = 0; a < 3; ++a)
      if (a != p) {
        const double f = m[a][p] / m[p][p];
        for (int b = 0; b < 4; ++b) m[a][b] -= f * m[p][b];
      }
  for (int a = 0; a < 3; ++a) expect_near(beta(a), m[a][3] / m[a][a], 1e-11, "coefficient");
  expect(r2 > 0.99 && r2 < 1.0, "explained");
}

}  // namespace

const std::vector<Program>& statistics() {
  static const std::vector<Program> programs{{"columns", columns},      {"groups", groups},
                                             {"k-means", kmeans},       {"components", components},
                                             {"bootstrap", bootstrap},  {"ranking", ranking},
                                             {"regression", regression}};
  return programs;
}
