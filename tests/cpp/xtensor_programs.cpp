#include <vector>

#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <plait/plait.hpp>
#include <plait/xtensor.hpp>

#include "programs.hpp"

namespace {

// Data of xtensor's, computed by Plait, back in xtensor's hands.
void standardise() {
  xt::xtensor<double, 2> samples = xt::zeros<double>({6, 3});
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 3; ++j) samples(i, j) = double(i * i) + 0.5 * double(j);
  auto x = plait::adapt(samples);
  auto scaled = (x - plait::mean(x, {0})) / plait::stddev(x, {0});
  auto result = plait::as_xtensor(scaled);
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < 6; ++i) mean += samples(i, 1) / 6;
  for (std::size_t i = 0; i < 6; ++i)
    squares += (samples(i, 1) - mean) * (samples(i, 1) - mean) / 6;
  for (std::size_t i = 0; i < 6; ++i)
    expect_near(result(i, 1), (samples(i, 1) - mean) / std::sqrt(squares), 1e-13, "scaled");
  x *= 2.0;
  x.eval();
  expect(samples(2, 0) == 8.0, "written through");
}

// One call around an expression of xtensor's.
void expressions() {
  xt::xarray<double> a = xt::linspace<double>(0.0, 1.0, 12).reshape({3, 4}), b = 2.0 + a,
                     c = xt::ones<double>({5, 4});
  plait::array<double> r = plait::compile(xt::sin(a) * b + xt::sum(c, {0}));
  xt::xarray<double> own = xt::sin(a) * b + xt::sum(c, {0});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) expect_near(r(i, j), own(i, j), 1e-14, "expression");
  plait::array<double> both = r + xt::view(a, 1, xt::all());
  expect_near(both(2, 3), own(2, 3) + a(1, 3), 1e-14, "both");
}

}  // namespace

const std::vector<Program>& xtensor_programs() {
  static const std::vector<Program> programs{{"standardise", standardise},
                                             {"expressions", expressions}};
  return programs;
}
