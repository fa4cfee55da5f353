// Without a framework: a failed check is named, and the program ends with 1.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "transport.hpp"

namespace {

int failed = 0;

void check(bool right, const char* what) {
  if (right) return;
  std::printf("failed: %s\n", what);
  ++failed;
}

plume::Parameters small() {
  plume::Parameters p;
  p.rows = 21;  // the tenth is in the middle
  p.columns = 30;
  p.step = 1;
  return p;
}

void nothing_is_lost_inside() {
  const plume::Parameters p = small();
  const plume::Field still = plait::zeros<double>({p.rows, p.columns});
  plume::Field emission = plait::zeros<double>({p.rows, p.columns});
  emission(10, 15) = 2;
  plume::Transport t(p, still, still, emission);
  t.advance(5);
  check(std::abs(t.mass() - 10) < 1e-12, "what was emitted is in the air");
  check(t.highest() < 10, "it spreads");
  const plume::Field c = t.concentration();
  check(plait::allclose(c, plait::flip(c, {0})), "up and down alike");
}

void the_wind_carries() {
  const plume::Parameters p = small();
  const plume::Field still = plait::zeros<double>({p.rows, p.columns});
  plume::Field emission = plait::zeros<double>({p.rows, p.columns});
  emission(10, 5) = 1;
  plume::Transport t(p, plait::full({p.rows, p.columns}, 5.0), still, emission);
  t.advance(10);
  const plume::Field along = plait::sum(t.concentration(), {0});
  const auto columns = plait::arange<double>(p.columns);
  check(plait::sum(along * columns).item() / t.mass() > 5.5, "smoke drifts to the right");
}

template <class Exception, class F>
void check_throws(F f, const char* what) {
  try {
    f();
  } catch (const Exception&) {
    return;
  }
  check(false, what);
}

void wrong_input() {
  const plume::Parameters p = small();
  const plume::Field field = plait::zeros<double>({p.rows, p.columns});
  check_throws<plait::ValueError>(
      [&] { plume::Transport(p, field, field, plait::zeros<double>({3, 3})); },
      "an emission of another shape");
  check_throws<plait::ValueError>(
      [&] { plume::Transport(p, plait::full({p.rows, p.columns}, 50.0), field, field); },
      "a wind that is too fast");
  std::ofstream("wrong.txt") << "steps = 3\nstops = 4\n";
  check_throws<std::exception>([] { plume::read_parameters("wrong.txt"); }, "an unknown name");
}

}  // namespace

int main() {
  nothing_is_lost_inside();
  the_wind_carries();
  wrong_input();
  std::printf("%s\n", failed ? "failed" : "passed");
  return failed != 0;
}
