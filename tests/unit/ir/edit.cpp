#include "ir/edit.hpp"

#include <catch2/catch.hpp>

#include "ir/builder.hpp"

using namespace plait;
using namespace plait::ir;

namespace {

Val only(const Kernel& k, std::int32_t l, Op op) {
  Val found = kNone;
  for (Val v : k.loops[l].body)
    if (k.insts[v].op == op) {
      REQUIRE(found == kNone);
      found = v;
    }
  REQUIRE(found != kNone);
  return found;
}

// out[i, j] = x[i, j]
Kernel copy_of_rows() {
  Builder b("copy");
  const std::int32_t x = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  const std::int32_t n = b.new_param(), row = b.new_param();
  const std::int32_t j = b.open_for(kNone, b.param(n));
  const Access at{{}, {{b.grid_var(), {0, row}}, {b.var(j), {8}}}};
  b.store(out, at, b.load(x, at));
  b.close();
  return b.finish();
}

// out[i] = sum of x[i, :], low[i] = min of x[i, :] + `of`
Kernel two_folds() {
  Builder b("two folds");
  const std::int32_t x = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  const std::int32_t n = b.new_param(), row = b.new_param();
  const Val end = b.param(n);
  const auto fold = [&](ReduceKind kind, Order order) {
    const std::int32_t j = b.open_reduce(kNone, end);
    const Val v = b.load(x, {{}, {{b.grid_var(), {0, row}}, {b.var(j), {8}}}});
    return b.close({{kind, v, order}})[0];
  };
  const Val sum = fold(ReduceKind::Sum, Order::Pairwise);
  const Val low = fold(ReduceKind::Min, Order::Any);
  b.store(out, {{}, {{b.grid_var(), {8}}}}, b.apply(OpId::Add, DType::Float64, {sum, low}));
  return b.finish();
}

int loads_of(const Kernel& k, Op op) {
  int n = 0;
  for_each_inst(k, 0, [&](Val v, std::int32_t) { n += k.insts[v].op == op; });
  return n;
}

}  // namespace

TEST_CASE("fused loops step as the inner one does") {
  Kernel k = copy_of_rows();
  fuse(k, 0, only(k, 0, Op::For));
  CHECK(loads_of(k, Op::For) == 0);
  const Access& a = k.accesses[k.insts[only(k, 0, Op::Load)].access];
  REQUIRE(a.terms.size() == 1);
  CHECK(a.terms[0].var == k.loops[0].var);
  CHECK(same(a.terms[0].stride, Coeff{8}));
  CHECK(loads_of(k, Op::Param) == 1);
}

TEST_CASE("joined loops yield the results of both") {
  Kernel k = two_folds();
  std::vector<Val> reduces;
  for (Val v : k.loops[0].body)
    if (k.insts[v].op == Op::Reduce) reduces.push_back(v);
  REQUIRE(reduces.size() == 2);
  join(k, reduces[0], reduces[1]);
  std::erase(k.loops[0].body, reduces[1]);
  const Loop& l = k.loops[k.insts[reduces[0]].index];
  REQUIRE(l.reductions.size() == 2);
  CHECK(l.reductions[1].kind == ReduceKind::Min);
  std::vector<int> results;
  for (Val v : k.loops[0].body)
    if (k.insts[v].op == Op::Result) {
      CHECK(k.insts[v].operands[0] == reduces[0]);
      results.push_back(k.insts[v].index);
    }
  CHECK(results == std::vector<int>{0, 1});
  for (Val v : l.body)
    if (k.insts[v].op == Op::Load) CHECK(k.accesses[k.insts[v].access].terms.back().var == l.var);
}

TEST_CASE("a row that a later loop reads again is kept by the first") {
  Kernel k = two_folds();
  std::vector<std::int32_t> loops;
  for (Val v : k.loops[0].body)
    if (opens_loop(k.insts[v])) loops.push_back(k.insts[v].index);
  stage(k, {.readers = {{loops[0], only(k, loops[0], Op::Load)},
                        {loops[1], only(k, loops[1], Op::Load)}},
            .home = 0,
            .count = {0, 0}});
  verify(k);
  CHECK(k.locals.size() == 1);
  CHECK(loads_of(k, Op::Load) == 1);
  CHECK(loads_of(k, Op::LoadLocal) == 1);
  CHECK(k.loops[loops[0]].body.back() == only(k, loops[0], Op::StoreLocal));
}

TEST_CASE("a row is copied in front of the loop that reads it") {
  Kernel k = two_folds();
  Val first = kNone;
  for (Val v : k.loops[0].body)
    if (first == kNone && opens_loop(k.insts[v])) first = v;
  const std::int32_t l = k.insts[first].index;
  const Val load = only(k, l, Op::Load);
  stage(k, {.readers = {{l, load}}, .home = 0, .count = {0, 0}, .before = first});
  verify(k);
  CHECK(loads_of(k, Op::Load) == 2);  // the copy's, and the second fold's own
  CHECK(only(k, 0, Op::For) < kNone);
}

TEST_CASE("a row goes to a local that is there, and its copy knows where it ends") {
  Kernel k = two_folds();
  Val second = kNone;
  for (Val v : k.loops[0].body)
    if (opens_loop(k.insts[v])) second = v;
  const std::int32_t l = k.insts[second].index;
  k.locals.push_back({DType::Float64, {0, 0}, 0});
  // The copy stands in front of all of the body, its end too.
  const Val front = k.loops[0].body.front();
  CHECK(stage(k, {.readers = {{l, only(k, l, Op::Load)}},
                  .home = 0,
                  .count = {0, 0},
                  .before = front,
                  .local = 0}) == 0);
  verify(k);
  CHECK(k.locals.size() == 1);
}

TEST_CASE("uses are replaced in operands, addresses, bounds and folds of one nest") {
  Kernel k = two_folds();
  std::vector<std::int32_t> loops;
  for (Val v : k.loops[0].body)
    if (opens_loop(k.insts[v])) loops.push_back(k.insts[v].index);
  const Val old = k.loops[loops[0]].end;
  const Val number = append(k, Inst{.op = Op::Param, .index = 1});
  insert_after(k.loops[0], old, number);
  replace_uses(k, 0, old, number);
  CHECK(k.loops[loops[0]].end == number);
  CHECK(k.loops[loops[1]].end == number);
  const Val load = only(k, loops[1], Op::Load);
  const Val other = append(k, k.insts[load]);
  k.loops[loops[1]].body.push_back(other);
  replace_uses(k, loops[1], load, other);
  CHECK(k.loops[loops[1]].reductions[0].value == other);
  verify(k);
}
