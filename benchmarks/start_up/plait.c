/* An exported k-means step, by libplait_run. */
#include <plait_run.h>
#include "common.h"

typedef struct {
  plait_program* program;
  plait_array arguments[2], result;
} Model;

static void check(const char* error) {
  if (!error) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

static void step(void* model) {
  Model* m = (Model*)model;
  m->result.data = NULL;
  check(plait_call(m->program, m->arguments, 2, &m->result, 1));
}

static const int64_t* labels(void* model) { return (const int64_t*)((Model*)model)->result.data; }

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int64_t n;
  double* points = read_points(argv[2], &n);
  double means[kMeans * kDims];
  first_means(points, means);
  const int64_t point_shape[] = {n, kDims}, mean_shape[] = {kMeans, kDims};
  Model m = {NULL,
             {{points, sizeof(double) * (size_t)n * kDims, "float64", 2, point_shape, NULL},
              {means, sizeof means, "float64", 2, mean_shape, NULL}},
             {0}};
  check(plait_load(argv[1], &m.program));
  measure(&m, step, labels, n, atof(argv[3]));
  plait_free(m.program);
  free(points);
  return 0;
}
