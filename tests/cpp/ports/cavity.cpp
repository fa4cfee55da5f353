// Eigen: the cavity with a moving lid on a grid of uneven steps, by projection. The matrix of the
// pressure is dense, and put together entry by entry.
#include <array>
#include <cstdint>
#include <utility>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

struct Grid {
  tensor<double> X, Y;
  int NX, NY;
};
struct Fields {
  tensor<double> u, v, p;
};

Grid uneven(int n) {
  const auto x = plait::linspace(0, 1, n);
  return {x - 0.1 * plait::sin(2 * pi * x), x, n, n};
}

// The derivatives at inner points: first ones are means of both sides.
struct Slopes {
  array<double> first, second;
};
Slopes slopes(const array<double>& f, const array<double>& steps, int axis) {
  const auto sides = plait::diff(f, 1, axis) / steps;
  const auto all_but = [&](const array<double>& a, std::int64_t first,
                           std::int64_t last) -> array<double> {
    return axis == 0 || a.ndim() == 1 ? view(a, range(first, a.shape(0) + last))
                                      : view(a, all(), range(first, a.shape(1) + last));
  };
  const array<double> plus = all_but(sides, 1, 0), minus = all_but(sides, 0, -1);
  const int along = axis == 0 ? 0 : -1;
  const auto width =
      along == 0 ? array<double>(view(steps, range(1, steps.shape(0))) + view(steps, range(0, -1)))
                 : array<double>(view(steps, all(), range(1, steps.shape(1))) +
                                 view(steps, all(), range(0, -1)));
  return {(plus + minus) / 2.0, (plus - minus) / (width / 2.0)};
}

void step(Fields& f, const Grid& g, double dt, double nu) {
  const auto inner_x = range(1, g.NX - 1);
  const auto inner_y = range(1, g.NY - 1);
  const array<double> dx = view(plait::diff(g.X), plait::newaxis(), all());
  const array<double> dy = view(plait::diff(g.Y), all(), plait::newaxis());

  // Intermediate velocities.
  tensor<double> u_star = f.u;
  tensor<double> v_star = f.v;
  const auto u = view(f.u, inner_y, inner_x);
  const auto v = view(f.v, inner_y, inner_x);
  const auto momentum = [&](const tensor<double>& w) {
    const Slopes x = slopes(view(w, inner_y, all()), dx, 1);
    const Slopes y = slopes(view(w, all(), inner_x), dy, 0);
    return dt * (-u * x.first - v * y.first + nu * (x.second + y.second));
  };
  view(u_star, inner_y, inner_x) += momentum(f.u);
  view(v_star, inner_y, inner_x) += momentum(f.v);

  // Pressure.
  const int total = g.NX * g.NY;
  tensor<double> A = plait::zeros<double>({total, total});
  tensor<double> b = plait::zeros<double>({total});
  const auto divergence = slopes(view(u_star, inner_y, all()), dx, 1).first +
                          slopes(view(v_star, all(), inner_x), dy, 0).first;
  view(b.reshape({g.NY, g.NX}), inner_y, inner_x) = divergence / dt;
  for (int jdx = 0; jdx < g.NY; jdx++)
    for (int idx = 0; idx < g.NX; idx++) {
      const int ij = jdx * g.NX + idx;
      const int im1 = ij - 1, ip1 = ij + 1, jm1 = ij - g.NX, jp1 = ij + g.NX;
      A(ij, ij) = 1;
      if (ij == g.NX / 2) continue;
      if (jdx == g.NY - 1)
        A(ij, jm1) = -1;
      else if (jdx == 0)
        A(ij, jp1) = -1;
      else if (idx == g.NX - 1)
        A(ij, im1) = -1;
      else if (idx == 0)
        A(ij, ip1) = -1;
      else {
        const double dx_p = g.X(idx + 1) - g.X(idx);
        const double dx_m = g.X(idx) - g.X(idx - 1);
        const double dy_p = g.Y(jdx + 1) - g.Y(jdx);
        const double dy_m = g.Y(jdx) - g.Y(jdx - 1);
        A(ij, ij) = -2.0 / (dx_p * dx_m) - 2.0 / (dy_p * dy_m);
        A(ij, ip1) = 2.0 / (dx_p * (dx_p + dx_m));
        A(ij, im1) = 2.0 / (dx_m * (dx_p + dx_m));
        A(ij, jp1) = 2.0 / (dy_p * (dy_p + dy_m));
        A(ij, jm1) = 2.0 / (dy_m * (dy_p + dy_m));
      }
    }
  f.p = plait::linalg::solve(A, b).reshape({g.NY, g.NX});

  // Projection.
  f.u = u_star;
  f.v = v_star;
  view(f.u, inner_y, inner_x) -= dt * slopes(view(f.p, inner_y, all()), dx, 1).first;
  view(f.v, inner_y, inner_x) -= dt * slopes(view(f.p, all(), inner_x), dy, 0).first;
}

Fields solve(const Grid& g, int steps, double dt, double nu) {
  Fields f{plait::zeros<double>({g.NY, g.NX}), plait::zeros<double>({g.NY, g.NX}),
           plait::zeros<double>({g.NY, g.NX})};
  plait::row(f.u, -1) = 1.0;
  for (int i = 0; i < steps; ++i) step(f, g, dt, nu);
  return f;
}

void eliminate(Reals& A, Reals& b) {
  const size_t n = b.size();
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i)
      if (std::fabs(A[i * n + k]) > std::fabs(A[pivot * n + k])) pivot = i;
    for (size_t j = 0; j < n; ++j) std::swap(A[k * n + j], A[pivot * n + j]);
    std::swap(b[k], b[pivot]);
    for (size_t i = k + 1; i < n; ++i) {
      const double m = A[i * n + k] / A[k * n + k];
      if (m == 0) continue;
      for (size_t j = k; j < n; ++j) A[i * n + j] -= m * A[k * n + j];
      b[i] -= m * b[k];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; ++j) b[i] -= A[i * n + j] * b[j];
    b[i] /= A[i * n + i];
  }
}

std::array<Reals, 3> loops(const Reals& X, const Reals& Y, int steps, double dt, double nu) {
  const size_t nx = X.size(), ny = Y.size();
  Reals u(nx * ny), v(nx * ny), p(nx * ny);
  for (size_t i = 0; i < nx; ++i) u[(ny - 1) * nx + i] = 1;
  const auto inside = [&](auto body) {
    for (size_t j = 1; j + 1 < ny; ++j)
      for (size_t i = 1; i + 1 < nx; ++i)
        body(j * nx + i, X[i + 1] - X[i], X[i] - X[i - 1], Y[j + 1] - Y[j], Y[j] - Y[j - 1]);
  };
  const auto first = [](double m, double o, double q, double hp, double hm) {
    return ((q - o) / hp + (o - m) / hm) / 2;
  };
  const auto second = [](double m, double o, double q, double hp, double hm) {
    return ((q - o) / hp - (o - m) / hm) / ((hp + hm) / 2);
  };
  for (int t = 0; t < steps; ++t) {
    Reals us = u, vs = v, A(nx * ny * nx * ny), b(nx * ny);
    inside([&](size_t k, double xp, double xm, double yp, double ym) {
      const auto change = [&](const Reals& w) {
        return dt * (-u[k] * first(w[k - 1], w[k], w[k + 1], xp, xm) -
                     v[k] * first(w[k - nx], w[k], w[k + nx], yp, ym) +
                     nu * (second(w[k - 1], w[k], w[k + 1], xp, xm) +
                           second(w[k - nx], w[k], w[k + nx], yp, ym)));
      };
      us[k] += change(u);
      vs[k] += change(v);
    });
    const size_t n = nx * ny;
    for (size_t k = 0; k < n; ++k) {
      A[k * n + k] = 1;
      if (k == nx / 2) continue;
      if (k / nx == ny - 1)
        A[k * n + k - nx] = -1;
      else if (k / nx == 0)
        A[k * n + k + nx] = -1;
      else if (k % nx == nx - 1)
        A[k * n + k - 1] = -1;
      else if (k % nx == 0)
        A[k * n + k + 1] = -1;
    }
    inside([&](size_t k, double xp, double xm, double yp, double ym) {
      A[k * n + k] = -2 / (xp * xm) - 2 / (yp * ym);
      A[k * n + k + 1] = 2 / (xp * (xp + xm));
      A[k * n + k - 1] = 2 / (xm * (xp + xm));
      A[k * n + k + nx] = 2 / (yp * (yp + ym));
      A[k * n + k - nx] = 2 / (ym * (yp + ym));
      b[k] = (first(us[k - 1], us[k], us[k + 1], xp, xm) +
              first(vs[k - nx], vs[k], vs[k + nx], yp, ym)) /
             dt;
    });
    eliminate(A, b);
    p = b;
    u = us;
    v = vs;
    inside([&](size_t k, double xp, double xm, double yp, double ym) {
      u[k] -= dt * first(p[k - 1], p[k], p[k + 1], xp, xm);
      v[k] -= dt * first(p[k - nx], p[k], p[k + nx], yp, ym);
    });
  }
  return {u, v, p};
}

}  // namespace

void cavity() {
  const Grid g = uneven(12);
  const Fields f = solve(g, 8, 0.005, 0.02);
  const auto expected =
      loops(Reals(g.X.begin(), g.X.end()), Reals(g.Y.begin(), g.Y.end()), 8, 0.005, 0.02);
  expect_same(f.u, expected[0], 1e-8, "u");
  expect_same(f.v, expected[1], 1e-8, "v");
  expect_same(f.p, expected[2], 1e-8, "p");
}

}  // namespace ported
