// C arrays: stable fluids. The solver of Gauss and Seidel goes over a chessboard, as arrays can.
#include <utility>
#include <vector>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

using Field = tensor<float>;
const int sweeps = 10;

void set_bnd(int b, Field& x) {
  const auto N = x.shape(0) - 2;
  const auto inner = range(1, N + 1);
  view(x, 0, inner) = b == 1 ? -view(x, 1, inner) : view(x, 1, inner);
  view(x, N + 1, inner) = b == 1 ? -view(x, N, inner) : view(x, N, inner);
  view(x, inner, 0) = b == 2 ? -view(x, inner, 1) : view(x, inner, 1);
  view(x, inner, N + 1) = b == 2 ? -view(x, inner, N) : view(x, inner, N);
  x(0, 0) = 0.5f * (x(1, 0) + x(0, 1));
  x(0, N + 1) = 0.5f * (x(1, N + 1) + x(0, N));
  x(N + 1, 0) = 0.5f * (x(N, 0) + x(N + 1, 1));
  x(N + 1, N + 1) = 0.5f * (x(N, N + 1) + x(N + 1, N));
}

void lin_solve(int b, Field& x, const Field& x0, float a, float c) {
  const auto N = x.shape(0) - 2;
  for (int k = 0; k < sweeps; k++) {
    for (const int colour : {0, 1})
      for (const int i : {1, 2}) {
        const int j = 1 + (i + 1 + colour) % 2;
        view(x, range(i, N + 1, 2), range(j, N + 1, 2)) =
            (view(x0, range(i, N + 1, 2), range(j, N + 1, 2)) +
             a * (view(x, range(i - 1, N, 2), range(j, N + 1, 2)) +
                  view(x, range(i + 1, N + 2, 2), range(j, N + 1, 2)) +
                  view(x, range(i, N + 1, 2), range(j - 1, N, 2)) +
                  view(x, range(i, N + 1, 2), range(j + 1, N + 2, 2)))) /
            c;
      }
    set_bnd(b, x);
  }
}

void diffuse(int b, Field& x, const Field& x0, float diff, float dt) {
  const float N = float(x.shape(0) - 2), a = dt * diff * N * N;
  lin_solve(b, x, x0, a, 1 + 4 * a);
}

void advect(int b, Field& d, const Field& d0, const Field& u, const Field& v, float dt) {
  const auto N = d.shape(0) - 2;
  const float dt0 = dt * float(N);
  const auto inner = range(1, N + 1);
  const auto cell = plait::arange<float>(1, N + 1);
  const auto x = plait::clip(view(cell, all(), plait::newaxis()) - dt0 * view(u, inner, inner),
                             0.5f, float(N) + 0.5f);
  const auto y = plait::clip(cell - dt0 * view(v, inner, inner), 0.5f, float(N) + 0.5f);
  const auto i0 = x.astype<int>(), i1 = i0 + 1;
  const auto j0 = y.astype<int>(), j1 = j0 + 1;
  const auto s1 = x - i0.astype<float>(), s0 = 1 - s1;
  const auto t1 = y - j0.astype<float>(), t0 = 1 - t1;
  view(d, inner, inner) = s0 * (t0 * view(d0, i0, j0) + t1 * view(d0, i0, j1)) +
                          s1 * (t0 * view(d0, i1, j0) + t1 * view(d0, i1, j1));
  set_bnd(b, d);
}

void project(Field& u, Field& v, Field& p, Field& div) {
  const auto N = u.shape(0) - 2;
  const float h = 1.0f / float(N);
  const auto inner = range(1, N + 1), before = range(0, N), after = range(2, N + 2);
  view(div, inner, inner) = -0.5f * h *
                            (view(u, after, inner) - view(u, before, inner) +
                             view(v, inner, after) - view(v, inner, before));
  p.fill(0);
  set_bnd(0, div);
  lin_solve(0, p, div, 1, 4);
  view(u, inner, inner) -= 0.5f * (view(p, after, inner) - view(p, before, inner)) / h;
  view(v, inner, inner) -= 0.5f * (view(p, inner, after) - view(p, inner, before)) / h;
  set_bnd(1, u);
  set_bnd(2, v);
}

struct Fluid {
  Field u, v, dens, u_prev, v_prev, dens_prev;
  explicit Fluid(int N)
      : u(plait::zeros<float>({N + 2, N + 2})), v(u), dens(u), u_prev(u), v_prev(u), dens_prev(u) {}
  void step(float visc, float diff, float dt) {
    std::swap(u_prev, u);
    diffuse(1, u, u_prev, visc, dt);
    std::swap(v_prev, v);
    diffuse(2, v, v_prev, visc, dt);
    project(u, v, u_prev, v_prev);
    std::swap(u_prev, u);
    std::swap(v_prev, v);
    advect(1, u, u_prev, u_prev, v_prev, dt);
    advect(2, v, v_prev, u_prev, v_prev, dt);
    project(u, v, u_prev, v_prev);
    std::swap(dens_prev, dens);
    diffuse(0, dens, dens_prev, diff, dt);
    std::swap(dens_prev, dens);
    advect(0, dens, dens_prev, u, v, dt);
  }
};

struct Loops {
  size_t N;
  using Floats = std::vector<float>;
  Floats u, v, dens, u_prev, v_prev, dens_prev;
  explicit Loops(size_t n)
      : N(n), u((n + 2) * (n + 2)), v(u), dens(u), u_prev(u), v_prev(u), dens_prev(u) {}
  size_t IX(size_t i, size_t j) const { return i * (N + 2) + j; }
  void bounds(int b, Floats& x) const {
    for (size_t i = 1; i <= N; ++i) {
      x[IX(0, i)] = b == 1 ? -x[IX(1, i)] : x[IX(1, i)];
      x[IX(N + 1, i)] = b == 1 ? -x[IX(N, i)] : x[IX(N, i)];
      x[IX(i, 0)] = b == 2 ? -x[IX(i, 1)] : x[IX(i, 1)];
      x[IX(i, N + 1)] = b == 2 ? -x[IX(i, N)] : x[IX(i, N)];
    }
    x[IX(0, 0)] = 0.5f * (x[IX(1, 0)] + x[IX(0, 1)]);
    x[IX(0, N + 1)] = 0.5f * (x[IX(1, N + 1)] + x[IX(0, N)]);
    x[IX(N + 1, 0)] = 0.5f * (x[IX(N, 0)] + x[IX(N + 1, 1)]);
    x[IX(N + 1, N + 1)] = 0.5f * (x[IX(N, N + 1)] + x[IX(N + 1, N)]);
  }
  void solve(int b, Floats& x, const Floats& x0, float a, float c) const {
    for (int k = 0; k < sweeps; ++k) {
      for (size_t colour : {0, 1})
        for (size_t i = 1; i <= N; ++i)
          for (size_t j = 1 + (i + 1 + colour) % 2; j <= N; j += 2)
            x[IX(i, j)] = (x0[IX(i, j)] + a * (x[IX(i - 1, j)] + x[IX(i + 1, j)] + x[IX(i, j - 1)] +
                                               x[IX(i, j + 1)])) /
                          c;
      bounds(b, x);
    }
  }
  void diffuse(int b, Floats& x, const Floats& x0, float diff, float dt) const {
    const float a = dt * diff * float(N) * float(N);
    solve(b, x, x0, a, 1 + 4 * a);
  }
  void advect(int b, Floats& d, const Floats& d0, const Floats& au, const Floats& av,
              float dt) const {
    const float most = float(N) + 0.5f, dt0 = dt * float(N);
    for (size_t i = 1; i <= N; ++i)
      for (size_t j = 1; j <= N; ++j) {
        const float x = std::fmin(std::fmax(float(i) - dt0 * au[IX(i, j)], 0.5f), most);
        const float y = std::fmin(std::fmax(float(j) - dt0 * av[IX(i, j)], 0.5f), most);
        const size_t i0 = size_t(x), j0 = size_t(y);
        const float s1 = x - float(i0), s0 = 1 - s1, t1 = y - float(j0), t0 = 1 - t1;
        d[IX(i, j)] = s0 * (t0 * d0[IX(i0, j0)] + t1 * d0[IX(i0, j0 + 1)]) +
                      s1 * (t0 * d0[IX(i0 + 1, j0)] + t1 * d0[IX(i0 + 1, j0 + 1)]);
      }
    bounds(b, d);
  }
  void project(Floats& pu, Floats& pv, Floats& p, Floats& div) const {
    const float h = 1.0f / float(N);
    for (size_t i = 1; i <= N; ++i)
      for (size_t j = 1; j <= N; ++j)
        div[IX(i, j)] =
            -0.5f * h * (pu[IX(i + 1, j)] - pu[IX(i - 1, j)] + pv[IX(i, j + 1)] - pv[IX(i, j - 1)]);
    p.assign(p.size(), 0);
    bounds(0, div);
    solve(0, p, div, 1, 4);
    for (size_t i = 1; i <= N; ++i)
      for (size_t j = 1; j <= N; ++j) {
        pu[IX(i, j)] -= 0.5f * (p[IX(i + 1, j)] - p[IX(i - 1, j)]) / h;
        pv[IX(i, j)] -= 0.5f * (p[IX(i, j + 1)] - p[IX(i, j - 1)]) / h;
      }
    bounds(1, pu);
    bounds(2, pv);
  }
  void step(float visc, float diff, float dt) {
    std::swap(u_prev, u);
    diffuse(1, u, u_prev, visc, dt);
    std::swap(v_prev, v);
    diffuse(2, v, v_prev, visc, dt);
    project(u, v, u_prev, v_prev);
    std::swap(u_prev, u);
    std::swap(v_prev, v);
    advect(1, u, u_prev, u_prev, v_prev, dt);
    advect(2, v, v_prev, u_prev, v_prev, dt);
    project(u, v, u_prev, v_prev);
    std::swap(dens_prev, dens);
    diffuse(0, dens, dens_prev, diff, dt);
    std::swap(dens_prev, dens);
    advect(0, dens, dens_prev, u, v, dt);
  }
};

// A puff that is blown to the right.
template <class F>
void stir(F& f, size_t N) {
  for (size_t i = N / 4; i < N / 2; ++i)
    for (size_t j = N / 4; j < N / 2; ++j) {
      const auto at = long(i * (N + 2) + j);
      f.dens.begin()[at] = 1;
      f.u.begin()[at] = 0.5f;
      f.v.begin()[at] = float(j) / float(N);
    }
}

}  // namespace

void fluid() {
  const size_t N = 24;
  Fluid f(N);
  Loops l(N);
  stir(f, N);
  stir(l, N);
  for (int i = 0; i < 4; ++i) {
    f.step(0.001f, 0.0005f, 0.1f);
    l.step(0.001f, 0.0005f, 0.1f);
  }
  expect_same(f.dens, Reals(l.dens.begin(), l.dens.end()), 1e-4, "density");
  expect_same(f.u, Reals(l.u.begin(), l.u.end()), 1e-4, "u");
  expect_same(f.v, Reals(l.v.begin(), l.v.end()), 1e-4, "v");
}

}  // namespace ported
