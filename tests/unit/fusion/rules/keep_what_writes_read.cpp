// A value that several writes to storage read is computed for each of them, or stored.
#include "planned.hpp"

using namespace plait;
using namespace plait::test;
using tracer::Slice;

namespace {

const char* const kAgain = "several writes would compute it again";

// f(x) and its double, one behind the other.
Array joined(OpId fn) {
  const Array f = apply(fn, operand({30000})), all = operand({60000});
  tracer::assign(view(all, {Slice{0, 30000, {}}}), f);
  tracer::assign(view(all, {Slice{30000, 60000, {}}}), apply(OpId::Add, f, f));
  return all;
}
Planned written(const Array& a, double store) {
  Machine m;
  m.store = store;
  return {{a}, {&fusion::keep_what_writes_read()}, m};
}

}  // namespace

TEST_CASE("keep_what_writes_read: stored where that costs less than to compute it again") {
  for (const double store : {1., 1000.}) {
    const Planned p = written(joined(OpId::Exp), store);
    const bool stored = store == 1;
    CHECK(p.choice(kAgain).taken == stored);
    CHECK(p.stored(kAgain) == stored);
    CHECK(p.maps() == (stored ? 3 : 2));
  }
}

TEST_CASE("keep_what_writes_read: nothing is offered of what is cheap or written once") {
  CHECK(written(joined(OpId::Absolute), 1).plan->considered.empty());
  const Array f = apply(OpId::Exp, operand({300, 200}));
  CHECK(written(apply(OpId::Add, f, reduce(ReduceKind::Sum, f, 0)), 1).plan->considered.empty());
  // Each of a roll's two writes reads a part of its own.
  const Array all = operand({30000}), g = apply(OpId::Exp, operand({30000}));
  tracer::assign(view(all, {Slice{0, 10, {}}}), view(g, {Slice{29990, 30000, {}}}));
  tracer::assign(view(all, {Slice{10, 30000, {}}}), view(g, {Slice{0, 29990, {}}}));
  CHECK(written(all, 1).plan->considered.empty());
}

TEST_CASE("keep_what_writes_read: what is cheap of what is stored is not stored, too") {
  const Array h = operand({30000});
  const Array c = apply(OpId::Exp, h), s = apply(OpId::Absolute, c);
  const auto between = [](OpId fn, const Array& a, std::int64_t n) {
    return apply(fn, view(a, {Slice{1, n, {}}}), view(a, {Slice{0, n - 1, {}}}));
  };
  // At the faces between two cells each, and across each cell.
  const Array flux =
      apply(OpId::Multiply, between(OpId::Maximum, s, 30000), between(OpId::Subtract, c, 30000));
  tracer::assign(view(h, {Slice{1, 29999, {}}}), between(OpId::Subtract, flux, 29999));
  const Planned p = written(h, 1);
  CHECK(p.stored(kAgain) == 2);  // the exponential and the flux
  CHECK(p.maps() == 3);
}
