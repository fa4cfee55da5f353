// Strided loads that a loop repeats are copied once into a local.
#include "../recorded.hpp"

using namespace plait;
using namespace plait::test;

namespace {

// sum over d of (x[n, d] - m[k, d])^2, the least over k: the points' coordinates are interleaved.
Array nearest(const Array& x, const Array& m) {
  const Array d = apply(OpId::Subtract, x, view(m, {tracer::All{}, tracer::NewAxis{}}));
  return reduce(ReduceKind::Min, reduce(ReduceKind::Sum, apply(OpId::Multiply, d, d), 2), 0);
}

struct Packed {
  int locals, copies;
  Bytes before, after;
};
Packed packed(const Array& a, std::int32_t vector_loop = 0) {
  Recorded r(a);
  r.lowered.kernel.loops[static_cast<std::size_t>(vector_loop)].scope = ir::Scope::Lanes;
  Packed p;
  p.before = r.run();
  fusion::pack_loads(r.input(), r.lowered);
  p.after = r.run();
  p.locals = static_cast<int>(r.lowered.kernel.locals.size());
  p.copies = count(r.lowered.kernel, ir::Op::StoreLocal);
  return p;
}

}  // namespace

TEST_CASE("the coordinates of a point are loaded once for all means") {
  const Packed p = packed(nearest(array({50, 12}), array({9, 12})));
  CHECK(p.locals == 1);
  CHECK(p.copies == 1);
  CHECK(p.after == p.before);
}

TEST_CASE("coordinates that lie apart need no copy") {
  const Array x = tracer::transpose(array({12, 50}));
  const Packed p = packed(nearest(x, array({9, 12})));
  CHECK(p.locals == 0);
}

TEST_CASE("nothing is copied that no loop repeats") {
  const Packed p = packed(reduce(ReduceKind::Sum, array({50, 12}), 1));
  CHECK(p.locals == 0);
}

TEST_CASE("rows too long for the first-level cache are left where they are") {
  const Packed p = packed(nearest(array({10, 1100}), array({9, 1100})));
  CHECK(p.locals == 0);
}

TEST_CASE("without a vector loop nothing is packed") {
  Recorded r(nearest(array({50, 12}), array({9, 12})));
  fusion::pack_loads(r.input(), r.lowered);
  CHECK(r.lowered.kernel.locals.empty());
}
