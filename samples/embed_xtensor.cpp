// Plait inside a program that keeps its data in xtensor containers: nothing is copied either way.
#include <cmath>
#include <cstdio>
#include <plait/plait.hpp>
#include <plait/xtensor.hpp>

int main() {
  xt::xtensor<double, 2> samples = xt::zeros<double>({1000, 3});
  for (std::size_t i = 0; i < samples.shape(0); ++i)
    for (std::size_t j = 0; j < 3; ++j) samples(i, j) = std::sin(0.01 * double(i * (j + 1)));

  auto X = plait::adapt(samples);  // borrows
  auto centred = X - plait::mean(X, {0});
  auto scaled = centred / plait::stddev(X, {0});

  auto result = plait::as_xtensor(scaled);  // an xt adaptor that owns Plait's memory
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < result.shape(0); ++i) {
    sum += result(i, 1);
    squares += result(i, 1) * result(i, 1);
  }
  std::printf("mean %.1e, variance %.6f\n", sum / 1000, squares / 1000);

  // Writes arrive in the xtensor container.
  plait::view(X, plait::all(), 0) = 1.0;
  X.eval();
  return samples(17, 0) == 1.0 && std::abs(squares / 1000 - 1) < 1e-12 ? 0 : 1;
}
