// Nanoseconds to record an operation through the C++ facade. Nothing is evaluated: every result is
// dropped. The least of many short runs, which other work on the machine disturbs little; beside it
// a loop of 20 dependent multiplications through memory, to compare machines and moments by. Prints
// JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <plait/plait.hpp>

namespace {

template <class Record>
double nanoseconds(Record record) {
  constexpr int kOperations = 100, kRuns = 5000;
  double least = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kOperations; ++i) record();
    const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
    least = std::min(least, t.count() / kOperations);
  }
  return least;
}

void reference() {
  volatile unsigned x = 0;
  for (int i = 0; i < 20; ++i) x = x * 3 + 1;
}

}  // namespace

int main() {
  const auto a = plait::ones<double>({100000}), b = plait::ones<double>({100000});
  const auto matrix = plait::ones<double>({300, 300}), other = plait::ones<double>({300, 300});
  const auto row = plait::ones<double>({300}), column = plait::ones<double>({300, 1});
  const double add = nanoseconds([&] { auto c = a + b; });
  const double matrices = nanoseconds([&] { auto c = matrix + other; });
  const double scalar = nanoseconds([&] { auto c = a * 2.0; });
  const double broadcast = nanoseconds([&] { auto c = row + column; });
  const double reduce = nanoseconds([&] { auto c = plait::sum(a, {0}); });
  std::printf(
      "{\"add_ns\": %.1f, \"matrices_ns\": %.1f, \"scalar_ns\": %.1f, \"broadcast_ns\": %.1f, "
      "\"reduce_ns\": %.1f, \"reference_ns\": %.1f}\n",
      add, matrices, scalar, broadcast, reduce, nanoseconds(reference));
}
