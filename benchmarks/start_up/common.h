/* What the programs of start_up.py share: usage PROGRAM MODEL POINTS SECONDS. POINTS is a file of x
   and y as doubles. After the first result a line is written, which who started the program waits
   for; then calls go on for so long, and their median and the labels' counts are written. */
#ifndef START_UP_COMMON_H
#define START_UP_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kMeans = 8, kDims = 2, kMostTimes = 100000 };

typedef void (*Step)(void* model); /* one call, its labels to be had by labels() below */
typedef const int64_t* (*Labels)(void* model);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The points, and how many. */
static double* read_points(const char* path, int64_t* n) {
  FILE* f = fopen(path, "rb");
  if (!f) exit(2);
  fseek(f, 0, SEEK_END);
  const long bytes = ftell(f);
  rewind(f);
  double* points = (double*)aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64);
  if (fread(points, 1, (size_t)bytes, f) != (size_t)bytes) exit(2);
  fclose(f);
  *n = bytes / (long)(kDims * sizeof(double));
  return points;
}

/* The first points are the means. */
static void first_means(const double* points, double* means) {
  memcpy(means, points, kMeans * kDims * sizeof(double));
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(void* model, Step step, Labels labels, int64_t n, double seconds) {
  step(model);
  int64_t counts[kMeans] = {0};
  const int64_t* first = labels(model);
  for (int64_t i = 0; i < n; ++i) ++counts[first[i]];
  puts("first");
  fflush(stdout);
  static double times[kMostTimes];
  int done = 0;
  for (const double end = now() + seconds;
       seconds > 0 && done < kMostTimes && (done < 3 || now() < end); ++done) {
    const double start = now();
    step(model);
    times[done] = now() - start;
  }
  qsort(times, (size_t)done, sizeof *times, ascending);
  printf("%.9g", done ? times[done / 2] : 0);
  for (int k = 0; k < kMeans; ++k) printf(" %lld", (long long)counts[k]);
  puts("");
}

#endif
