#include "programs.hpp"

#include <array>
#include <vector>

#include <plait/plait.hpp>

using plait::all;
using plait::range;
using plait::view;
using namespace plait::placeholders;

namespace {

// A plate with a hot edge, explicit steps, in place.
void heat() {
  const long n = 24;
  const double k = 0.2;
  plait::array<double> t = plait::zeros<double>({n, n});
  view(t, 0, all()) = 1.0;
  for (int step = 0; step < 50; ++step) {
    auto inner = view(t, range(1, -1), range(1, -1));
    inner +=
        k * (view(t, range(_, -2), range(1, -1)) + view(t, range(2, _), range(1, -1)) +
             view(t, range(1, -1), range(_, -2)) + view(t, range(1, -1), range(2, _)) - 4 * inner);
  }

  std::vector<double> now(24 * 24), next;
  for (std::size_t j = 0; j < 24; ++j) now[j] = 1;
  for (int step = 0; step < 50; ++step) {
    next = now;
    for (std::size_t i = 1; i < 23; ++i)
      for (std::size_t j = 1; j < 23; ++j) {
        const std::size_t at = i * 24 + j;
        next[at] =
            now[at] + k * (now[at - 24] + now[at + 24] + now[at - 1] + now[at + 1] - 4 * now[at]);
      }
    now.swap(next);
  }
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      expect_near(t(i, j), now[static_cast<std::size_t>(i * n + j)], 1e-12, "temperature");
  expect_near(plait::mean(t)(), plait::sum(t).item() / double(t.size()), 1e-15, "mean");
}

// A string plucked in the middle, leapfrog, three arrays that change their names.
void wave() {
  const long n = 101;
  const double c2 = 0.25;
  auto x = plait::linspace(0.0, 1.0, n);
  plait::array<double> before = plait::where(x < 0.5, x, 1.0 - x);
  plait::array<double> now = before.copy();
  for (int step = 0; step < 200; ++step) {
    plait::array<double> after = plait::zeros_like(now);
    view(after, range(1, -1)) =
        2.0 * view(now, range(1, -1)) - view(before, range(1, -1)) +
        c2 * (view(now, range(2, _)) - 2.0 * view(now, range(1, -1)) + view(now, range(_, -2)));
    before = now;
    now = after;
  }

  std::vector<double> a(101), b, d(101);
  for (std::size_t i = 0; i < 101; ++i) a[i] = std::fmin(double(i) / 100, 1 - double(i) / 100);
  b = a;
  for (int step = 0; step < 200; ++step) {
    for (std::size_t i = 1; i < 100; ++i)
      d[i] = 2 * b[i] - a[i] + c2 * (b[i + 1] - 2 * b[i] + b[i - 1]);
    a = b;
    b = d;
  }
  double worst = 0;
  std::size_t i = 0;
  for (double value : now) worst = std::fmax(worst, std::fabs(value - b[i++]));
  expect(i == 101 && worst < 1e-11, "displacement");
  expect(plait::allclose(now, plait::flip(now, 0)), "symmetry");
}

// Gravity among a few bodies: all pairs by broadcasting.
void bodies() {
  const long n = 7;
  plait::random::engine rng(3);
  plait::array<double> position = rng.normal(0.0, 1.0, {n, 3});
  plait::array<double> velocity = plait::zeros<double>({n, 3});
  plait::array<double> mass = rng.uniform(0.5, 1.5, {n});
  std::vector<double> p(position.begin(), position.end()), v(21), m(mass.begin(), mass.end());
  const double dt = 0.01, soft = 0.05;
  for (int step = 0; step < 20; ++step) {
    auto apart = view(position, plait::newaxis(), all()) - view(position, all(), plait::newaxis());
    auto cube = plait::pow(plait::sum(apart * apart, {2}) + soft, -1.5);
    plait::array<double> force =
        plait::sum(apart * view(cube * mass, all(), all(), plait::newaxis()), {1});
    velocity += dt * force;
    position += dt * velocity;
  }

  for (int step = 0; step < 20; ++step) {
    std::vector<double> f(21);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t j = 0; j < 7; ++j) {
        double d[3], r2 = soft;
        for (std::size_t q = 0; q < 3; ++q) d[q] = p[3 * j + q] - p[3 * i + q], r2 += d[q] * d[q];
        for (std::size_t q = 0; q < 3; ++q) f[3 * i + q] += d[q] * std::pow(r2, -1.5) * m[j];
      }
    for (std::size_t q = 0; q < 21; ++q) v[q] += dt * f[q], p[q] += dt * v[q];
  }
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t q = 0; q < 3; ++q)
      expect_near(position(i, q), p[3 * i + q], 1e-10, "position");
}

// A glider on a torus has moved by one cell after four steps.
void life() {
  plait::array<int> board = plait::zeros<int>({8, 8});
  plait::array<int> glider{{0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  view(board, range(1, 4), range(1, 4)) = glider;
  auto start = board.copy();
  for (int step = 0; step < 4; ++step) {
    plait::array<int> neighbours = plait::zeros_like(board);
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        if (i != 0 || j != 0) neighbours += plait::roll(plait::roll(board, i, 0), j, 1);
    auto alive = (neighbours == 3) || (board == 1 && neighbours == 2);
    board = alive.astype<int>();
  }
  expect(plait::sum(board).item() == 5, "cells");
  expect(plait::array_equal(board, plait::roll(plait::roll(start, 1, 0), 1, 1)), "glider");
}

// Lorenz' equations for many initial values at a time, Runge and Kutta's fourth order.
template <class State>
std::array<State, 3> slope(const std::array<State, 3>& s) {
  return {State(10.0 * (s[1] - s[0])), State(s[0] * (28.0 - s[2]) - s[1]),
          State(s[0] * s[1] - 8.0 / 3.0 * s[2])};
}
template <class State>
std::array<State, 3> stepped(const std::array<State, 3>& s, double h) {
  const auto along = [&](const std::array<State, 3>& k, double by) {
    return std::array<State, 3>{State(s[0] + by * k[0]), State(s[1] + by * k[1]),
                                State(s[2] + by * k[2])};
  };
  const auto k1 = slope(s), k2 = slope(along(k1, h / 2)), k3 = slope(along(k2, h / 2)),
             k4 = slope(along(k3, h));
  std::array<State, 3> next = s;
  for (std::size_t i = 0; i < 3; ++i)
    next[i] += h / 6 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
  return next;
}
void lorenz() {
  const std::size_t n = 50;
  auto x0 = plait::linspace(0.9, 1.1, long(n));
  std::array<plait::array<double>, 3> many{x0.copy(), plait::ones<double>({n}),
                                           plait::full<double>({n}, 20.0)};
  for (int i = 0; i < 60; ++i) many = stepped(many, 0.01);
  for (std::size_t j : {std::size_t(0), std::size_t(17), n - 1}) {
    std::array<double, 3> one{x0(j), 1.0, 20.0};
    for (int i = 0; i < 60; ++i) one = stepped(one, 0.01);
    for (std::size_t q = 0; q < 3; ++q) expect_near(many[q](j), one[q], 1e-10, "state");
  }
  expect_near(x0[n - 1], 1.1, 1e-15, "the initial values are as they were");
}

// Walks of +1 and -1: distances, first crossings, largest excursions.
void random_walks() {
  plait::random::engine rng(2024);
  const long walks = 200, steps = 100;
  plait::array<std::int64_t> move = 2 * rng.integers(0, 2, {walks, steps}) - 1;
  plait::array<std::int64_t> path = plait::cumsum(move, 1);
  plait::array<bool> crossed = plait::any(plait::abs(path) >= 10, {1});
  plait::array<std::int64_t> first = plait::argmax(plait::abs(path) >= 10, 1);
  plait::array<std::int64_t> times = plait::filter(first, crossed);
  plait::array<std::int64_t> highest = plait::amax(path, {1});

  long reached = 0, sum = 0;
  double squares = 0;
  for (long w = 0; w < walks; ++w) {
    std::int64_t at = 0, top = -steps, when = -1;
    for (long s = 0; s < steps; ++s) {
      at += move.get(w, s);
      top = at > top ? at : top;
      if (when < 0 && (at >= 10 || at <= -10)) when = s;
    }
    if (when >= 0) ++reached, sum += long(when);
    squares += double(at * at);
    expect(highest(w) == top, "highest");
  }
  auto end = view(path, all(), -1);
  expect(plait::count_nonzero(crossed).item() == reached && long(times.size()) == reached,
         "walks that cross");
  expect_near(plait::mean(times).item(), double(sum) / double(reached), 1e-12, "time of crossing");
  expect_near(plait::mean(end * end).item(), squares / double(walks), 1e-12, "mean of squares");
}

}  // namespace

const std::vector<Program>& simulations() {
  static const std::vector<Program> programs{{"heat", heat},     {"wave", wave},
                                             {"bodies", bodies}, {"life", life},
                                             {"lorenz", lorenz}, {"random walks", random_walks}};
  return programs;
}
