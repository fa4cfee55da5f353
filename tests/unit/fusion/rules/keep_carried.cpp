// What a loop of the caller carries from step to step is stored where each step is regions of its
// own, which would compute all the steps before it again.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;

namespace {

const char* const kCarried = "carried from step to step of a loop, where other regions read it";

// c = f(c, h @ v), h = tanh(c): each product is a call, which the next step waits for.
Array steps(int count, bool carries = true) {
  const Array v = operand({50, 50});
  Array c = operand({40, 50}), h = operand({40, 50});
  for (int s = 0; s < count; ++s) {
    const Array g = apply(OpId::Exp, tracer::matmul(h, v));
    c = carries ? apply(OpId::Add, apply(OpId::Multiply, c, g), g) : g;
    h = apply(OpId::Tanh, c);
  }
  return h;
}
Planned carried(const Array& a) {
  return {{a}, {&fusion::call_libraries(), &fusion::keep_carried()}};
}

}  // namespace

TEST_CASE("keep_carried: the value of each step but the last is stored, whatever it costs") {
  const Planned p = carried(steps(5));
  CHECK(p.calls() == 5);
  CHECK(p.stored(kCarried) >= 3);
  CHECK(static_cast<int>(p.plan->considered.size()) == p.stored(kCarried));
  for (const fusion::Choice& c : p.plan->considered) {
    CHECK(c.taken);
    CHECK(c.instead < c.as_is);
  }
  const Planned without({steps(5)}, {&fusion::call_libraries()});
  CHECK(without.stored(kCarried) == 0);
  // Each region computes a step, where they would compute 1 + 2 + ... of them.
  const auto work = [](const Planned& q) {
    std::size_t insts = 0;
    for (const fusion::Step& s : q.plan->steps) insts += s.lowered.kernel.insts.size();
    return insts;
  };
  CHECK(work(p) < work(without));
}

TEST_CASE("keep_carried: not where a step needs nothing of the one before but its product") {
  CHECK(carried(steps(5, false)).stored(kCarried) == 0);
  CHECK(carried(steps(1)).stored(kCarried) == 0);
  // Without a product all steps are one region.
  Array c = operand({40, 50});
  for (int s = 0; s < 5; ++s) c = apply(OpId::Tanh, apply(OpId::Exp, c));
  const Planned p = carried(c);
  CHECK(p.maps() == 1);
  CHECK(p.stored(kCarried) == 0);
}
