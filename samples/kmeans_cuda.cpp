// k-means on a CUDA device, in an application that has data there already. The points stay where
// they are: Plait borrows the application's memory, assignment and update of the means are kernels,
// and only the means come back.
//   kmeans_cuda [points] [clusters] [iterations]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <plait/device.hpp>
#include <plait/plait.hpp>

using plait::all;
using plait::newaxis;

namespace {

double seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

auto nearest(const plait::array<float>& X, const plait::array<float>& means) {
  return plait::argmin(plait::linalg::norm(X - plait::view(means, all(), newaxis()), {2}), 0);
}

void run(plait::device gpu, long n, long k, int iterations) {
  plait::random::seed(42);
  const auto owner = plait::to_device(plait::random::randn<float>({n, 2}), gpu);

  // What an application has: an address on the device, and the stream whose work fills it (here the
  // default one). Memory of cudaMalloc is adopted in the same way; a function to release it may be
  // given, too.
  void* stream = nullptr;
  float* memory = plait::lend(owner, stream);
  plait::array<float> X = plait::adapt(memory, {n, 2}, gpu, stream);

  plait::array<float> means = plait::view(X, plait::range(0, k)).copy();
  std::puts(plait::explain(nearest(X, means)).c_str());
  plait::array<std::int64_t> label;
  for (int i = 0; i < iterations; ++i) {
    const double start = seconds();
    label = nearest(X, means);
    for (long c = 0; c < k; ++c) {
      auto mine = label == c;
      auto total = plait::sum(plait::where(plait::view(mine, all(), newaxis()), X, 0.0F), {0});
      plait::view(means, c) = total / plait::maximum(plait::sum(mine), 1);
    }
    means.eval();
    gpu.synchronize();  // for the clock only
    std::printf("iteration %d: %.2f ms\n", i, 1e3 * (seconds() - start));
  }
  const plait::array<float> found = plait::to_device(means, plait::cpu());
  for (long c = 0; c < k; ++c)
    std::printf("mean %ld: (%.4f, %.4f), %lld points\n", c, found(c, 0) + 0.0, found(c, 1) + 0.0,
                static_cast<long long>(plait::sum(label == c).item()));
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 20'000'000;
  const long k = argc > 2 ? std::atol(argv[2]) : 4;
  const int iterations = argc > 3 ? std::atoi(argv[3]) : 5;
  try {
    run(plait::cuda(), n, k, iterations);
  } catch (const plait::DeviceError& e) {
    std::fprintf(stderr, "no CUDA device to run on: %s\n", e.what());
    return 77;
  }
}
