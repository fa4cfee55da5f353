// simulate parameters.txt: reads what to do, carries the smoke, reports, and writes the field as a
// file of NumPy's.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <xtensor/xtensor.hpp>

// after xtensor
#include <plait/xtensor.hpp>

#include "transport.hpp"

namespace {

// The wind as a weather model would give it: an xtensor container, (2, rows, columns).
xt::xtensor<double, 3> wind_of(const plume::Parameters& p) {
  xt::xtensor<double, 3> wind = xt::zeros<double>({2L, p.rows, p.columns});
  for (long i = 0; i < p.rows; ++i)
    for (long j = 0; j < p.columns; ++j) {
      const double height = 1 - double(i) / double(p.rows);
      wind(0, i, j) = p.wind * height;
      wind(1, i, j) = 0.1 * p.wind * std::sin(6.28 * double(j) / double(p.columns));
    }
  return wind;
}

// Sources as an engineer's table: an Eigen matrix, one row each, columns first in memory.
Eigen::MatrixXd table_of(const plume::Parameters& p) {
  Eigen::MatrixXd table(Eigen::Index(p.sources.size()), 3);
  for (Eigen::Index i = 0; i < table.rows(); ++i) {
    const plume::Source& s = p.sources[std::size_t(i)];
    table.row(i) << s.row, s.column, s.rate;
  }
  return table;
}

int run(const char* path) {
  const plume::Parameters p = plume::read_parameters(path);
  xt::xtensor<double, 3> wind = wind_of(p);
  Eigen::MatrixXd table = table_of(p);

  // Neither is copied: Plait reads them where they lie.
  const auto w = plait::adapt(wind);
  const auto t = plait::adapt(table.data(), {table.rows(), table.cols()},
                              {table.innerStride() * 8, table.outerStride() * 8});

  // Each source is a hill of one cell's width.
  plume::Field emission = plait::zeros<double>({p.rows, p.columns});
  const auto i = plait::view(plait::arange<double>(p.rows), plait::all(), plait::newaxis());
  const auto j = plait::arange<double>(p.columns);
  for (long s = 0; s < t.shape(0); ++s) {
    const plume::Field hill =
        plait::exp(-plait::square(i - t.get(s, 0)) - plait::square(j - t.get(s, 1)));
    emission += hill * (t.get(s, 2) / plait::sum(hill));
  }

  plume::Transport transport(p, plait::view(w, 0), plait::view(w, 1), emission);
  std::printf("%ld x %ld cells, %ld sources\n", p.rows, p.columns, t.shape(0));
  for (int done = 0; done < p.steps;) {
    const int steps = std::min(p.report, p.steps - done);
    transport.advance(steps);
    done += steps;
    std::printf("%8.1f s: %10.3f kg in the air, at most %.4f in a cell\n", done * p.step,
                transport.mass(), transport.highest());
  }
  plait::dump_npy(p.output, transport.concentration());
  std::printf("wrote %s\n", p.output.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: simulate parameters.txt\n");
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "simulate: %s\n", e.what());
    return 1;
  }
}
