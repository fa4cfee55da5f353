// Large enough for machine code at the first call, with PLAIT_JIT=blocking.
#include <cmath>
#include <cstdio>
#include <plait/plait.hpp>

int main() {
  plait::array<double> x = plait::arange(200000) / 1000.0;
  for (int i = 1; i < 4; ++i) {
    plait::array<double> y = plait::exp(-x * x) + plait::sin(x) * double(i);
    plait::array<double> sorted = plait::sort(y);
    const double sum = plait::sum(plait::sqrt(plait::abs(sorted)))();
    std::puts(plait::explain(plait::exp(y) + 1.0).c_str());
    if (!(sum > 0) || y(0) != 1) return 1;
  }
}
