// Blitz: sound in a room whose air differs from place to place. Assignments take values.
#include <vector>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

using Array3 = tensor<float>;

float run(int N, int niters) {
  Array3 P1 = plait::zeros<float>({N, N, N}), P2 = P1, P3 = P1;
  Array3 c = 0.1f + 0.1f * plait::fromfunction<float>(
                               [N](auto i, auto j, auto k) { return (i + j + k) / float(3 * N); },
                               N, N, N);
  view(P2, range(N / 4, N / 2), range(N / 4, N / 2), N / 2) = 1.0f;
  const auto I = range(1, N - 1), J = I, K = I, before = range(0, N - 2), after = range(2, N);
  for (int iter = 0; iter < niters; ++iter) {
    view(P3, I, J, K) = (2 - 6 * view(c, I, J, K)) * view(P2, I, J, K) +
                        view(c, I, J, K) * (view(P2, before, J, K) + view(P2, after, J, K) +
                                            view(P2, I, before, K) + view(P2, I, after, K) +
                                            view(P2, I, J, before) + view(P2, I, J, after)) -
                        view(P1, I, J, K);
    P1 = P2;
    P2 = P3;
  }
  return P1(N / 2, N / 2, N / 2);
}

float loops(size_t N, int niters) {
  std::vector<float> P1(N * N * N), P2(P1), P3(P1), c(P1);
  const auto at = [N](size_t i, size_t j, size_t k) { return (i * N + j) * N + k; };
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < N; ++j)
      for (size_t k = 0; k < N; ++k) {
        c[at(i, j, k)] = 0.1f + 0.1f * (float(i + j + k) / float(3 * N));
        if (i >= N / 4 && i < N / 2 && j >= N / 4 && j < N / 2 && k == N / 2) P2[at(i, j, k)] = 1;
      }
  for (int iter = 0; iter < niters; ++iter) {
    for (size_t i = 1; i + 1 < N; ++i)
      for (size_t j = 1; j + 1 < N; ++j)
        for (size_t k = 1; k + 1 < N; ++k) {
          const size_t o = at(i, j, k);
          P3[o] = (2 - 6 * c[o]) * P2[o] +
                  c[o] * (P2[o - N * N] + P2[o + N * N] + P2[o - N] + P2[o + N] + P2[o - 1] +
                          P2[o + 1]) -
                  P1[o];
        }
    P1.swap(P2);
    P2 = P3;
  }
  return P1[at(N / 2, N / 2, N / 2)];
}

}  // namespace

void acoustic() {
  const float got = run(20, 15);
  expect_near(double(got), double(loops(20, 15)), 1e-4, "sound");
  expect(std::fabs(got) > 1e-3f, "it arrived");
}

}  // namespace ported
