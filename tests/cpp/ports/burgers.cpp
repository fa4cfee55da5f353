// xtensor: an ensemble of Burgers' equations, by WENO-5 with Rusanov fluxes, a compact scheme for
// the viscosity and a third-order Runge-Kutta method. Columns are members, rows x, with two ghost
// rows on the left and three on the right.
#include <complex>
#include <tuple>

#include <plait/plait.hpp>

#include "ports.hpp"

namespace ported {
namespace {

template <class T>
using xarray = tensor<T>;

template <class T>
xarray<T> perbc(xarray<T> q, const size_t nx) {
  view(q, 2, all()) = view(q, nx + 1, all());
  view(q, 1, all()) = view(q, nx, all());
  view(q, 0, all()) = view(q, nx - 1, all());
  view(q, nx + 2, all()) = view(q, 3, all());
  view(q, nx + 3, all()) = view(q, 4, all());
  view(q, nx + 4, all()) = view(q, 5, all());
  return q;
}

// Random phases with a given energy spectrum.
template <class T>
xarray<T> initial(const size_t ns, const size_t nx, const T dx) {
  using namespace std::complex_literals;
  const T lx = T(nx) * dx;
  xarray<T> s = plait::zeros<T>({nx / 2, ns});
  for (size_t i{}; i < nx / 2; i++) view(s, i, all()) = plait::ones<T>({ns}) * i;
  xarray<T> kx = plait::zeros<T>({nx, ns});
  view(kx, range(0, nx / 2), all()) = 2 * pi * s / lx;
  view(kx, range(nx / 2, nx), all()) = 2 * pi * (s - nx / 2) / lx;
  const T k0 = 3.;
  const T A = (2. / (3. * sqrt(pi))) * pow(k0, -5);
  xarray<T> E_k = A * plait::pow(kx, 4) * plait::exp(-plait::square(kx / k0));
  xarray<T> r = plait::random::engine(11).random({nx, ns});
  view(r, range(0, nx / 2), all()) = -view(r, range(0, nx / 2), all());
  xarray<std::complex<T>> u_k = plait::sqrt(2. * E_k) * plait::exp(2.0i * pi * r);
  xarray<T> u = plait::zeros<double>({nx, ns});
  for (size_t i{}; i < ns; i++) {
    xarray<std::complex<double>> u_ki = view(u_k, all(), i);
    view(u, all(), i) = plait::real(plait::fft::fft(u_ki));
  }
  xarray<T> q = plait::zeros<T>({nx + 5, ns});
  view(q, range(2, nx + 2), all()) = u;
  return perbc(q, nx);
}

template <class T>
xarray<T> get_wave_speeds(xarray<T> q, const size_t nx) {
  xarray<T> c = plait::zeros<T>(q.shape());
  xarray<T> abs_q = plait::abs(q);
  xarray<T> largest = view(abs_q, range(0, nx), all());
  for (size_t k{1}; k < 5; k++)
    largest = plait::maximum(largest, view(abs_q, range(k, nx + k), all()));
  view(c, range(2, nx + 2), all()) = largest;
  return c;
}

template <class T>
xarray<T> get_flux(xarray<T> q) {
  xarray<T> F = plait::square(q) / 2.;
  return F;
}

template <class T>
std::tuple<xarray<T>, xarray<T>> weno_5(xarray<T> q, const size_t nx) {
  const auto q_shape = q.shape();
  xarray<T> b0 = plait::zeros<T>(q_shape);
  xarray<T> b1 = plait::zeros<T>(q_shape);
  xarray<T> b2 = plait::zeros<T>(q_shape);
  xarray<T> qL = plait::zeros<T>(q_shape);
  xarray<T> qR = plait::zeros<T>(q_shape);
  const T d0 = 1. / 10, d1 = 6. / 10, d2 = 3. / 10, eps = 1e-6;
  const auto at = [&](size_t first, size_t rows) {
    return view(q, range(first, first + rows), all());
  };
  const auto n = nx + 1;
  view(b0, range(2, nx + 3), all()) =
      (13. / 12) * plait::square(at(0, n) - 2 * at(1, n) + at(2, n)) +
      (1. / 4) * plait::square(at(0, n) - 4 * at(1, n) + 3 * at(2, n));
  view(b1, range(2, nx + 3), all()) =
      (13. / 12) * plait::square(at(1, n) - 2 * at(2, n) + at(3, n)) +
      (1. / 4) * plait::square(at(1, n) - at(3, n));
  view(b2, range(2, nx + 3), all()) =
      (13. / 12) * plait::square(at(2, n) - 2 * at(3, n) + at(4, n)) +
      (1. / 4) * plait::square(3 * at(2, n) - 4 * at(3, n) + at(4, n));

  xarray<T> a0 = d0 / plait::square(view(b0, range(2, nx + 2), all()) + eps);
  xarray<T> a1 = d1 / plait::square(view(b1, range(2, nx + 2), all()) + eps);
  xarray<T> a2 = d2 / plait::square(view(b2, range(2, nx + 2), all()) + eps);
  xarray<T> a_sum = (a0 + a1 + a2);
  xarray<T> w0 = a0 / a_sum;
  xarray<T> w1 = a1 / a_sum;
  xarray<T> w2 = a2 / a_sum;
  xarray<T> q0 = 2. * at(0, nx) - 7. * at(1, nx) + 11. * at(2, nx);
  xarray<T> q1 = -at(1, nx) + 5. * at(2, nx) + 2. * at(3, nx);
  xarray<T> q2 = 2. * at(2, nx) + 5. * at(3, nx) - at(4, nx);
  view(qL, range(2, nx + 2), all()) = (w0 / 6) * q0 + (w1 / 6) * q1 + (w2 / 6) * q2;

  a0 = d0 / plait::square(view(b2, range(3, nx + 3), all()) + eps);
  a1 = d1 / plait::square(view(b1, range(3, nx + 3), all()) + eps);
  a2 = d2 / plait::square(view(b0, range(3, nx + 3), all()) + eps);
  a_sum = (a0 + a1 + a2);
  w0 = a0 / a_sum;
  w1 = a1 / a_sum;
  w2 = a2 / a_sum;
  q0 = 2. * view(q, range(5, nx + 5), all()) - 7. * at(4, nx) + 11. * at(3, nx);
  q1 = -at(4, nx) + 5. * at(3, nx) + 2. * at(2, nx);
  q2 = 2. * at(3, nx) + 5. * at(2, nx) - at(1, nx);
  view(qR, range(2, nx + 2), all()) = (w0 / 6) * q0 + (w1 / 6) * q1 + (w2 / 6) * q2;
  return std::make_tuple(qL, qR);
}

template <class T>
xarray<T> TDMAsolver(xarray<T> a, xarray<T> b, xarray<T> c, xarray<T> d) {
  const size_t nf = a.shape()[0];
  T m;
  for (size_t i{1}; i < nf; i++) {
    m = a[i - 1] / b[i - 1];
    b[i] = b[i] - m * c[i - 1];
    d[i] = d[i] - m * d[i - 1];
  }
  xarray<T> x(b);
  x[nf - 1] = d[nf - 1] / b[nf - 1];
  for (size_t i{nf - 1}; i-- > 0;) x[i] = (d[i] - c[i] * x[i + 1]) / b[i];
  return x;
}

template <class T>
xarray<T> TDMA_cyclic(xarray<T> a, xarray<T> b, xarray<T> c, xarray<T> d, const T alpha,
                      const T beta) {
  const size_t nf = a.shape()[0];
  const T gamma = 10. * b[0];
  b[0] = b[0] - gamma;
  b[nf - 1] = b[nf - 1] - alpha * beta / gamma;
  xarray<T> y = TDMAsolver(a, b, c, d);
  xarray<T> u = plait::zeros<T>({nf});
  u[0] = gamma;
  u[nf - 1] = alpha;
  xarray<T> q = TDMAsolver(a, b, c, u);
  xarray<T> x =
      y - q * ((y[0] + (beta / gamma) * y[nf - 1]) / (1 + q[0] + (beta / gamma) * q[nf - 1]));
  return x;
}

// The second derivative of rows that are periodic, of fourth order.
template <class T>
xarray<T> c4ddp(xarray<T> f, const T h) {
  const size_t n = f.shape()[0], ns = f.shape()[f.dimension() - 1];
  xarray<T> r = plait::zeros<T>(f.shape());
  const xarray<T> a = (1. / 10) * plait::ones<T>({n});
  const xarray<T> b = 1. * plait::ones<T>({n});
  view(r, range(1, n - 1), all()) =
      (6. / 5) * (1. / pow(h, 2)) *
      (view(f, range(2, n), all()) - 2. * view(f, range(1, n - 1), all()) +
       view(f, range(0, n - 2), all()));
  view(r, 0, all()) = (6. / 5) * (1. / pow(h, 2)) *
                      (view(f, 1, all()) - 2. * view(f, 0, all()) + view(f, n - 1, all()));
  view(r, n - 1, all()) = (6. / 5) * (1. / pow(h, 2)) *
                          (view(f, 0, all()) - 2. * view(f, n - 1, all()) + view(f, n - 2, all()));
  xarray<T> f_pp = plait::zeros<T>(f.shape());
  for (size_t s{}; s < ns; s++)
    view(f_pp, all(), s) =
        TDMA_cyclic(a, b, a, static_cast<xarray<T>>(view(r, all(), s)), T(1. / 10), T(1. / 10));
  return f_pp;
}

template <class T>
xarray<T> rhs(xarray<T> q, const size_t nx, const T dx, const T nu) {
  auto [qL, qR] = weno_5(q, nx);
  xarray<T> c = get_wave_speeds(q, nx);
  xarray<T> FR = get_flux(qR);
  xarray<T> FL = get_flux(qL);
  xarray<T> F = 0.5 * ((FR + FL) - c * (qR - qL));
  xarray<T> rhs = -(view(F, range(3, nx + 2), all()) - view(F, range(2, nx + 1), all())) / dx;
  xarray<T> uxx = c4ddp(static_cast<xarray<T>>(view(q, range(3, nx + 2), all())), dx);
  rhs += nu * uxx;
  return rhs;
}

template <class T>
xarray<T> tvdrk3(xarray<T> q_n, const size_t nx, const T dx, const T dt, const T nu) {
  xarray<T> q1(q_n);
  auto i = range(3, nx + 2);
  view(q1, i, all()) = view(q_n, i, all()) + dt * rhs(q_n, nx, dx, nu);
  q1 = perbc(q1, nx);
  xarray<T> q2(q_n);
  view(q2, i, all()) =
      0.75 * view(q_n, i, all()) + 0.25 * view(q1, i, all()) + 0.25 * dt * rhs(q1, nx, dx, nu);
  q2 = perbc(q2, nx);
  xarray<T> q_np1(q_n);
  view(q_np1, i, all()) = (1. / 3) * view(q_n, i, all()) + (2. / 3) * view(q2, i, all()) +
                          (2. / 3) * dt * rhs(q2, nx, dx, nu);
  q_np1 = perbc(q_np1, nx);
  return q_np1;
}

template <class T>
T get_dt(xarray<T> q, const size_t nx, const T dx) {
  const T cfl = 0.5;
  xarray<T> c = get_wave_speeds(q, nx);
  T dt = *plait::nanmin(cfl * dx / c).begin();
  return dt;
}

tensor<double> solve(tensor<double> q, size_t nx, int steps) {
  const double dx = 2 * pi / double(nx);
  for (int step = 0; step < steps; ++step) q = tvdrk3(q, nx, dx, get_dt(q, nx, dx), 5e-3);
  return q;
}

Reals loops_rhs(const Reals& q, size_t nx, size_t ns, double dx, double nu) {
  const auto at = [&](size_t i, size_t s) { return q[i * ns + s]; };
  const auto smooth = [](double a, double b, double c, double d) {
    return 13. / 12 * a * a + 1. / 4 * b * b + 0 * (c + d);
  };
  const auto side = [&](double m2, double m1, double o, double p1, double p2) {
    const double b0 = smooth(m2 - 2 * m1 + o, m2 - 4 * m1 + 3 * o, 0, 0);
    const double b1 = smooth(m1 - 2 * o + p1, m1 - p1, 0, 0);
    const double b2 = smooth(o - 2 * p1 + p2, 3 * o - 4 * p1 + p2, 0, 0);
    const double a0 = 0.1 / ((b0 + 1e-6) * (b0 + 1e-6)), a1 = 0.6 / ((b1 + 1e-6) * (b1 + 1e-6)),
                 a2 = 0.3 / ((b2 + 1e-6) * (b2 + 1e-6)), sum = a0 + a1 + a2;
    return (a0 / sum * (2 * m2 - 7 * m1 + 11 * o) + a1 / sum * (-m1 + 5 * o + 2 * p1) +
            a2 / sum * (2 * o + 5 * p1 - p2)) /
           6;
  };
  Reals flux((nx + 5) * ns), out((nx - 1) * ns);
  for (size_t i = 2; i < nx + 2; ++i)
    for (size_t s = 0; s < ns; ++s) {
      const double left = side(at(i - 2, s), at(i - 1, s), at(i, s), at(i + 1, s), at(i + 2, s));
      const double right = side(at(i + 3, s), at(i + 2, s), at(i + 1, s), at(i, s), at(i - 1, s));
      double c = 0;
      for (size_t k = i - 2; k < i + 3; ++k) c = std::fmax(c, std::fabs(at(k, s)));
      flux[i * ns + s] = 0.5 * (left * left / 2 + right * right / 2 - c * (right - left));
    }
  const size_t n = nx - 1;
  Reals b(n), d(n), u(n), bb(n);
  for (size_t s = 0; s < ns; ++s) {
    for (size_t i = 0; i < n; ++i) {
      const double next = at(3 + (i + 1) % n, s), last = at(3 + (i + n - 1) % n, s);
      d[i] = 1.2 / (dx * dx) * (next - 2 * at(3 + i, s) + last);
      b[i] = 1;
      u[i] = 0;
    }
    const double gamma = 10;
    b[0] -= gamma;
    b[n - 1] -= 0.01 / gamma;
    u[0] = gamma;
    u[n - 1] = 0.1;
    for (size_t i = 1; i < n; ++i) {
      const double m = 0.1 / b[i - 1];
      b[i] -= m * 0.1;
      d[i] -= m * d[i - 1];
      u[i] -= m * u[i - 1];
    }
    d[n - 1] /= b[n - 1];
    u[n - 1] /= b[n - 1];
    for (size_t i = n - 1; i-- > 0;) {
      d[i] = (d[i] - 0.1 * d[i + 1]) / b[i];
      u[i] = (u[i] - 0.1 * u[i + 1]) / b[i];
    }
    const double factor = (d[0] + 0.1 / gamma * d[n - 1]) / (1 + u[0] + 0.1 / gamma * u[n - 1]);
    for (size_t i = 0; i < n; ++i)
      out[i * ns + s] =
          -(flux[(i + 3) * ns + s] - flux[(i + 2) * ns + s]) / dx + nu * (d[i] - u[i] * factor);
  }
  return out;
}

Reals loops(Reals q, size_t nx, size_t ns, int steps) {
  const double dx = 2 * pi / double(nx), nu = 5e-3;
  const auto close = [&](Reals& f) {
    const size_t to[] = {2, 1, 0, nx + 2, nx + 3, nx + 4}, from[] = {nx + 1, nx, nx - 1, 3, 4, 5};
    for (size_t k = 0; k < 6; ++k)
      for (size_t s = 0; s < ns; ++s) f[to[k] * ns + s] = f[from[k] * ns + s];
  };
  for (int step = 0; step < steps; ++step) {
    double largest = 0;
    for (size_t i = 0; i < nx + 4; ++i)
      for (size_t s = 0; s < ns; ++s) largest = std::fmax(largest, std::fabs(q[i * ns + s]));
    const double dt = 0.5 * dx / largest, of_q[] = {0, 0.75, 1. / 3}, of_last[] = {1, 0.25, 2. / 3};
    Reals last = q;
    for (int k = 0; k < 3; ++k) {
      const Reals r = loops_rhs(last, nx, ns, dx, nu);
      Reals next = q;
      for (size_t i = 3 * ns; i < (nx + 2) * ns; ++i)
        next[i] = of_q[k] * q[i] + of_last[k] * (last[i] + dt * r[i - 3 * ns]);
      close(next);
      last = next;
    }
    q = last;
  }
  return q;
}

}  // namespace

void burgers() {
  const size_t nx = 64, ns = 4;
  const tensor<double> q = initial<double>(ns, nx, 2 * pi / double(nx));
  expect(plait::all(plait::isfinite(q))(), "the initial state is finite");
  const tensor<double> end = solve(q, nx, 5);
  expect_same(end, loops(Reals(q.begin(), q.end()), nx, ns, 5), 1e-10, "Burgers");
  expect(!plait::allclose(end, q), "it moved");
}

}  // namespace ported
