// The same step as AOTInductor compiled it, by its loader in C++.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <memory>
#include <vector>
#include "common.h"

struct Model {
  std::unique_ptr<torch::inductor::AOTIModelPackageLoader> loader;
  std::vector<at::Tensor> inputs, outputs;
};

static void step(void* model) {
  Model& m = *static_cast<Model*>(model);
  m.outputs.clear();
  m.outputs = m.loader->run(m.inputs);
}

static const int64_t* labels(void* model) {
  return static_cast<Model*>(model)->outputs[0].const_data_ptr<int64_t>();
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const c10::InferenceMode inference;
  int64_t n;
  double* points = read_points(argv[2], &n);
  double means[kMeans * kDims];
  first_means(points, means);
  Model m;
  m.loader = std::make_unique<torch::inductor::AOTIModelPackageLoader>(argv[1]);
  m.inputs = {at::from_blob(points, {n, kDims}, at::kDouble),
              at::from_blob(means, {kMeans, kDims}, at::kDouble)};
  measure(&m, step, labels, n, std::atof(argv[3]));
  return 0;
}
