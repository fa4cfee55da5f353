// Public programs, ported with the structure that their authors gave them: what was written with
// xtensor, Eigen, Armadillo, Blitz or std::vector, in arrays. Each runs a second time in loops.
#include <array>
#include <complex>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

namespace {

using plait::all;
using plait::array;
using plait::range;
using plait::tensor;
using plait::view;
using std::size_t;
using Reals = std::vector<double>;

const double pi = 3.14159265358979323846;

template <class A>
void expect_same(const A& got, const Reals& expected, double tolerance, const char* what) {
  expect(got.size() == expected.size(), what);
  size_t i = 0;
  for (double x : got) expect_near(x, expected[i++], tolerance, what);
}

// xtensor: an ensemble of Burgers' equations, by WENO-5 with Rusanov fluxes, a compact scheme for
// the viscosity and a third-order Runge-Kutta method. Columns are members, rows x, with two ghost
// rows on the left and three on the right.
namespace burgers {

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

void check() {
  const size_t nx = 64, ns = 4;
  const tensor<double> q = initial<double>(ns, nx, 2 * pi / double(nx));
  expect(plait::all(plait::isfinite(q))(), "the initial state is finite");
  const tensor<double> end = solve(q, nx, 5);
  expect_same(end, loops(Reals(q.begin(), q.end()), nx, ns, 5), 1e-10, "Burgers");
  expect(!plait::allclose(end, q), "it moved");
}

}  // namespace burgers
// Armadillo: a mixture of Gaussians by expectation maximisation. The covariances of the K
// components stand below each other, in a (K D) x D matrix.
namespace mixture {

using Mat = tensor<double>;

struct Model {
  Mat means, vars, coeffs;
  Reals likelihoods;
};

Mat stacked_identities(size_t K, size_t D) {
  Mat vars = plait::zeros<double>({K * D, D});
  for (size_t k = 0; k < K; ++k) view(vars, range(k * D, (k + 1) * D), all()) = plait::eye(D);
  return vars;
}

// Densities of the components at the rows of X, times their coefficients: N x K.
Mat joint(const Mat& X, const Model& m) {
  const size_t N = X.shape(0), D = X.shape(1), K = m.means.shape(0);
  Mat p = plait::zeros<double>({N, K});
  for (size_t k = 0; k < K; ++k) {
    const Mat sigma = view(m.vars, range(k * D, (k + 1) * D), all());
    const double det = plait::linalg::det(sigma)();
    const Mat inverse = plait::linalg::inv(sigma);
    const Mat from = X - plait::row(m.means, k);
    const auto distance = plait::sum(plait::matmul(from, inverse) * from, 1);
    view(p, all(), k) =
        m.coeffs(k) / std::sqrt(det * std::pow(2 * pi, D)) * plait::exp(-0.5 * distance);
  }
  return p;
}

Model fit(const Mat& X, Mat means, int iterations) {
  const size_t N = X.shape(0), D = X.shape(1), K = means.shape(0);
  Model m{means, stacked_identities(K, D), plait::full<double>({K}, 1.0 / double(K)), {}};
  for (int i = 0; i < iterations; ++i) {
    Mat r = joint(X, m);
    const Mat total = plait::sum(r, {1}, plait::keep_dims);
    m.likelihoods.push_back(plait::sum(plait::log(total))());
    r /= total;
    const Mat of_component = plait::sum(r, 0);
    m.means = plait::matmul(plait::transpose(r), X) / view(of_component, all(), plait::newaxis());
    for (size_t k = 0; k < K; ++k) {
      const Mat from = X - plait::row(m.means, k);
      const auto weighted = from * view(r, all(), range(k, k + 1));
      view(m.vars, range(k * D, (k + 1) * D), all()) =
          plait::matmul(plait::transpose(weighted), from) / of_component(k);
    }
    m.coeffs = of_component / double(N);
  }
  return m;
}

struct Loops {
  Reals means, vars, coeffs, likelihoods;
};
Loops loops(const Reals& X, size_t D, Reals means, int iterations) {
  const size_t N = X.size() / D, K = means.size() / D;
  Loops m{means, Reals(K * D * D), Reals(K, 1.0 / double(K)), {}};
  for (size_t k = 0; k < K; ++k)
    for (size_t i = 0; i < D; ++i) m.vars[(k * D + i) * D + i] = 1;
  Reals r(N * K), factor(D * D), y(D);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (size_t k = 0; k < K; ++k) {
      double root = 1;
      for (size_t i = 0; i < D; ++i)
        for (size_t j = 0; j <= i; ++j) {
          double sum = m.vars[(k * D + i) * D + j];
          for (size_t l = 0; l < j; ++l) sum -= factor[i * D + l] * factor[j * D + l];
          factor[i * D + j] = i == j ? std::sqrt(sum) : sum / factor[j * D + j];
          if (i == j) root *= factor[i * D + i];
        }
      for (size_t n = 0; n < N; ++n) {
        double distance = 0;
        for (size_t i = 0; i < D; ++i) {
          y[i] = X[n * D + i] - m.means[k * D + i];
          for (size_t l = 0; l < i; ++l) y[i] -= factor[i * D + l] * y[l];
          y[i] /= factor[i * D + i];
          distance += y[i] * y[i];
        }
        r[n * K + k] =
            m.coeffs[k] / (root * std::pow(2 * pi, double(D) / 2)) * std::exp(-0.5 * distance);
      }
    }
    double likelihood = 0;
    Reals weights(K);
    m.means.assign(K * D, 0);
    m.vars.assign(K * D * D, 0);
    for (size_t n = 0; n < N; ++n) {
      double total = 0;
      for (size_t k = 0; k < K; ++k) total += r[n * K + k];
      likelihood += std::log(total);
      for (size_t k = 0; k < K; ++k) {
        weights[k] += r[n * K + k] /= total;
        for (size_t i = 0; i < D; ++i) m.means[k * D + i] += r[n * K + k] * X[n * D + i];
      }
    }
    for (size_t k = 0; k < K; ++k)
      for (size_t i = 0; i < D; ++i) m.means[k * D + i] /= weights[k];
    for (size_t n = 0; n < N; ++n)
      for (size_t k = 0; k < K; ++k)
        for (size_t i = 0; i < D; ++i)
          for (size_t j = 0; j < D; ++j)
            m.vars[(k * D + i) * D + j] += r[n * K + k] / weights[k] *
                                           (X[n * D + i] - m.means[k * D + i]) *
                                           (X[n * D + j] - m.means[k * D + j]);
    for (size_t k = 0; k < K; ++k) m.coeffs[k] = weights[k] / double(N);
    m.likelihoods.push_back(likelihood);
  }
  return m;
}

Mat data(size_t N) {
  plait::random::engine rng(3);
  Mat X = rng.normal(0, 1, {N, 2});
  view(X, range(0, N / 3), 0) *= 0.5;
  view(X, range(N / 3, N / 3 * 2), all()) += array<double>{4, 1};
  view(X, range(N / 3 * 2, N), all()) =
      plait::matmul(view(X, range(N / 3 * 2, N), all()), array<double>{{1.0, 0.8}, {0.0, 0.4}}) -
      5.0;
  return X;
}

void check() {
  const Mat X = data(301);
  const Mat start = plait::take(X, {0, 120, 280}, 0);
  const Model m = fit(X, start, 12);
  const Loops l = loops(Reals(X.begin(), X.end()), 2, Reals(start.begin(), start.end()), 12);
  expect_same(m.means, l.means, 1e-9, "means");
  expect_same(m.vars, l.vars, 1e-9, "covariances");
  expect_same(m.coeffs, l.coeffs, 1e-9, "coefficients");
  for (size_t i = 1; i < 12; ++i) {
    expect_near(m.likelihoods[i], l.likelihoods[i], 1e-9, "likelihood");
    expect(m.likelihoods[i] >= m.likelihoods[i - 1], "the likelihood grows");
  }
}

}  // namespace mixture

// std::vector: an American put by regression over simulated paths (Longstaff and Schwartz).
namespace american_put {

struct Option {
  double S0 = 100, K = 105, r = 0.05, sigma = 0.25, T = 1;
};

array<double> paths(const Option& o, size_t steps, size_t n) {
  const double dt = o.T / double(steps);
  array<double> Z = plait::random::engine(5).standard_normal({steps, n});
  array<double> S = plait::empty<double>({steps + 1, n});
  plait::row(S, 0) = o.S0;
  view(S, range(1, steps + 1)) =
      o.S0 * plait::exp(plait::cumsum(
                 (o.r - 0.5 * o.sigma * o.sigma) * dt + o.sigma * std::sqrt(dt) * Z, 0));
  return S;
}

double price(const Option& o, const array<double>& S, size_t steps) {
  const double discount = std::exp(-o.r * o.T / double(steps));
  array<double> payoff = plait::maximum(o.K - S, 0.0);
  array<double> cashflows = plait::row(payoff, steps).copy();
  for (size_t t = steps - 1; t > 0; --t) {
    cashflows *= discount;
    const auto immediate = plait::row(payoff, t);
    const auto in_the_money = plait::flatnonzero(immediate > 0.0);
    if (in_the_money.size() == 0) continue;
    const array<double> spot = plait::row(S, t)[in_the_money];
    const auto phi = plait::column_stack({plait::ones_like(spot), spot, spot * spot});
    const auto beta =
        plait::linalg::solve(plait::matmul(plait::transpose(phi), phi),
                             plait::matmul(plait::transpose(phi), cashflows[in_the_money]));
    const array<double> continuation = plait::matmul(phi, beta);
    const array<double> exercise = immediate[in_the_money];
    const auto stop = in_the_money[exercise > continuation];
    cashflows[stop] = immediate[stop];
  }
  return plait::mean(cashflows)() * discount;
}

double loops(const Option& o, const Reals& S, size_t steps, size_t n) {
  const double discount = std::exp(-o.r * o.T / double(steps));
  Reals cash(n);
  for (size_t i = 0; i < n; ++i) cash[i] = std::fmax(o.K - S[steps * n + i], 0);
  for (size_t t = steps - 1; t > 0; --t) {
    double m[3][4] = {};
    for (size_t i = 0; i < n; ++i) {
      cash[i] *= discount;
      const double s = S[t * n + i];
      if (s >= o.K) continue;
      const double phi[] = {1, s, s * s, cash[i]};
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 4; ++k) m[j][k] += phi[j] * phi[k];
    }
    if (m[0][0] == 0) continue;
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) {
        if (i == k) continue;
        const double factor = m[i][k] / m[k][k];
        for (int j = k; j < 4; ++j) m[i][j] -= factor * m[k][j];
      }
    for (size_t i = 0; i < n; ++i) {
      const double s = S[t * n + i];
      const double on = m[0][3] / m[0][0] + m[1][3] / m[1][1] * s + m[2][3] / m[2][2] * s * s;
      if (s < o.K && o.K - s > on) cash[i] = o.K - s;
    }
  }
  double sum = 0;
  for (double x : cash) sum += x;
  return sum / double(n) * discount;
}

void check() {
  const Option o;
  const array<double> S = paths(o, 12, 3000);
  const double got = price(o, S, 12);
  expect_near(got, loops(o, Reals(S.begin(), S.end()), 12, 3000), 1e-6, "American put");
  expect(got > 9.5 && got < 12, "between the European price and the bound of the paths");
}

}  // namespace american_put

// xtensor: the impulse response of minimum phase that has a given autocorrelation, by Kolmogorov's
// factorisation, and back.
namespace spectral {

using Arr = tensor<double>;

auto spectral_fact(const Arr& r) -> Arr {
  const auto n = int(r.shape()[0]);
  const auto m = 20 * n;
  // The matrix depends on n alone.
  static int cached_n = 0;
  static Arr cached_A;
  if (n != cached_n) {
    Arr w = plait::linspace<double>(0, 2 * pi, size_t(m), false);
    auto cols = plait::arange(1.0, double(n));
    Arr An = 2.0 * plait::cos(plait::outer(w, cols));
    cached_A = plait::concatenate({plait::ones<double>({m, 1}), An}, 1);
    cached_n = n;
  }
  const auto& A = cached_A;
  Arr R = plait::dot(A, r);
  Arr alpha = 0.5 * plait::log(plait::abs(R));
  auto alphatmp = plait::fft::fft(alpha);
  auto ind = size_t(m) / 2;
  view(alphatmp, range(ind, m)) = -view(alphatmp, range(ind, m));
  alphatmp[0] = 0.;
  alphatmp[ind] = 0.;
  const std::complex<double> j_{0, 1};
  Arr phi = plait::real(plait::fft::ifft(j_ * alphatmp));
  auto alpha1 = view(alpha, range(0, m, 20));
  auto phi1 = view(phi, range(0, m, 20));
  Arr h = plait::real(plait::fft::ifft(plait::exp(alpha1 + j_ * phi1)));
  return h;
}

auto inverse_spectral_fact(const Arr& h) -> Arr {
  auto n = h.shape()[0];
  Arr padded = plait::zeros<double>({2 * n});
  view(padded, range(0, n)) = h;
  auto H = plait::fft::rfft(padded);
  Arr R = plait::eval(plait::abs(H) * plait::abs(H));
  auto autocorr = plait::fft::irfft(plait::cast<std::complex<double>>(R));
  return plait::eval(view(autocorr, range(0, n)));
}

Reals loops(const Reals& r) {
  const size_t n = r.size(), m = 20 * n;
  const auto turn = [m](size_t i, size_t j) { return 2 * pi * double(i * j % m) / double(m); };
  Reals alpha(m), phi(m), h(n);
  for (size_t i = 0; i < m; ++i) {
    double R = r[0];
    for (size_t k = 1; k < n; ++k) R += 2 * r[k] * std::cos(turn(i, k));
    alpha[i] = 0.5 * std::log(std::fabs(R));
  }
  std::vector<std::complex<double>> f(m);
  for (size_t k = 1; k < m; ++k) {
    if (k == m / 2) continue;
    for (size_t i = 0; i < m; ++i) f[k] += std::polar(alpha[i], -turn(i, k));
    f[k] *= std::complex<double>(0, k < m / 2 ? 1 : -1);
  }
  for (size_t i = 0; i < m; i += 20)
    for (size_t k = 0; k < m; ++k)
      phi[i] += (f[k] * std::polar(1.0, turn(i, k))).real() / double(m);
  for (size_t t = 0; t < n; ++t)
    for (size_t i = 0; i < n; ++i)
      h[t] +=
          (std::polar(std::exp(alpha[i * 20]), phi[i * 20] + turn(i * 20, t))).real() / double(n);
  return h;
}

void check() {
  const Arr h =
      plait::pow(0.5, plait::arange<double>(0, 16)) * plait::cos(plait::arange<double>(0, 16));
  const Arr r = inverse_spectral_fact(h);
  for (size_t lag = 0; lag < 16; ++lag) {
    double sum = 0;
    for (size_t t = 0; t + lag < 16; ++t) sum += h(t) * h(t + lag);
    expect_near(r(lag), sum, 1e-12, "autocorrelation");
  }
  const Arr got = spectral_fact(r);
  expect_same(got, loops(Reals(r.begin(), r.end())), 1e-10, "factor");
  expect(plait::allclose(plait::abs(got), plait::abs(h), 1e-3, 1e-4),
         "the response is found again");
  expect(plait::array_equal(spectral_fact(r), got), "with the matrix that was kept");
}

}  // namespace spectral

// xtensor: a fire that spreads through a forest, cell by cell of a tensor of neighbours.
namespace forest_fire {

using xt_int = tensor<int>;
using xt_float = tensor<double>;
using Neighbours = std::vector<std::pair<int, int>>;

xt_int neighbour_tensor(const xt_int& forest, const Neighbours& neighbours, const xt_int& allowed) {
  auto forest_shape = forest.shape();
  size_t height = forest_shape[0];
  size_t width = forest_shape[1];
  size_t num_neigh = neighbours.size();
  xt_int around = plait::zeros<int>({num_neigh, height, width});
  for (size_t i = 0; i < num_neigh; ++i) {
    int x = neighbours[i].first;
    int y = neighbours[i].second;
    xt_int rolled = plait::roll(forest, static_cast<long>(y), 0);
    rolled = plait::roll(rolled, static_cast<long>(-x), 1);
    if (x == 1)
      for (size_t r = 0; r < height; r++) rolled(r, width - 1) = 0;
    else if (x == -1)
      for (size_t r = 0; r < height; r++) rolled(r, 0) = 0;
    if (y == 1)
      for (size_t c = 0; c < width; c++) rolled(0, c) = 0;
    else if (y == -1)
      for (size_t c = 0; c < width; c++) rolled(height - 1, c) = 0;
    view(around, i, all(), all()) = plait::eval(rolled * view(allowed, i, all(), all()));
  }
  return around;
}

std::tuple<std::vector<xt_int>, int> propagate(xt_int forest, double pb,
                                               const Neighbours& neighbours,
                                               const xt_int& allowed) {
  size_t height = forest.shape(0);
  size_t width = forest.shape(1);
  plait::random::engine rng(21);
  int propagationTime = 0;
  bool thereIsFire = true;
  std::vector<xt_int> history;
  while (thereIsFire) {
    history.push_back(forest);
    propagationTime++;
    xt_int around = neighbour_tensor(forest, neighbours, allowed);
    auto couldPropagate = plait::equal(around, 2);
    xt_int burning = plait::sum(couldPropagate, {0}).astype<int>();
    auto cellsToEvaluate = plait::greater(burning, 0);
    auto burningTrees = plait::equal(forest, 2);
    xt_float p = rng.random({height, width});
    xt_float updated = plait::where(cellsToEvaluate, 1.0 - plait::pow(1.0 - p, 1.0 / burning), p);
    auto couldBurn = (updated <= pb);
    auto newBurningTrees = (plait::equal(forest, 1) & couldBurn & cellsToEvaluate);
    forest = plait::where(burningTrees, 3, forest);
    forest = plait::where(newBurningTrees, 2, forest);
    thereIsFire = (plait::sum(plait::equal(forest, 2))() > 0);
  }
  history.push_back(forest);
  return std::make_tuple(history, propagationTime);
}

const Neighbours around{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}};

std::vector<std::vector<int>> loops(std::vector<int> forest, int height, int width, double pb) {
  plait::random::engine rng(21);
  std::vector<std::vector<int>> history{forest};
  for (bool fire = true; fire;) {
    const array<double> drawn = rng.random({height, width});
    const double* p = drawn.data();
    std::vector<int> next = forest;
    fire = false;
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < width; ++j) {
        const size_t at = size_t(i * width + j);
        if (forest[at] == 2) next[at] = 3;
        int burning = 0;
        for (auto [x, y] : around) {
          const int u = i - y, v = j + x;
          if (u >= 0 && u < height && v >= 0 && v < width)
            burning += forest[size_t(u * width + v)] == 2;
        }
        if (forest[at] == 1 && burning > 0 && 1 - std::pow(1 - p[at], 1.0 / burning) <= pb) {
          next[at] = 2;
          fire = true;
        }
      }
    history.push_back(forest = next);
  }
  return history;
}

xt_int wood(size_t n) {
  xt_int forest = (plait::random::engine(8).random({n, n}) < 0.9).astype<int>();
  view(forest, range(n / 2 - 1, n / 2 + 1), range(n / 2 - 1, n / 2 + 1)) = 2;
  return forest;
}

void check() {
  const xt_int forest = wood(40);
  const xt_int allowed = plait::ones<int>({6, 40, 40});
  auto [history, time] = propagate(forest, 0.6, around, allowed);
  const auto expected = loops({forest.begin(), forest.end()}, 40, 40, 0.6);
  expect(size_t(time) + 1 == expected.size() && history.size() == expected.size() && time > 10,
         "the fire lasts as long");
  for (size_t t = 0; t < expected.size(); ++t)
    expect(std::vector<int>(history[t].begin(), history[t].end()) == expected[t], "a state");
}

}  // namespace forest_fire

// Eigen: the cavity with a moving lid on a grid of uneven steps, by projection. The matrix of the
// pressure is dense, and put together entry by entry.
namespace cavity {

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

void check() {
  const Grid g = uneven(12);
  const Fields f = solve(g, 8, 0.005, 0.02);
  const auto expected =
      loops(Reals(g.X.begin(), g.X.end()), Reals(g.Y.begin(), g.Y.end()), 8, 0.005, 0.02);
  expect_same(f.u, expected[0], 1e-8, "u");
  expect_same(f.v, expected[1], 1e-8, "v");
  expect_same(f.p, expected[2], 1e-8, "p");
}

}  // namespace cavity

// C arrays: stable fluids. The solver of Gauss and Seidel goes over a chessboard, as arrays can.
namespace fluid {

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

void check() {
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

}  // namespace fluid

// std::vector: flow around a cylinder by the lattice Boltzmann method, with nine directions.
namespace lattice {

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

void check() {
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

}  // namespace lattice

// Blitz: sound in a room whose air differs from place to place. Assignments take values.
namespace acoustic {

using Array3 = tensor<float>;

float run(int N, int niters) {
  Array3 P1 = plait::zeros<float>({N, N, N}), P2 = P1, P3 = P1;
  Array3 c = 0.1f + 0.1f * plait::fromfunction<float>(
                               [N](auto i, auto j, auto k) { return (i + j + k) / float(3 * N); },
                               N, N, N);
  view(P2, range(N / 4, N / 2), range(N / 4, N / 2), N / 2) = 1.0f;
  const auto I = range(1, N - 1), J = I, K = I, before = range(0, N - 2), after = range(2, N);
  for (int iter = 0; iter < niters; ++iter) {
    view(P3, I, J, K) = (2 - 6 * view(c, I, J, K)) * view(P2, I, J, K) +
                        view(c, I, J, K) * (view(P2, before, J, K) + view(P2, after, J, K) +
                                            view(P2, I, before, K) + view(P2, I, after, K) +
                                            view(P2, I, J, before) + view(P2, I, J, after)) -
                        view(P1, I, J, K);
    P1 = P2;
    P2 = P3;
  }
  return P1(N / 2, N / 2, N / 2);
}

float loops(size_t N, int niters) {
  std::vector<float> P1(N * N * N), P2(P1), P3(P1), c(P1);
  const auto at = [N](size_t i, size_t j, size_t k) { return (i * N + j) * N + k; };
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < N; ++j)
      for (size_t k = 0; k < N; ++k) {
        c[at(i, j, k)] = 0.1f + 0.1f * (float(i + j + k) / float(3 * N));
        if (i >= N / 4 && i < N / 2 && j >= N / 4 && j < N / 2 && k == N / 2) P2[at(i, j, k)] = 1;
      }
  for (int iter = 0; iter < niters; ++iter) {
    for (size_t i = 1; i + 1 < N; ++i)
      for (size_t j = 1; j + 1 < N; ++j)
        for (size_t k = 1; k + 1 < N; ++k) {
          const size_t o = at(i, j, k);
          P3[o] = (2 - 6 * c[o]) * P2[o] +
                  c[o] * (P2[o - N * N] + P2[o + N * N] + P2[o - N] + P2[o + N] + P2[o - 1] +
                          P2[o + 1]) -
                  P1[o];
        }
    P1.swap(P2);
    P2 = P3;
  }
  return P1[at(N / 2, N / 2, N / 2)];
}

void check() {
  const float got = run(20, 15);
  expect_near(double(got), double(loops(20, 15)), 1e-4, "sound");
  expect(std::fabs(got) > 1e-3f, "it arrived");
}

}  // namespace acoustic

// std::vector: an image of a ball on a ring, by marching along rays until they are near a surface.
namespace marching {

struct Vec3 {
  array<double> x, y, z;
};
Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec3 operator*(const Vec3& a, const array<double>& t) { return {a.x * t, a.y * t, a.z * t}; }
array<double> dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec3 normalize(const Vec3& a) { return a * (1.0 / plait::sqrt(dot(a, a))); }

// One source for arrays and numbers.
template <class T>
T scene(const T& x, const T& y, const T& z) {
  using plait::hypot;
  using std::hypot;
  using std::sqrt;
  const T ball = sqrt(x * x + (y - 0.4) * (y - 0.4) + z * z) - 0.6;
  const T ring = hypot(T(hypot(x, z) - 1.2), T(y + 0.3)) - 0.3;
  const T h = 0.2 - (ball - ring) * (ball - ring);  // a soft minimum
  using plait::fmax;
  using plait::fmin;
  using std::fmax;
  using std::fmin;
  return fmin(ball, ring) - fmax(h, T(0.0)) * 0.25;
}

array<double> render(int width, int height) {
  const auto [v, u] = plait::ogrid(range(0, height), range(0, width));
  const auto column = (2.0 * u - width) / double(height) * plait::ones<double>({height, 1});
  const auto row = (height - 2.0 * v) / double(height) * plait::ones<double>({1, width});
  const Vec3 eye{array<double>(0.0), array<double>(0.7), array<double>(-3.0)};
  const Vec3 direction = normalize({column, row - 0.2, 1.5 + plait::zeros_like(column)});
  array<double> t = plait::zeros_like(column);
  array<bool> active = plait::ones<bool>({height, width});
  for (int i = 0; i < 64 && plait::any(active); ++i) {
    const Vec3 p = eye + direction * t;
    const auto d = scene(p.x, p.y, p.z);
    t += plait::where(active, d, 0);
    active = active && d > 1e-4 && t < 10.0;
  }
  const auto hit = t < 10.0;
  const Vec3 p = eye + direction * t;
  const double e = 1e-5;
  const Vec3 normal = normalize({scene(p.x + e, p.y, p.z) - scene(p.x - e, p.y, p.z),
                                 scene(p.x, p.y + e, p.z) - scene(p.x, p.y - e, p.z),
                                 scene(p.x, p.y, p.z + e) - scene(p.x, p.y, p.z - e)});
  const auto light = (normal.x + 2.0 * normal.y - normal.z) / std::sqrt(6.0);
  return plait::where(hit, plait::clip(light, 0.1, 1), 0);
}

Reals loops(int width, int height) {
  Reals image;
  for (int v = 0; v < height; ++v)
    for (int u = 0; u < width; ++u) {
      double x = (2.0 * u - width) / height, y = (height - 2.0 * v) / height - 0.2, z = 1.5, t = 0;
      const double length = std::sqrt(x * x + y * y + z * z), e = 1e-5;
      x /= length, y /= length, z /= length;
      for (int i = 0; i < 64; ++i) {
        const double d = scene(x * t, 0.7 + y * t, z * t - 3);
        t += d;
        if (!(d > 1e-4 && t < 10)) break;
      }
      const double px = x * t, py = 0.7 + y * t, pz = z * t - 3;
      const double nx = scene(px + e, py, pz) - scene(px - e, py, pz),
                   ny = scene(px, py + e, pz) - scene(px, py - e, pz),
                   nz = scene(px, py, pz + e) - scene(px, py, pz - e);
      const double light = (nx + 2 * ny - nz) / std::sqrt(6 * (nx * nx + ny * ny + nz * nz));
      image.push_back(t < 10 ? std::fmin(std::fmax(light, 0.1), 1) : 0);
    }
  return image;
}

void check() {
  const auto image = render(48, 36);
  expect_same(image, loops(48, 36), 1e-4, "image");
  const double mean = plait::mean(image)();
  expect(mean > 0.05 && mean < 0.6, "there is something to see");
}

}  // namespace marching

}  // namespace

const std::vector<Program>& ports() {
  static const std::vector<Program> programs{
      {"burgers", burgers::check},           {"mixture", mixture::check},
      {"american put", american_put::check}, {"spectral factor", spectral::check},
      {"forest fire", forest_fire::check},   {"cavity", cavity::check},
      {"stable fluid", fluid::check},        {"lattice", lattice::check},
      {"acoustic", acoustic::check},         {"marching", marching::check}};
  return programs;
}
