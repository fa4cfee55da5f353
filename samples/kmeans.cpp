// k-means as one would write it with NumPy: the distances of every point to every mean and the
// nearest mean run as one loop; no points x means array is made.
//   kmeans [points] [clusters] [iterations]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <plait/plait.hpp>

using plait::all;
using plait::newaxis;

namespace {

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

auto distances(const plait::array<double>& X, const plait::array<double>& means) {
  return plait::linalg::norm(X - plait::view(means, all(), newaxis()), {2});
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 2'000'000;
  const long k = argc > 2 ? std::atol(argv[2]) : 4;
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 5;

  plait::random::seed(42);
  plait::array<double> X = plait::random::randn<double>({n, 2});
  plait::array<double> means = plait::view(X, plait::range(0, k)).copy();
  means.eval();

  std::puts(plait::explain(plait::argmin(distances(X, means), 0)).c_str());
  plait::array<std::int64_t> label;
  for (int i = 0; i < iterations; ++i) {
    const double start = seconds();
    label = plait::argmin(distances(X, means), 0);
    label.eval();
    const double assigned = seconds();
    for (long c = 0; c < k; ++c) {
      auto mine = label == c;
      auto total = plait::sum(plait::where(plait::view(mine, all(), newaxis()), X, 0.0), {0});
      plait::view(means, c) = total / plait::maximum(plait::sum(mine), 1);
    }
    means.eval();
    std::printf("iteration %d: assign %.1f ms, update %.1f ms\n", i, 1e3 * (assigned - start),
                1e3 * (seconds() - assigned));
  }
  for (long c = 0; c < k; ++c)
    std::printf("mean %ld: (%.4f, %.4f), %lld points\n", c, means(c, 0) + 0.0, means(c, 1) + 0.0,
                static_cast<long long>(plait::sum(label == c).item()));
  return 0;
}
