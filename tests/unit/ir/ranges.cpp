#include "ir/ranges.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "ir/builder.hpp"
#include "ir/forward_variables.hpp"
#include "support.hpp"

using namespace plait;
using namespace plait::ir;

namespace {

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// for i in range(n): x[index(i)] = 0, in a block that what is out of range leaves; the variable is
// kept in a local, as Python's is.
struct Filled {
  Builder b{"fill"};
  std::int32_t x, i, block, loop;
  Val n, extent, zero, eight;

  Filled() {
    b.sequential();
    x = b.buffer(DType::Int64, true);
    i = b.variable(DType::Int64);
    n = b.number({.op = Op::Param, .index = b.new_param()});
    extent = b.number({.op = Op::Param, .index = b.new_param()});
    zero = number(0);
    eight = number(8);
    block = b.open_if(kNone);
    loop = b.open_for(zero, n);
    b.store_local(i, {}, b.var(loop));
  }
  Val number(std::int64_t v) {
    return b.number({.op = Op::Const, .imm = Scalar::of(DType::Int64, v)});
  }
  Val get() { return b.load_local(i, {}); }
  Val of(OpId fn, Val x, Val y) { return b.apply(fn, DType::Int64, {x, y}); }
  void fill(Val at) {
    const CheckedIndex c = b.index(at, extent);
    b.leave(block, c.outside);
    b.scatter(OpId::Count_, x, {}, of(OpId::Multiply, c.index, eight), {1}, zero);
  }
  Kernel made() {
    b.close();
    b.close();
    const Kernel k = b.finish();
    verify(k);
    Kernel made = without_range_checks(forward_variables(k));
    verify(made);
    return made;
  }
  std::string rewritten() { return to_string(made()); }
};

}  // namespace

TEST_CASE("a loop runs without its checks where both ends are in range") {
  Filled f;
  f.fill(f.get());
  const std::string text = f.rewritten();
  INFO(text);
  CHECK(text ==
        "sequential kernel fill (2 params, b0: mut int64)\n"
        "grid %0 {\n"
        "  local l0: int64[1]\n"
        "  %8: int64 = 0\n"
        "  %9: int64 = 1\n"
        "  %11: int64 = 0\n"
        "  %15: int64 = 0\n"
        "  %30: bool = false\n"
        "  %1: int64 = p0\n"
        "  %2: int64 = p1\n"
        "  %3: int64 = 0\n"
        "  %4: int64 = 8\n"
        "  %5: int64 = 0\n"
        "  if 1: true {\n"
        "    %10: int64 = subtract %1 %9\n"
        "    %12: bool = less %3 %11\n"
        "    %13: bool = greater_equal %3 %2\n"
        "    %14: bool = logical_or %12 %13\n"
        "    %16: bool = less %10 %15\n"
        "    %17: bool = logical_or %14 %16\n"
        "    %18: bool = greater_equal %10 %2\n"
        "    %19: bool = logical_or %17 %18\n"
        "    %20: bool = logical_not %19\n"
        "    if 2: %20 {\n"
        "      for 3: %24 in %3..%1 {\n"
        "        store l0[0] %24\n"
        "        %26: bool = less %24 %5\n"
        "        %27: int64 = add %24 %2\n"
        "        %28: uint64 = cast %24\n"
        "        %29: uint64 = cast %2\n"
        "        break 1 if %30\n"
        "        %32: int64 = multiply %24 %4\n"
        "        scatter b0[0] at %32*1 %3\n"
        "      }\n"
        "    } else {\n"
        "      for 4: %35 in %3..%1 {\n"
        "        store l0[0] %35\n"
        "        %37: bool = less %35 %5\n"
        "        %38: int64 = add %35 %2\n"
        "        %39: int64 = where %37 %38 %35\n"
        "        %40: uint64 = cast %39\n"
        "        %41: uint64 = cast %2\n"
        "        %42: bool = greater_equal %40 %41\n"
        "        break 1 if %42\n"
        "        %44: int64 = multiply %39 %4\n"
        "        scatter b0[0] at %44*1 %3\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n");
}

TEST_CASE("which checks the ends of a loop decide") {
  Filled f;
  int versions = 2;
  SECTION("of an index that steps evenly") {
    f.fill(f.of(OpId::Subtract, f.of(OpId::Multiply, f.get(), f.n), f.extent));
  }
  SECTION("of one that does not change") { f.fill(f.extent); }
  SECTION("of overflow") {
    f.b.leave(f.block, f.b.push({.op = Op::Overflows,
                                 .type = DType::Bool,
                                 .fn = OpId::Add,
                                 .operands = {f.get(), f.n, kNone}}));
  }
  SECTION("a comparison, in front of a break") {
    f.b.open_if(f.b.apply(OpId::Greater, DType::Bool, {f.get(), f.extent}));
    f.b.leave(f.block);
    f.b.close();
  }
  SECTION("one of several that are joined") {
    const Val outside = f.b.index(f.get(), f.extent).outside;
    f.b.leave(f.block,
              f.b.apply(OpId::LogicalOr, DType::Bool,
                        {outside, f.b.apply(OpId::Equal, DType::Bool, {f.get(), f.zero})}));
  }
  SECTION("not of a product of two that step") {
    f.fill(f.of(OpId::Multiply, f.get(), f.get()));
    versions = 1;
  }
  SECTION("not of what is in memory") {
    f.fill(f.b.gather(f.x, {}, f.get(), {8}));
    versions = 1;
  }
  SECTION("not of a variable that the loop sets") {
    const std::int32_t other = f.b.variable(DType::Int64);
    f.fill(f.b.load_local(other, {}));
    f.b.store_local(other, {}, f.get());
    versions = 1;
  }
  SECTION("not of equality, which may hold in between") {
    f.b.leave(f.block, f.b.apply(OpId::Equal, DType::Bool, {f.get(), f.extent}));
    versions = 1;
  }
  SECTION("not of a condition that leaves nothing") {
    f.b.open_if(f.b.apply(OpId::Greater, DType::Bool, {f.get(), f.extent}));
    f.b.scatter(OpId::Count_, f.x, {}, f.zero, {1}, f.zero);
    f.b.close();
    versions = 1;
  }
  SECTION("not of a loop around others") {
    f.b.open_repeat();
    f.b.close_repeat(f.b.apply(OpId::Less, DType::Bool, {f.get(), f.extent}));
    f.fill(f.get());
    versions = 1;
  }
  const std::string text = f.rewritten();
  INFO(text);
  CHECK(count(text, " for ") == versions);
}

TEST_CASE("reads of variables name what was set") {
  Builder b("variables");
  b.sequential();
  const std::int32_t x = b.buffer(DType::Int64, true), v = b.variable(DType::Int64),
                     w = b.variable(DType::Int64);
  const Val one = b.number({.op = Op::Const, .imm = Scalar::of(DType::Int64, std::int64_t{1})});
  const Val yes = b.number({.op = Op::Const, .type = DType::Bool, .imm = scalar_bool(true)});
  const auto get = [&](std::int32_t l) {
    const Val read = b.load_local(l, {});
    b.scatter(OpId::Count_, x, {}, one, {8}, read);
  };
  b.store_local(v, {}, one);
  get(v);  // one
  get(w);  // read, once
  get(w);
  b.open_if(yes);
  get(v);  // one
  b.store_local(w, {}, one);
  get(w);  // one
  b.otherwise();
  get(w);  // as in front of the if
  b.close();
  get(w);  // read: set in a branch
  b.open_repeat();
  get(v);  // read: set below
  get(w);  // as in front of the loop
  b.store_local(v, {}, one);
  get(v);  // one
  b.close_repeat(yes);
  get(v);  // read
  const Kernel k = b.finish();
  verify(k);
  const Kernel made = forward_variables(k);
  verify(made);
  INFO(to_string(made));
  CHECK(count(to_string(k), "= load l") == 11);
  CHECK(count(to_string(made), "= load l") == 4);
}

TEST_CASE("what intervals decide in front of a nest is left out of all its loops") {
  Filled f;
  const std::int32_t inner = f.b.open_for(f.zero, f.n);
  const Val sum = f.of(OpId::Add, f.b.var(f.loop), f.b.var(inner));
  const CheckedIndex c = f.b.index(sum, f.extent);
  f.b.open_if(c.outside);
  f.b.leave(f.block);
  f.b.close();
  f.b.scatter(OpId::Count_, f.x, {}, f.of(OpId::Multiply, c.index, f.eight), {1}, f.zero);
  f.b.close();
  const std::string text = f.rewritten();
  INFO(text);
  // Both loops without the check; else the outer one, with the inner one in two versions.
  CHECK(count(text, "for ") == 5);
  CHECK(count(text, "break ") >= 1);
}

// for i in range(n): for j in range(i + 1, n), or range(i, -1, -1): x[j], as Python's are written
std::string triangle(bool down) {
  Filled f;
  const Val i = f.b.var(f.loop), one = f.number(1), minus_one = f.number(-1);
  const Val begin = down ? i : f.of(OpId::Add, i, one), end = down ? minus_one : f.n;
  const Val width = down ? f.of(OpId::Subtract, begin, end) : f.of(OpId::Subtract, end, begin);
  const std::int32_t inner = f.b.open_for(f.zero, f.of(OpId::Maximum, width, f.zero));
  const Val steps = f.of(OpId::Multiply, f.b.var(inner), down ? minus_one : one);
  const CheckedIndex c = f.b.index(f.of(OpId::Add, begin, steps), f.extent);
  f.b.open_if(c.outside);
  f.b.leave(f.block);
  f.b.close();
  f.b.scatter(OpId::Count_, f.x, {}, f.of(OpId::Multiply, c.index, f.eight), {1}, f.zero);
  f.b.close();
  return f.rewritten();
}

TEST_CASE("the index of a triangle lies between its own ends") {
  // What is compared with the extent: n - 1, the last end less one; and counted down, n - 1 as
  // well, the largest begin.
  for (const bool down : {false, true}) {
    const std::string text = triangle(down);
    INFO(text);
    const std::size_t check = text.find(" = greater_equal %");
    const std::size_t from = text.find('%', check) + 1;
    const std::string high = text.substr(from, text.find(' ', from) - from);
    const std::size_t made = text.find("%" + high + ": int64 = subtract %");
    CHECK(made < check);
  }
}

TEST_CASE("the copy that keeps its checks is marked as rare, and no other branch is") {
  Filled f;
  f.fill(f.get());
  const Kernel k = f.made();
  int rare = 0;
  for (const Loop& l : k.loops) {
    if (!l.rare) continue;
    ++rare;
    CHECK(l.kind == LoopKind::If);
    const auto counts = [&](const std::vector<Val>& block) {
      return std::count_if(block.begin(), block.end(), [&](Val v) {
        return k.insts[v].op == Op::For && k.loops[k.insts[v].index].kind == LoopKind::Count;
      });
    };
    CHECK(counts(l.body) == 1);
    CHECK(counts(l.otherwise) == 1);
  }
  CHECK(rare == 1);
}
