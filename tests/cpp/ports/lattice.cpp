// std::vector: flow around a cylinder by the lattice Boltzmann method, with nine directions.
#include <tuple>
#include <vector>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

const int cx[] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
const int opposite[] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
const double weight[] = {4. / 9,  1. / 9,  1. / 9,  1. / 9, 1. / 9,
                         1. / 36, 1. / 36, 1. / 36, 1. / 36};

class Lattice {
 public:
  Lattice(int rows, int columns, double tau)
      : tau_(tau), f_(plait::zeros<double>({9, rows, columns})) {
    const auto [y, x] = plait::ogrid(range(0, rows), range(0, columns));
    solid_ = plait::pow(x - columns / 4, 2) + plait::pow(y - rows / 2, 2) < rows * rows / 36.0;
    const auto rho = plait::ones<double>({rows, columns});
    const auto ux = 0.1 * (1 + 0.01 * plait::sin(2 * pi * y / rows)) * rho;
    for (int i = 0; i < 9; ++i) view(f_, i) = equilibrium(i, rho, ux, plait::zeros_like(rho));
  }
  void collide() {
    const auto [rho, ux, uy] = moments();
    tensor<double> after = plait::empty_like(f_);
    for (int i = 0; i < 9; ++i) {
      const auto f = view(f_, i);
      view(after, i) =
          plait::where(solid_, view(f_, opposite[i]), f - (f - equilibrium(i, rho, ux, uy)) / tau_);
    }
    f_ = after;
  }
  void stream() {
    for (int i = 0; i < 9; ++i)
      view(f_, i) = plait::roll(plait::roll(view(f_, i), cy[i], 0), cx[i], 1);
  }
  std::tuple<array<double>, array<double>, array<double>> moments() const {
    const auto rho = plait::sum(f_, 0);
    const auto at = [&](int i) { return view(f_, i); };
    const auto ux = (at(1) + at(5) + at(8) - at(3) - at(6) - at(7)) / rho;
    const auto uy = (at(2) + at(5) + at(6) - at(4) - at(7) - at(8)) / rho;
    return {rho, ux, uy};
  }
  const tensor<double>& f() const { return f_; }
  const array<bool>& solid() const { return solid_; }

 private:
  static array<double> equilibrium(int i, const array<double>& rho, const array<double>& ux,
                                   const array<double>& uy) {
    const auto cu = 3.0 * (cx[i] * ux + cy[i] * uy);
    return weight[i] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
  }
  double tau_;
  tensor<double> f_;
  array<bool> solid_;
};

void loops(Reals& f, const std::vector<char>& solid, int rows, int columns, double tau) {
  const size_t n = size_t(rows * columns);
  Reals next(f.size());
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      const size_t at = size_t(y * columns + x);
      double rho = 0, ux = 0, uy = 0;
      for (size_t i = 0; i < 9; ++i) {
        rho += f[i * n + at];
        ux += cx[i] * f[i * n + at];
        uy += cy[i] * f[i * n + at];
      }
      ux /= rho;
      uy /= rho;
      for (size_t i = 0; i < 9; ++i) {
        const double cu = 3 * (cx[i] * ux + cy[i] * uy), g = f[i * n + at];
        const double eq = weight[i] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
        const int v = (y + cy[i] + rows) % rows, u = (x + cx[i] + columns) % columns;
        next[i * n + size_t(v * columns + u)] =
            solid[at] ? f[size_t(opposite[i]) * n + at] : g - (g - eq) / tau;
      }
    }
  f.swap(next);
}

}  // namespace

void lattice() {
  Lattice l(24, 60, 0.7);
  Reals f(l.f().begin(), l.f().end());
  const std::vector<char> solid(l.solid().begin(), l.solid().end());
  const double mass = plait::sum(l.f())();
  for (int i = 0; i < 10; ++i) {
    l.collide();
    l.stream();
    loops(f, solid, 24, 60, 0.7);
  }
  expect_same(l.f(), f, 1e-11, "distribution");
  expect_near(plait::sum(l.f())(), mass, 1e-12, "mass");
  expect(plait::sum(l.solid())() > 10, "there is a cylinder");
}

}  // namespace ported
