#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using plait::all;
using plait::array;
using plait::range;
using plait::view;
using plait::placeholders::_;

namespace {

array<double> picture(long rows, long columns) {
  auto [y, x] = plait::meshgrid(plait::indexing::ij, plait::arange<double>(0, rows),
                                plait::arange<double>(0, columns));
  return 0.5 + 0.5 * plait::sin(0.7 * x) * plait::cos(0.4 * y);
}

// Edges by Sobel's kernels, written with slices of the padded picture and by nn::conv.
void edges() {
  const long n = 20, m = 30;
  const array<double> image = picture(n, m);
  const array<double> p = plait::pad(image, 1, plait::pad_mode::edge);
  const auto shifted = [&](long i, long j) { return view(p, range(i, i + n), range(j, j + m)); };
  array<double> gx = (shifted(0, 2) + 2.0 * shifted(1, 2) + shifted(2, 2)) -
                     (shifted(0, 0) + 2.0 * shifted(1, 0) + shifted(2, 0));
  array<double> gy = (shifted(2, 0) + 2.0 * shifted(2, 1) + shifted(2, 2)) -
                     (shifted(0, 0) + 2.0 * shifted(0, 1) + shifted(0, 2));
  array<double> strength = plait::hypot(gx, gy);
  array<double> kernel{{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
  array<double> by_conv =
      plait::nn::conv(p.reshape({1, 1, n + 2, m + 2}), kernel.reshape({1, 1, 3, 3}));
  expect(plait::allclose(by_conv.reshape({n, m}), gx), "conv");

  const auto at = [&](long i, long j) {
    return image.get(std::clamp(i, 0L, n - 1), std::clamp(j, 0L, m - 1));
  };
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < m; ++j) {
      double x = 0, y = 0;
      for (long d = -1; d <= 1; ++d) {
        const double w = d == 0 ? 2 : 1;
        x += w * (at(i + d, j + 1) - at(i + d, j - 1));
        y += w * (at(i + 1, j + d) - at(i - 1, j + d));
      }
      expect_near(strength(i, j), std::sqrt(x * x + y * y), 1e-12, "strength");
    }
}

// A separable blur, and a median filter over windows.
void filters() {
  array<double> image = picture(12, 16);
  image(5, 5) = 40.0;
  const array<double> weights{0.25, 0.5, 0.25};
  auto rows = plait::sum(plait::sliding_window_view(image, 3, 1) * weights, {2});
  array<double> blurred = plait::sum(plait::sliding_window_view(rows, 3, 0) * weights, {2});
  array<double> middle = plait::median(plait::sliding_window_view(image, {3, 3}), {2, 3});

  for (long i = 0; i < 10; ++i)
    for (long j = 0; j < 14; ++j) {
      double sum = 0;
      std::vector<double> window;
      for (long a = 0; a < 3; ++a)
        for (long b = 0; b < 3; ++b) {
          sum += weights.get(a) * weights.get(b) * image.get(i + a, j + b);
          window.push_back(image.get(i + a, j + b));
        }
      std::sort(window.begin(), window.end());
      expect_near(blurred(i, j), sum, 1e-12, "blurred");
      expect(middle(i, j) == window[4], "median");
    }
  expect(plait::max(middle).item() < 2.0, "the speck is gone");
}

// Eight-bit colours: luminance, a histogram that is made even, a table of results.
void equalise() {
  plait::random::engine rng(4);
  array<std::uint8_t> rgb = plait::cast<std::uint8_t>(rng.integers(40, 160, {16, 24, 3}));
  array<double> luminance = plait::dot(rgb.astype<double>(), array<double>{0.299, 0.587, 0.114});
  array<std::uint8_t> grey = plait::cast<std::uint8_t>(plait::rint(luminance));
  array<std::int64_t> counts = plait::bincount(plait::ravel(grey), 256);
  array<double> cdf = plait::cumsum(counts).astype<double>() / double(grey.size());
  array<std::uint8_t> table = plait::rint(255.0 * cdf).astype<std::uint8_t>();
  array<std::uint8_t> even = plait::take(table, grey);

  std::vector<long> own(256);
  std::vector<int> level;
  for (long i = 0; i < 16; ++i)
    for (long j = 0; j < 24; ++j) {
      const double y =
          0.299 * rgb.get(i, j, 0) + 0.587 * rgb.get(i, j, 1) + 0.114 * rgb.get(i, j, 2);
      level.push_back(int(std::nearbyint(y)));
      ++own[std::size_t(level.back())];
    }
  std::size_t at = 0;
  for (std::uint8_t value : even) {
    long below = 0;
    for (std::size_t l = 0; l <= std::size_t(level[at]); ++l) below += own[l];
    expect(int(value) == int(std::nearbyint(255.0 * double(below) / (16 * 24))), "level");
    ++at;
  }
  expect(plait::max(even).item() == 255, "white");
}

// Mandelbrot's set: complex numbers and a mask of what still moves.
void mandelbrot() {
  using complex = std::complex<double>;
  auto x = plait::linspace(-2.0, 0.5, 40);
  auto y = plait::linspace(-1.2, 1.2, 30);
  array<complex> c = x + view(y, all(), plait::newaxis()) * complex(0, 1);
  array<complex> z = plait::zeros_like(c);
  array<int> rounds = plait::zeros<int>({30, 40});
  for (int i = 0; i < 30; ++i) {
    array<bool> inside = plait::abs(z) <= 2.0;
    plait::masked_view(z, inside) = z * z + c;
    rounds[inside] += 1;
  }
  long differ = 0;
  for (long i = 0; i < 30; ++i)
    for (long j = 0; j < 40; ++j) {
      const complex own(x.get(j), y.get(i));
      complex w = 0;
      int count = 0;
      for (int round = 0; round < 30 && std::abs(w) <= 2.0; ++round) w = w * w + own, ++count;
      differ += count != rounds(i, j) ? 1 : 0;
    }
  expect(differ == 0, "rounds");
}

// Masked updates: outliers out, gaps filled, what is negative set to zero.
void masked() {
  array<double> a{{1, -2, 3}, {1000, 5, -6}, {7, 8, std::nan("")}};
  a[plait::isnan(a)] = plait::nanmean(plait::where(plait::abs(a) < 100, a, std::nan(""))).item();
  a[a < 0] *= -1.0;
  plait::masked_view(a, a > 100) = 100.0;
  const double filled = (1.0 - 2 + 3 + 5 - 6 + 7 + 8) / 7;
  const double expected[3][3] = {{1, 2, 3}, {100, 5, 6}, {7, 8, filled}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) expect_near(a(i, j), expected[i][j], 1e-14, "cleaned");
  auto [row, column] = plait::where(a >= 7.0).size() == 2
                           ? std::pair{plait::where(a >= 7.0)[0], plait::where(a >= 7.0)[1]}
                           : throw std::runtime_error("an index array an axis");
  expect(row.size() == 3 && row(0) == 1 && column(0) == 0 && row(2) == 2 && column(2) == 1,
         "indices");
  view(a, 0, range(1, _)) = view(a, 1, range(_, 2));
  expect(a(0, 1) == 100 && a(0, 2) == 5, "slices");
}

}  // namespace

const std::vector<Program>& images() {
  static const std::vector<Program> programs{{"edges", edges},
                                             {"filters", filters},
                                             {"equalise", equalise},
                                             {"mandelbrot", mandelbrot},
                                             {"masked", masked}};
  return programs;
}
