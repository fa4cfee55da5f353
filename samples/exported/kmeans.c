/* A k-means step that plait.export wrote (docs/export.md), run by C: cc kmeans.c -lplait_run
   usage: kmeans kmeans.plait [points] */
#include <plait_run.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char* error) {
  if (!error) return;
  fprintf(stderr, "kmeans: %s\n", error);
  exit(1);
}

int main(int argc, char** argv) {
  enum { kClusters = 4, kDims = 2 };
  const int64_t n = argc > 2 ? atoll(argv[2]) : 1000;
  int64_t point_shape[] = {n, kDims}, mean_shape[] = {kClusters, kDims};
  double means[kClusters * kDims] = {0, 0, 0, 1, 1, 0, 1, 1};
  double* points = malloc(sizeof(double) * (size_t)n * kDims);
  for (int64_t i = 0; i < n * kDims; ++i) points[i] = (double)rand() / RAND_MAX;

  plait_program* program;
  check(plait_load(argc > 1 ? argv[1] : "kmeans.plait", &program));
  plait_array arguments[] = {
      {points, sizeof(double) * (size_t)n * kDims, "float64", 2, point_shape, NULL},
      {means, sizeof means, "float64", 2, mean_shape, NULL},
  };
  plait_array labels = {0}; /* memory of the program's */
  check(plait_call(program, arguments, 2, &labels, 1));

  int64_t counts[kClusters] = {0};
  for (int64_t i = 0; i < labels.shape[0]; ++i) ++counts[((const int64_t*)labels.data)[i]];
  for (int k = 0; k < kClusters; ++k) printf("%d: %lld points\n", k, (long long)counts[k]);
  plait_free(program);
  free(points);
  return 0;
}
