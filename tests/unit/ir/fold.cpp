// Folds that a loop reads as it goes, and values that it carries.
#include "ir/fold.hpp"

#include <catch2/catch.hpp>

#include "ir/analysis.hpp"
#include "support.hpp"

using namespace plait;
using namespace plait::ir;
using plait::test::find;
using plait::test::rejection;

TEST_CASE("a scan is a fold in order that its loop reads") {
  const auto scan = [] {
    Builder b("scan");
    const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
    const Val start = b.constant(Scalar::of(DType::Float64, 2.0)), n = b.param(0);
    const std::int32_t loop = b.open_reduce(kNone, n);
    const Access at{{}, {{b.grid_var(), {0, 1}}, {b.var(loop), {8}}}};
    const Val v = b.load(in, at);
    b.store(out, at, b.running(DType::Float64, 0));
    b.close({{.kind = ReduceKind::Sum, .value = v, .order = Order::Sequential, .init = start}});
    Kernel k = b.finish();
    k.params = 2;
    return k;
  };
  Kernel k = scan();
  verify(k);
  CHECK(to_string(k).find("running 0") != std::string::npos);
  CHECK(serialize(deserialize(serialize(k))) == serialize(k));
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = scan();
  };
  k.loops[1].reductions[0].order = Order::Pairwise;
  rejects("has a fold that cannot run");
  k.loops[1].reductions[0].kind = ReduceKind::FMax;
  rejects("has a fold that cannot run");
  k.loops[1].reductions.push_back(
      {.kind = ReduceKind::Sum, .value = k.loops[1].reductions[0].value, .order = Order::Pairwise});
  rejects("scans, and sums pairwise");
  find(k, Op::Running).index = 3;
  rejects("is the fold of no reduction of its loop");
  std::swap(k.loops[1].body[0], k.loops[1].body[1]);
  rejects("reads a fold before its value is there");
  k.loops[1].reductions[0].init = k.loops[1].reductions[0].value;
  rejects("which is not visible");
}

TEST_CASE("a loop carries values from one iteration to the next") {
  // (a, b) = (a + x, a + b): each step needs all that the one before has left.
  const auto carry = [] {
    Builder b("carry");
    const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
    const Val start = b.constant(Scalar::of(DType::Float64, 0.0)), n = b.param(0);
    const std::int32_t loop = b.open_reduce(kNone, n);
    const Val x = b.load(in, {{}, {{b.var(loop), {8}}}});
    const Val first = b.carried(DType::Float64, 0), second = b.carried(DType::Float64, 1);
    const auto next = [&](Val p, Val q) {
      return Reduction{.kind = ReduceKind::Last,
                       .value = b.apply(OpId::Add, DType::Float64, {p, q}),
                       .order = Order::Sequential,
                       .init = start};
    };
    const Val end = b.close({next(first, x), next(first, second)})[1];
    b.store(out, {{}, {{b.grid_var(), {8}}}}, end);
    return b.finish();
  };
  Kernel k = carry();
  verify(k);
  CHECK(to_string(k).find("carried 1") != std::string::npos);
  CHECK(serialize(deserialize(serialize(k))) == serialize(k));
  CHECK(scans(k, 1));
  k.loops[0].scope = Scope::Lanes;
  CHECK(analyse(k).folds_apart(1, k.loops[1].reductions[0]));
  k = carry();
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = carry();
  };
  k.loops[1].reductions[0].init = kNone;
  rejects("carries a value from nothing");
  k.loops[1].reductions[0].order = Order::Any;
  rejects("carries a value in no order");
  k.loops[1].scope = Scope::Lanes;
  rejects("carries a value from lane to lane");
  find(k, Op::Carried).type = DType::Float32;
  rejects("its type is float32, not float64");
  find(k, Op::Carried).index = 2;
  rejects("is the fold of no reduction of its loop");
  for (Val v = 0; v < k.insts.size(); ++v)
    if (k.insts[v].op == Op::Carried) k.loops[1].reductions[0].value = v;
  rejects("which it carries");
  k.loops[1].reductions.push_back(
      {.kind = ReduceKind::Sum, .value = k.loops[1].reductions[0].value, .order = Order::Pairwise});
  rejects("scans, and sums pairwise");
  k.loops[1].reductions[0] = {
      .kind = ReduceKind::Sum, .value = k.loops[1].reductions[0].value, .order = Order::Sequential};
  rejects("finds what its loop does not carry");
}

TEST_CASE("arg-reductions that a loop carries give the places that they are") {
  Builder b("places");
  const auto in = b.buffer(DType::Float64, false), out = b.buffer(DType::Int64, true);
  const std::int32_t loop = b.open_reduce(kNone, b.param(0));
  const Val x = b.load(in, {{}, {{b.grid_var(), {0, 1}}, {b.var(loop), {8}}}});
  b.loop(loop).scope = Scope::Lanes;
  const std::vector<Val> places = b.close({{ReduceKind::ArgMin, x}, {ReduceKind::ArgMax, x}});
  for (std::int64_t n : {0, 1})
    b.store(out, {{n * 8}, {{b.grid_var(), {16}}}}, places[static_cast<std::size_t>(n)]);
  Kernel k = b.finish();
  k.params = 2;
  carry_places(k, [](const Reduction& r) { return r.kind == ReduceKind::ArgMax; });
  verify(k);
  const Loop& l = k.loops[1];
  CHECK_FALSE(l.lanes());
  REQUIRE(l.reductions.size() == 3);
  CHECK(l.reductions[0].kind == ReduceKind::ArgMin);
  CHECK(l.reductions[1].kind == ReduceKind::Last);
  CHECK(k.insts[l.reductions[1].value].type == DType::Int64);
  CHECK(k.insts[l.reductions[2].value].type == DType::Float64);
}
