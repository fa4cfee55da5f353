#include <complex>
#include <vector>

#include <plait/plait.hpp>

#include "programs.hpp"

using namespace plait;
using plait::placeholders::_;

namespace {

const double kPi = std::acos(-1.0);

// An ensemble of pendulums by Runge and Kutta, one column each, against one pendulum in a loop.
void pendulums() {
  const array<double> start = linspace(0.1, 3.0, 16);
  array<double> state = stack({start, zeros_like(start)});
  const auto slope = [](const array<double>& s) { return stack({row(s, 1), -sin(row(s, 0))}); };
  const double h = 0.02;
  for (int step = 0; step < 100; ++step) {
    auto k1 = slope(state);
    auto k2 = slope(state + h / 2 * k1);
    auto k3 = slope(state + h / 2 * k2);
    auto k4 = slope(state + h * k3);
    state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  const auto energy = row(state, 1) * row(state, 1) / 2 - cos(row(state, 0));
  expect(allclose(energy, -cos(start), 1e-6), "energy");

  double x = start(5), v = 0;
  for (int step = 0; step < 100; ++step) {
    const double x1 = v, v1 = -std::sin(x);
    const double x2 = v + h / 2 * v1, v2 = -std::sin(x + h / 2 * x1);
    const double x3 = v + h / 2 * v2, v3 = -std::sin(x + h / 2 * x2);
    const double x4 = v + h * v3, v4 = -std::sin(x + h * x3);
    x += h / 6 * (x1 + 2 * x2 + 2 * x3 + x4);
    v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
  }
  expect_near(state(0, 5), x, 1e-12, "angle");
  expect_near(state(1, 5), v, 1e-12, "velocity");
}

// An epidemic in four towns that visit each other.
void epidemic() {
  const array<double> visits{{.9, .1, 0, 0}, {.1, .8, .1, 0}, {0, .1, .8, .1}, {0, 0, .1, .9}};
  array<double> S = full<double>({4}, 0.99), I = full<double>({4}, 0.01), R = zeros<double>({4});
  view(S, range(1, _)) = 1.0;
  view(I, range(1, _)) = 0.0;
  const double beta = 0.4, gamma = 0.1, dt = 0.5;
  array<double> prevalence = zeros<double>({200});
  for (int t = 0; t < 200; ++t) {
    auto infections = beta * S * matmul(visits, I);
    auto recoveries = gamma * I;
    S -= dt * infections;
    I += dt * (infections - recoveries);
    R += dt * recoveries;
    prevalence(t) = mean(I);
  }
  expect(allclose(S + I + R, 1.0), "people");
  const auto peak = argmax(prevalence).item();
  expect(peak > 0 && peak < 199, "a peak inside");

  double s[4] = {.99, 1, 1, 1}, i[4] = {.01, 0, 0, 0};
  for (int t = 0; t < 200; ++t) {
    double met[4] = {};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) met[a] += visits(a, b) * i[b];
    for (int a = 0; a < 4; ++a) {
      const double infected = beta * s[a] * met[a];
      s[a] -= dt * infected;
      i[a] += dt * (infected - gamma * i[a]);
    }
  }
  for (int a = 0; a < 4; ++a) expect_near(S(a), s[a], 1e-12, "susceptible");
}

// A box of argon: energy and forces of all pairs, the nearest image, distances in shells.
void argon() {
  random::engine rng(3);
  const int n = 40;
  const double box = 6;
  array<double> r = rng.uniform(0, box, {n, 3});
  auto d = view(r, all(), newaxis(), all()) - view(r, newaxis(), all(), all());
  d -= box * rint(d / box);
  array<double> r2 = sum(d * d, 2);
  fill_diagonal(r2, std::numeric_limits<double>::infinity());
  auto s6 = pow(r2, -3);
  const double energy = 2.0 * sum(s6 * s6 - s6).item();
  array<double> force = sum(view(24.0 * (2.0 * s6 * s6 - s6) / r2, all(), all(), newaxis()) * d, 1);
  auto [counts, edges] = histogram(sqrt(r2[r2 < 9.0]), 6, 0, 3);

  double plain = 0, pull[3] = {};
  std::vector<long> shells(6);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      if (a == b) continue;
      double e[3], q = 0;
      for (int k = 0; k < 3; ++k) {
        e[k] = r(a, k) - r(b, k);
        e[k] -= box * std::nearbyint(e[k] / box);
        q += e[k] * e[k];
      }
      const double u = 1 / (q * q * q);
      plain += 2 * (u * u - u);
      if (a == 7)
        for (int k = 0; k < 3; ++k) pull[k] += 24 * (2 * u * u - u) / q * e[k];
      if (q < 9) ++shells[std::size_t(std::sqrt(q) * 2)];
    }
  expect_near(energy, plain, 1e-10, "energy");
  for (int k = 0; k < 3; ++k) expect_near(force(7, k), pull[k], 1e-9, "force");
  for (int k = 0; k < 6; ++k) expect(counts(k) == shells[std::size_t(k)], "shell");
  expect(edges(6) == 3.0, "edge");
}

// Heat on a ring by transforms: each wave decays by itself.
void spectral_heat() {
  const int n = 64;
  const double t = 0.3;
  array<double> x = 2 * kPi * arange<double>(n) / n;
  auto u = exp(sin(x)) + cos(3.0 * x);
  auto k = fft::rfftfreq(n, 1.0 / n);
  auto later = fft::irfft(fft::rfft(u) * exp(-k * k * t), n);
  auto slope = fft::irfft(std::complex<double>(0, 1) * k * fft::rfft(u), n);
  expect(allclose(slope, cos(x) * exp(sin(x)) - 3.0 * sin(3.0 * x), 1e-10, 1e-10), "slope");

  for (int at = 0; at < n; at += 9) {
    double sum = 0;
    for (int wave = -n / 2; wave < n / 2; ++wave)
      for (int j = 0; j < n; ++j)
        sum += u(j) * std::cos(wave * (x(at) - x(j))) * std::exp(-wave * wave * t) / n;
    expect_near(later(at), sum, 1e-11, "temperature");
  }
}

// Poisson's equation by V-cycles.
void v_cycle(array_view<double> u, const array<double>& f, double h) {
  const auto n = u.shape(0);
  const auto relax = [&] {
    for (auto first : {1, 2})
      view(u, range(first, -1, 2)) =
          0.5 * (view(u, range(first - 1, n - 2, 2)) + view(u, range(first + 1, n, 2)) +
                 h * h * view(f, range(first, -1, 2)));
  };
  relax();
  if (n > 3) {
    array<double> rest = zeros<double>({n});
    view(rest, range(1, -1)) =
        view(f, range(1, -1)) -
        (2.0 * view(u, range(1, -1)) - view(u, range(_, -2)) - view(u, range(2, _))) / (h * h);
    array<double> coarse = zeros<double>({n / 2 + 1});
    view(coarse, range(1, -1)) = 0.25 * view(rest, range(1, -3, 2)) +
                                 0.5 * view(rest, range(2, -2, 2)) +
                                 0.25 * view(rest, range(3, -1, 2));
    array<double> correction = zeros_like(coarse);
    v_cycle(view(correction), coarse, 2 * h);
    view(u, range(_, _, 2)) += correction;
    view(u, range(1, _, 2)) +=
        0.5 * (view(correction, range(_, -1)) + view(correction, range(1, _)));
  }
  relax();
}

void multigrid() {
  const int n = 129;
  auto x = linspace<double>(0, 1, n);
  array<double> f = kPi * kPi * sin(kPi * x), u = zeros<double>({n});
  double before = 0;
  for (int cycle = 0; cycle < 12; ++cycle) {
    v_cycle(view(u), f, 1.0 / (n - 1));
    const double change = std::fabs(u(64) - before);
    before = u(64);
    expect(cycle < 2 || change < 0.5, "converges");
  }
  // The discrete solution of a sine is the sine, times a known number.
  const double h = 1.0 / (n - 1), scale = kPi * kPi * h * h / (2 - 2 * std::cos(kPi * h));
  expect(allclose(u, scale * sin(kPi * x), 1e-9, 1e-10), "solution");
}

// Gravity above buried spheres, on a grid of stations.
void gravity() {
  const double G = 6.674e-11;
  array<double> depth{200, 350}, mass{3e9, 8e9}, east{-100, 250}, north{0, 120};
  auto [X, Y] = meshgrid(linspace(-500, 500, 11), linspace(-400, 400, 9));
  auto dx = view(X, ellipsis(), newaxis()) - east;
  auto dy = view(Y, ellipsis(), newaxis()) - north;
  array<double> g = sum(G * mass * depth / pow(dx * dx + dy * dy + depth * depth, 1.5), -1) * 1e5;
  expect(g.shape() == shape_type({9, 11}), "stations");
  const auto top = unravel_index(argmax(g).item(), g.shape());
  expect(X(top[0], top[1]) == -100 && Y(top[0], top[1]) == 0, "over the shallow sphere");
  double plain = 0;
  for (int s = 0; s < 2; ++s) {
    const double ex = 300 - east(s), ey = -200 - north(s), z = depth(s);
    plain += G * mass(s) * z / std::pow(ex * ex + ey * ey + z * z, 1.5) * 1e5;
  }
  expect_near(g(2, 8), plain, 1e-13, "gravity");
}

// Rays through layers by Snell's law, for many slownesses at once.
void rays() {
  const array<double> v{1.5, 2.2, 3.1, 4.5}, thick{1, 2, 2, 3};
  array<double> p = linspace(0.0, 0.2, 50);
  auto sine = outer(p, v);
  auto cosine = sqrt(1.0 - sine * sine);
  array<double> distance = sum(thick * sine / cosine, 1), time = sum(thick / v / cosine, 1);
  expect(all(diff(distance) > 0.0).item(), "farther");
  for (int i = 0; i < 50; i += 7) {
    double x = 0, t = 0;
    for (int l = 0; l < 4; ++l) {
      const double s = p(i) * v(l), c = std::sqrt(1 - s * s);
      x += thick(l) * s / c;
      t += thick(l) / v(l) / c;
    }
    expect_near(distance(i), x, 1e-13, "distance");
    expect_near(time(i), t, 1e-13, "time");
  }
  // dt/dx is the slowness.
  auto slowness = diff(time) / diff(distance);
  expect(allclose(slowness, (view(p, range(1, _)) + view(p, range(_, -1))) / 2, 0, 1e-3), "slope");
}

// Stars from equatorial to galactic coordinates, and the angles between them.
void stars() {
  array<double> ra = radians(array<double>{266.405, 192.85948, 279.23}),
                dec = radians(array<double>{-28.936, 27.12825, 38.78});
  const array<double> rotation{{-0.0548755604, -0.8734370902, -0.4838350155},
                               {0.4941094279, -0.4448296300, 0.7469822445},
                               {-0.8676661490, -0.1980763734, 0.4559837762}};
  array<double> equatorial = stack({cos(dec) * cos(ra), cos(dec) * sin(ra), sin(dec)});
  auto galactic = matmul(rotation, equatorial);
  auto l = mod(degrees(atan2(row(galactic, 1), row(galactic, 0))), 360.0);
  auto b = degrees(asin(clip(row(galactic, 2), -1, 1)));
  expect(std::fabs(l(0)) < 0.02 || std::fabs(l(0) - 360) < 0.02, "the centre");
  expect_near(b(1), 90, 1e-3, "the pole");
  expect_near(l(2), 67.45, 1e-3, "Vega");
  expect_near(b(2), 19.24, 1e-3, "Vega");
  // Rotations keep angles.
  auto angle = acos(clip(matmul(transpose(equatorial), equatorial), -1, 1));
  auto same = acos(clip(matmul(transpose(galactic), galactic), -1, 1));
  expect(allclose(triu(angle, 1), triu(same, 1), 0, 1e-8), "angles");
  const double haversine =
      std::pow(std::sin((dec(2) - dec(0)) / 2), 2) +
      std::cos(dec(0)) * std::cos(dec(2)) * std::pow(std::sin((ra(2) - ra(0)) / 2), 2);
  expect_near(angle(0, 2), 2 * std::asin(std::sqrt(haversine)), 1e-12, "angle");
}

// Kepler's equation by Newton's method, for many bodies until all are there.
void kepler() {
  auto [e, M] = meshgrid(linspace(0.0, 0.9, 10), linspace(0.0, 3.1, 20));
  array<double> E = M + e * sin(M);
  int steps = 0;
  for (;; ++steps) {
    auto change = (E - e * sin(E) - M) / (1 - e * cos(E));
    E = E - change;
    if (amax(abs(change)) < 1e-13 || steps == 50) break;
  }
  expect(steps < 50, "converges");
  for (int i = 0; i < 20; i += 3)
    for (int j = 0; j < 10; j += 2) {
      double low = 0, high = 4;
      for (int k = 0; k < 60; ++k) {
        const double middle = (low + high) / 2;
        (middle - e(i, j) * std::sin(middle) < M(i, j) ? low : high) = middle;
      }
      expect_near(E(i, j), low, 1e-12, "anomaly");
    }
}

// An arm of three joints: poses by products of matrices, then joints that reach a point.
void arm() {
  const array<double> lengths{1.0, 0.8, 0.5};
  const auto tip = [&](const array<double>& joints) {
    auto heading = cumsum(joints, 1);
    return stack({sum(lengths * cos(heading), 1), sum(lengths * sin(heading), 1)}, 1);
  };
  random::engine rng(9);
  array<double> joints = rng.uniform(-1, 1, {30, 3}), target = tip(rng.uniform(-1, 1, {30, 3}));
  array<double> frame = broadcast_to(eye(3), {30, 3, 3});
  for (int j = 0; j < 3; ++j) {
    auto c = cos(col(joints, j)), s = sin(col(joints, j));
    array<double> T = zeros<double>({30, 3, 3});
    view(T, all(), 0, 0) = c;
    view(T, all(), 0, 1) = -s;
    view(T, all(), 1, 0) = s;
    view(T, all(), 1, 1) = c;
    view(T, all(), 2, 2) = 1.0;
    view(T, all(), range(_, 2), 2) = lengths[j] * stack({c, s}, 1);
    frame = matmul(frame, T);
  }
  expect(allclose(view(frame, all(), range(_, 2), 2), tip(joints)), "the tip by matrices");

  for (int step = 0; step < 200; ++step) {
    auto heading = cumsum(joints, 1);
    // Column k: what joint k moves, which is all links from k on.
    auto dx = flip(cumsum(flip(-lengths * sin(heading), 1), 1), 1);
    auto dy = flip(cumsum(flip(lengths * cos(heading), 1), 1), 1);
    auto J = stack({dx, dy}, 1);
    auto JJ = matmul(J, swapaxes(J, 1, 2)) + 1e-3 * eye(2);
    auto error = view(target - tip(joints), all(), all(), newaxis());
    joints = joints + squeeze(matmul(swapaxes(J, 1, 2), linalg::solve(JJ, error)), -1);
    joints.eval();
  }
  expect(allclose(tip(joints), target, 1e-6, 1e-6), "reaches");
}

// Newton's fractal of z^3 = 1: which root each start goes to.
void roots_of_unity() {
  auto [re, im] = meshgrid(linspace(-1.5, 1.5, 31), linspace(-1.5, 1.5, 31));
  array<std::complex<double>> z = re + std::complex<double>(0, 1) * im + 1e-3;
  for (int i = 0; i < 50; ++i) z = z - (z * z * z - 1.0) / (3.0 * z * z);
  array<std::complex<double>> root = roots(array<double>{1, 0, 0, -1});
  array<std::int64_t> which = argmin(abs(view(z, ellipsis(), newaxis()) - root), -1);
  for (int i = 0; i < 31; i += 3)
    for (int j = 0; j < 31; j += 3) {
      std::complex<double> w(re(i, j) + 1e-3, im(i, j));
      for (int k = 0; k < 50; ++k) w = w - (w * w * w - 1.0) / (3.0 * w * w);
      int nearest = 0;
      for (int k = 1; k < 3; ++k)
        if (std::abs(w - root(k).value()) < std::abs(w - root(nearest).value())) nearest = k;
      if (std::abs(w - root(nearest).value()) < 1e-6) expect(which(i, j) == nearest, "root");
    }
  expect(all(abs(abs(z) - 1.0) < 1e-6).item(), "on the circle");
}

// Rule 30 of Wolfram's automata, whose middle column is known.
void rule30() {
  const int n = 63;
  array<std::uint8_t> cells = zeros<std::uint8_t>({n});
  cells(n / 2) = 1;
  array<std::uint8_t> rule = unpackbits(array<std::uint8_t>{30}, -1, bit_order::little);
  std::vector<int> middle;
  for (int step = 0; step < 16; ++step) {
    middle.push_back(cells(n / 2));
    auto pattern = 4 * roll(cells, 1) + 2 * cells + roll(cells, -1);
    cells = take(rule, pattern);
  }
  expect(middle == std::vector<int>{1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1}, "A051023");
}

// A spin glass' cousin: Ising spins in two sublattices, whose energy falls at low temperature.
void ising() {
  const int n = 16;
  random::engine rng(4);
  array<int> spin = 2 * rng.integers(0, 2, {n, n}).astype<int>() - 1;
  const array<bool> black = sum(indices({n, n}), 0) % 2 == 0;
  const auto field = [](const array<int>& s) {
    return roll(s, 1, 0) + roll(s, -1, 0) + roll(s, 1, 1) + roll(s, -1, 1);
  };
  const auto energy = [&](const array<int>& s) { return -sum(s * field(s)).item() / 2; };
  const auto start = energy(spin);
  for (int sweep = 0; sweep < 20; ++sweep)
    for (bool colour : {true, false}) {
      auto change = 2 * spin * field(spin);
      auto flips = (rng.random({n, n}) < exp(-change / 1.0)) & (black == colour);
      spin = where(flips, -spin, spin);
    }
  expect(energy(spin) < start && energy(spin) >= -2 * n * n, "energy");
  long plain = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) plain -= spin(i, j) * (spin((i + 1) % n, j) + spin(i, (j + 1) % n));
  expect(energy(spin) == plain, "energy by a loop");
}

}  // namespace

const std::vector<Program>& physics() {
  static const std::vector<Program> programs{{"pendulums", pendulums},
                                             {"epidemic", epidemic},
                                             {"argon", argon},
                                             {"spectral heat", spectral_heat},
                                             {"multigrid", multigrid},
                                             {"gravity", gravity},
                                             {"rays", rays},
                                             {"stars", stars},
                                             {"kepler", kepler},
                                             {"arm", arm},
                                             {"roots of unity", roots_of_unity},
                                             {"rule 30", rule30},
                                             {"ising", ising}};
  return programs;
}
