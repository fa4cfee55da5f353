// Memory bandwidth: the best of several passes that read two arrays and write one with streaming
// stores. Prints bytes a second.
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main() {
  constexpr long n = 1L << 25;
  double* a = static_cast<double*>(std::aligned_alloc(64, n * sizeof(double)));
  double* b = static_cast<double*>(std::aligned_alloc(64, n * sizeof(double)));
  double* c = static_cast<double*>(std::aligned_alloc(64, n * sizeof(double)));
#pragma omp parallel for
  for (long i = 0; i < n; ++i) a[i] = b[i] = c[i] = double(i);
  double best = 0;
  for (int pass = 0; pass < 8; ++pass) {
    const double start = omp_get_wtime();
#pragma omp parallel for
    for (long i = 0; i < n; i += 2)
      _mm_stream_pd(c + i, _mm_add_pd(_mm_load_pd(a + i), _mm_load_pd(b + i)));
    best = std::max(best, 3.0 * sizeof(double) * n / (omp_get_wtime() - start));
  }
  std::printf("%.0f\n", best);
}
