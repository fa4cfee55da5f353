// Nanoseconds to record an operation through the C++ facade. Nothing is evaluated: every result is
// dropped. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <plait/plait.hpp>

namespace {

template <class Record>
double nanoseconds(Record record) {
  constexpr int kOperations = 20000, kRounds = 9;
  double times[kRounds];
  for (double& t : times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kOperations; ++i) record();
    t = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
        kOperations;
  }
  std::sort(times, times + kRounds);
  return times[kRounds / 2];
}

}  // namespace

int main() {
  const auto a = plait::ones<double>({100000}), b = plait::ones<double>({100000});
  const auto row = plait::ones<double>({300}), column = plait::ones<double>({300, 1});
  const double add = nanoseconds([&] { auto c = a + b; });
  const double scalar = nanoseconds([&] { auto c = a * 2.0; });
  const double broadcast = nanoseconds([&] { auto c = row + column; });
  const double reduce = nanoseconds([&] { auto c = plait::sum(a, {0}); });
  std::printf(
      "{\"add_ns\": %.1f, \"scalar_ns\": %.1f, \"broadcast_ns\": %.1f, \"reduce_ns\": %.1f}\n", add,
      scalar, broadcast, reduce);
}
