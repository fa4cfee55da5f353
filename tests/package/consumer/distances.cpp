// A library that is built on Plait and installed with its own targets.
#include <plait/plait.hpp>

plait::array<double> distances(const plait::array<double>& x, const plait::array<double>& y) {
  return plait::linalg::norm(x - y, {1});
}
