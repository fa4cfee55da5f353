// Nanoseconds of the smallest things a C++ program does with arrays, beside xtensor's dynamic
// containers where they are installed: ten elements of `a * 2 + b * c`, a sum, a view,
// construction, single elements. The least and the median of many short runs. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <plait/plait.hpp>
#include <vector>
#if __has_include(<xtensor/xarray.hpp>)
#define HAS_XTENSOR 1
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>
#endif

namespace {

volatile double sink;

struct Time {
  double least, median;
};

template <class Do>
Time nanoseconds(Do work) {
  constexpr int kOperations = 100, kRuns = 2000;
  std::vector<double> runs;
  for (int run = -kRuns / 10; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kOperations; ++i) work();
    const std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
    if (run >= 0) runs.push_back(t.count() / kOperations);
  }
  std::sort(runs.begin(), runs.end());
  return {runs.front(), runs[runs.size() / 2]};
}

void print(const char* what, Time plait, Time xtensor, const char* end = ",") {
  std::printf("  \"%s\": {\"least_ns\": %.1f, \"median_ns\": %.1f", what, plait.least,
              plait.median);
#ifdef HAS_XTENSOR
  std::printf(", \"xtensor_least_ns\": %.1f, \"xtensor_median_ns\": %.1f, \"ratio\": %.2f",
              xtensor.least, xtensor.median, plait.median / xtensor.median);
#else
  (void)xtensor;
#endif
  std::printf("}%s\n", end);
}

}  // namespace

int main() {
  plait::array<double> a = plait::arange<double>(0, 10), b = a + 1, c = a + 2;
  plait::array<double> grid = plait::ones({10, 10});
  plait::eval(a, b, c, grid);
  const Time expression = nanoseconds([&] {
    plait::array<double> r = a * 2.0 + b * c;
    sink = r.get(3);
  });
  const Time evaluated = nanoseconds([&] { plait::array<double>(a * 2.0 + b * c).eval(); });
  const Time sum = nanoseconds([&] { sink = plait::sum(a).item(); });
  const Time view = nanoseconds([&] { auto v = plait::view(grid, plait::all(), 1); });
  const Time make = nanoseconds([&] { auto z = plait::zeros({10}); });
  const Time list = nanoseconds([&] { plait::array<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; });
  const Time call = nanoseconds([&] { sink = grid(3, 4); });
  const Time get = nanoseconds([&] { sink = grid.get(3, 4); });
  const Time set = nanoseconds([&] { grid.set(2.0, 3, 4); });
  const Time sweep = nanoseconds([&] {
    for (double& x : plait::view(grid, plait::all(), 1)) x += 1;
  });
#ifdef HAS_XTENSOR
  xt::xarray<double> xa = xt::arange<double>(0, 10), xb = xa + 1, xc = xa + 2;
  xt::xarray<double> xgrid = xt::ones<double>({10, 10});
  const Time x_expression = nanoseconds([&] {
    xt::xarray<double> r = xa * 2.0 + xb * xc;
    sink = r(3);
  });
  const Time x_sum = nanoseconds([&] { sink = xt::sum(xa)(); });
  const Time x_view = nanoseconds([&] {
    auto v = xt::view(xgrid, xt::all(), 1);
    sink = static_cast<double>(v.dimension());
  });
  const Time x_make = nanoseconds([&] {
    xt::xarray<double> z = xt::zeros<double>({10});
    sink = z.data()[0];
  });
  const Time x_list = nanoseconds([&] {
    xt::xarray<double> z{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    sink = z.data()[0];
  });
  const Time x_call = nanoseconds([&] { sink = xgrid(3, 4); });
  const Time x_set = nanoseconds([&] { xgrid(3, 4) = 2.0; });
  const Time x_sweep = nanoseconds([&] {
    for (double& x : xt::view(xgrid, xt::all(), 1)) x += 1;
  });
#else
  const Time x_expression{}, x_sum{}, x_view{}, x_make{}, x_list{}, x_call{}, x_set{}, x_sweep{};
#endif
  std::printf("{\n");
  print("a * 2 + b * c, one element read", expression, x_expression);
  print("a * 2 + b * c, evaluated", evaluated, x_expression);
  print("sum", sum, x_sum);
  print("view", view, x_view);
  print("zeros", make, x_make);
  print("from a list", list, x_list);
  print("a(i, j)", call, x_call);
  print("get", get, x_call);
  print("set", set, x_set);
  print("+= through a view's iterators", sweep, x_sweep, "");
  std::printf("}\n");
}
