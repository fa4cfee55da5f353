/* The same step as an ONNX graph, by ONNX Runtime's C interface. */
#include <onnxruntime_c_api.h>
#include "common.h"

typedef struct {
  const OrtApi* api;
  OrtSession* session;
  OrtValue *inputs[2], *output;
} Model;

static void check(const OrtApi* api, OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  exit(1);
}

static void step(void* model) {
  static const char *const inputs[] = {"X", "means"}, *const outputs[] = {"labels"};
  Model* m = (Model*)model;
  if (m->output) m->api->ReleaseValue(m->output);
  m->output = NULL;
  check(m->api, m->api->Run(m->session, NULL, inputs, (const OrtValue* const*)m->inputs, 2, outputs,
                            1, &m->output));
}

static const int64_t* labels(void* model) {
  Model* m = (Model*)model;
  void* data;
  check(m->api, m->api->GetTensorMutableData(m->output, &data));
  return (const int64_t*)data;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int64_t n;
  double* points = read_points(argv[2], &n);
  double means[kMeans * kDims];
  first_means(points, means);
  const int64_t point_shape[] = {n, kDims}, mean_shape[] = {kMeans, kDims};
  const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  Model m = {api, NULL, {NULL, NULL}, NULL};
  OrtEnv* env;
  OrtSessionOptions* options;
  OrtMemoryInfo* memory;
  check(api, api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "start_up", &env));
  check(api, api->CreateSessionOptions(&options));
  check(api, api->SetIntraOpNumThreads(options, atoi(getenv("OMP_NUM_THREADS"))));
  check(api, api->CreateSession(env, argv[1], options, &m.session));
  check(api, api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(api, api->CreateTensorWithDataAsOrtValue(
                 memory, points, sizeof(double) * (size_t)n * kDims, point_shape, 2,
                 ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, &m.inputs[0]));
  check(api,
        api->CreateTensorWithDataAsOrtValue(memory, means, sizeof means, mean_shape, 2,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, &m.inputs[1]));
  measure(&m, step, labels, n, atof(argv[3]));
  return 0;
}
