// Seconds of the host to record and start a graph of one kernel that is known, through the C++
// facade on a CUDA device, of as many elements as the argument says. Prints JSON; exits with 77
// where there is no device.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <plait/device.hpp>
#include <plait/plait.hpp>

int main(int argc, char** argv) {
  try {
    const long elements = argc > 1 ? std::atol(argv[1]) : 100000;
    const plait::device gpu = plait::cuda(0);
    const plait::array<float> x = plait::to_device(plait::ones<float>({elements}).copy(), gpu);
    constexpr int kGraphs = 100, kRounds = 25, kWarm = 5;
    double times[kRounds];
    for (int round = -kWarm; round < kRounds; ++round) {
      gpu.synchronize();
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kGraphs; ++i) (x * 2.0F + 1.0F).eval();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (round >= 0) times[round] = took.count() / kGraphs;
    }
    gpu.synchronize();
    std::nth_element(times, times + kRounds / 2, times + kRounds);
    std::printf("{\"seconds\": %.3g}\n", times[kRounds / 2]);
  } catch (const plait::DeviceError& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 77;
  }
}
