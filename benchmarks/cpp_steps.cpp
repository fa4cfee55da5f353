// Short steps that a program makes over and over, recorded each time and compiled, beside loops
// written by hand, all compiled with -O3 -march=native. An argument picks cases by a part of their
// names.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <plait/plait.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"

namespace {

using plait::array;
using namespace plait::placeholders;

constexpr int kTimes = 200;

template <class Do>
Work times(Do one) {
  return [one]() mutable {
    for (int i = 0; i < kTimes; ++i) one();
  };
}
void keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

// Ten operations on n elements: a damped oscillator.
array<double> ten(const array<double>& x, const array<double>& v, double dt) {
  return x + v * dt - (x * 0.5 + v * 0.1) * dt + plait::abs(x) * 0.001;
}

Case ten_of(const char* name, std::size_t n, bool new_numbers) {
  struct State {
    array<double> x, v;
    std::vector<double> lx, lv;
    double dt = 0.01;
  };
  const auto s = std::make_shared<State>();
  s->x = plait::arange<double>(0, static_cast<double>(n)) + 1.0;
  s->v = plait::ones({static_cast<std::int64_t>(n)});
  plait::eval(s->x, s->v);
  s->lx.assign(s->x.begin(), s->x.end());
  s->lv.assign(s->v.begin(), s->v.end());
  const auto f = std::make_shared<plait::compiled_function<decltype(&ten)>>(plait::compile(&ten));
  const auto next = [=] {
    if (new_numbers) s->dt = s->dt > 0.02 ? 0.01 : s->dt * 1.0001;
    return s->dt;
  };
  return {name,
          kTimes,
          {{"compiled", times([=] {
              const array<double> r = (*f)(s->x, s->v, next());
              keep(r.data());
            })},
           {"loop", times([=] {
              std::vector<double> r(n);
              const double dt = next();
              const double *x = s->lx.data(), *v = s->lv.data();
              for (std::size_t i = 0; i < n; ++i)
                r[i] = x[i] + v[i] * dt - (x[i] * 0.5 + v[i] * 0.1) * dt + std::fabs(x[i]) * 0.001;
              keep(r.data());
            })},
           {"recorded", times([=] {
              const array<double> r = ten(s->x, s->v, next());
              keep(r.data());
            })}}};
}

// Waves in a closed basin, n x n, on a staggered grid.
struct Basin {
  array<double> height, east, north;
};
void wave(array<double>& height, array<double>& east, array<double>& north, double push,
          double flow) {
  const auto all = plait::all(), inner = plait::range(1, -1), low = plait::range(_, -1),
             high = plait::range(1, _);
  plait::view(east, all, inner) -=
      push * (plait::view(height, all, high) - plait::view(height, all, low));
  plait::view(north, inner, all) -=
      push * (plait::view(height, high, all) - plait::view(height, low, all));
  height -= flow * (plait::view(east, all, high) - plait::view(east, all, low) +
                    plait::view(north, high, all) - plait::view(north, low, all));
}

template <std::size_t n>
Case waves(const char* name) {
  constexpr auto extent = static_cast<std::int64_t>(n);
  const auto start = [] {
    const auto b = std::make_shared<Basin>();
    b->height = plait::zeros({extent, extent});
    b->east = plait::zeros({extent, extent + 1});
    b->north = plait::zeros({extent + 1, extent});
    b->height(n / 2, n / 3) = 1;
    return b;
  };
  struct Lines {
    std::vector<double> h = std::vector<double>(n * n), u = std::vector<double>(n * (n + 1)),
                        v = std::vector<double>((n + 1) * n);
  };
  const auto by_hand = std::make_shared<Lines>();
  by_hand->h[n / 2 * n + n / 3] = 1;
  const auto compiled = start(), recorded = start();
  const auto f = std::make_shared<plait::compiled_function<decltype(&wave)>>(plait::compile(&wave));
  constexpr double push = 0.1, flow = 0.2;
  return {name,
          kTimes,
          {{"compiled",
            times([=] { (*f)(compiled->height, compiled->east, compiled->north, push, flow); })},
           {"loop", times([=] {
              double *h = by_hand->h.data(), *u = by_hand->u.data(), *v = by_hand->v.data();
              for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 1; j < n; ++j)
                  u[i * (n + 1) + j] -= push * (h[i * n + j] - h[i * n + j - 1]);
              for (std::size_t i = 1; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                  v[i * n + j] -= push * (h[i * n + j] - h[(i - 1) * n + j]);
              for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < n; ++j)
                  h[i * n + j] -= flow * (u[i * (n + 1) + j + 1] - u[i * (n + 1) + j] +
                                          v[(i + 1) * n + j] - v[i * n + j]);
              keep(h);
            })},
           {"recorded", times([=] {
              wave(recorded->height, recorded->east, recorded->north, push, flow);
              plait::eval(recorded->height, recorded->east, recorded->north);
            })}}};
}

}  // namespace

int main(int argc, char** argv) {
  compare_all({ten_of("ten operations, 10", 10, false), ten_of("ten operations, 100", 100, false),
               ten_of("ten operations, 1000", 1000, false), ten_of("new numbers, 10", 10, true),
               ten_of("new numbers, 1000", 1000, true), waves<20>("waves 20 x 20"),
               waves<100>("waves 100 x 100")},
              argc > 1 ? argv[1] : "");
}
