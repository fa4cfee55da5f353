// Public programs, ported with the structure that their authors gave them: what was written with
// xtensor, Eigen, Armadillo, Blitz or std::vector, in arrays. Each runs a second time in loops.
#pragma once
#include <vector>

#include <plait/plait.hpp>

#include "../programs.hpp"

namespace ported {

void burgers();
void mixture();
void american_put();
void spectral();
void forest_fire();
void cavity();
void fluid();
void lattice();
void acoustic();
void marching();

using plait::all;
using plait::array;
using plait::range;
using plait::tensor;
using plait::view;
using std::size_t;
using Reals = std::vector<double>;

inline const double pi = 3.14159265358979323846;

template <class A>
void expect_same(const A& got, const Reals& expected, double tolerance, const char* what) {
  expect(got.size() == expected.size(), what);
  size_t i = 0;
  for (double x : got) expect_near(x, expected[i++], tolerance, what);
}

}  // namespace ported
