#include <catch2/catch.hpp>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/externals.hpp"
#include "support.hpp"

using namespace plait;
using namespace plait::ir;
using plait::test::find;
using plait::test::rejection;

namespace {

Val number(Builder& b, std::int64_t v) {
  return b.number({.op = Op::Const, .imm = Scalar::of(DType::Int64, v)});
}

// Of x[0], x[1] ... the first that is negative, or of which the sum overflows.
Kernel first() {
  Builder b("first");
  b.sequential();
  const std::int32_t x = b.buffer(DType::Int64, true), sum = b.variable(DType::Int64);
  const Val n = b.number({.op = Op::Param, .index = b.new_param()});
  const Val eight = number(b, 8), zero = number(b, 0);
  const std::int32_t all = b.open_if(kNone);
  const std::int32_t i = b.open_for(zero, n);
  const Val v = b.gather(x, {}, b.apply(OpId::Multiply, DType::Int64, {b.var(i), eight}), {1});
  const Val so_far = b.load_local(sum, {});
  b.leave(i, b.push({.op = Op::Overflows,
                     .type = DType::Bool,
                     .fn = OpId::Add,
                     .operands = {so_far, v, kNone}}));
  b.store_local(sum, {}, b.apply(OpId::Add, DType::Int64, {so_far, v}));
  b.open_if(b.apply(OpId::Less, DType::Bool, {v, zero}));
  b.leave(all);
  b.otherwise();
  b.scatter(OpId::Count_, x, {}, zero, {1}, v);
  b.close();
  b.close();
  b.close();
  b.open_repeat();
  const Val sine = b.push({.op = Op::External,
                           .type = DType::Float64,
                           .index = external("sin"),
                           .operands = {b.cast(zero, DType::Float64), kNone, kNone}});
  b.close_repeat(b.apply(OpId::Less, DType::Bool, {sine, b.cast(zero, DType::Float64)}));
  return b.finish();
}

}  // namespace

TEST_CASE("a sequential kernel prints its blocks and survives the disk") {
  const Kernel k = first();
  verify(k);
  CHECK(to_string(k) ==
        "sequential kernel first (1 params, b0: mut int64)\n"
        "grid %0 {\n"
        "  local l0: int64[1]\n"
        "  %1: int64 = p0\n"
        "  %2: int64 = 8\n"
        "  %3: int64 = 0\n"
        "  if 1: true {\n"
        "    for 2: %7 in %3..%1 {\n"
        "      %8: int64 = multiply %7 %2\n"
        "      %9: int64 = gather b0[0] at %8*1\n"
        "      %10: int64 = load l0[0]\n"
        "      %11: bool = overflows add %10 %9\n"
        "      break 2 if %11\n"
        "      %13: int64 = add %10 %9\n"
        "      store l0[0] %13\n"
        "      %15: bool = less %9 %3\n"
        "      if 3: %15 {\n"
        "        break 1\n"
        "      } else {\n"
        "        scatter b0[0] at %3*1 %9\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "  repeat 4: {\n"
        "    %22: float64 = cast %3\n"
        "    %23: float64 = call sin %22\n"
        "    %24: float64 = cast %3\n"
        "    %25: bool = less %23 %24\n"
        "  } while %25\n"
        "}\n");
  const Kernel back = deserialize(serialize(k));
  CHECK(serialize(back) == serialize(k));
  CHECK(back.sequential);
  Kernel other = first();
  other.loops[1].condition = find(other, Op::Break).operands[0];
  CHECK(serialize(other) != serialize(k));
  CHECK(bytes_of(k) > 0);
  // Both blocks of an if are part of the nest.
  CHECK(analyse(k).parent[3] == 2);
}

TEST_CASE("the verifier checks sequential kernels") {
  Kernel k = first();
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = first();
  };
  const Val number = find(k, Op::Gather).operands[0];
  SECTION("what only they may have") {
    k.sequential = false;
    rejects("only a sequential kernel has conditions and repeats");
    k.loops[2].scope = Scope::Lanes;
    rejects("takes lanes in a sequential kernel");
    k.locals[0].home = 2;
    rejects("a local is neither a variable nor memory of the grid");
    k.locals[0].count.value = 2;
    rejects("a local is neither a variable nor memory of the grid");
    k.locals[0].space = Space::Register;
    verify(k);
    for (const Space s : {Space::Shared, Space::Global}) {
      k.locals[0].space = s;
      rejects("is no thread's own in a sequential kernel");
    }
  }
  SECTION("conditions") {
    k.loops[3].condition = number;
    rejects("its condition is not bool");
    k.loops[1].condition = find(k, Op::Overflows).operands[0];
    rejects("its condition is not visible");
    k.loops[4].condition = 10'000;
    rejects("its condition does not exist");
    k.loops[4].condition = find(k, Op::Break).operands[0];
    rejects("its condition is not visible");
    k.loops[2].condition = k.loops[3].condition;
    rejects("counts and has a condition");
    k.loops[4].end = 1;
    rejects("counts nothing and has bounds");
    std::swap(k.loops[4].body, k.loops[4].otherwise);
    rejects("is not an if and has another block");
    k.loops[0].kind = LoopKind::Repeat;
    rejects("only a sequential kernel has conditions and repeats");
  }
  SECTION("breaks") {
    find(k, Op::Break).operands[0] = number;
    rejects("its condition is not bool");
    find(k, Op::Break).index = 4;
    rejects("leaves a loop that it does not stand in");
    find(k, Op::Break).index = 5;
    rejects("its index 5 is out of range");
  }
  SECTION("operations") {
    find(k, Op::Overflows).fn = OpId::Divide;
    rejects("overflows by no such operation");
    find(k, Op::Overflows).type = DType::Int64;
    rejects("its type is int64, not bool");
    find(k, Op::Overflows).operands[1] = kNone;
    rejects("operand 1 is missing");
    find(k, Op::External).index = static_cast<std::int32_t>(externals().size());
    rejects("is out of range");
    find(k, Op::External).index = external("pow");
    rejects("operand 1 is missing");
    find(k, Op::External).operands[0] = 1;
    rejects("an operand is not float64");
    find(k, Op::External).index = external("heap_alloc");
    rejects("an operand is not int64");
    find(k, Op::External).index = external("float_bits");
    rejects("its type is float64, not int64");
  }
  SECTION("heaps") {
    k.buffers[0].heap = true;
    CHECK(rejection(k).empty());
    k.buffers[0].written = false;
    rejects("is a heap that is not written");
  }
  SECTION("the variable of what does not count") {
    find(k, Op::External).operands[0] = k.loops[4].var;
    rejects("is not visible here");
  }
  SECTION("a block does not see the other one") {
    k.loops[3].otherwise.insert(k.loops[3].otherwise.begin(), k.loops[3].body.begin(),
                                k.loops[3].body.end());
    k.loops[3].body.clear();
    CHECK(rejection(k).empty());
  }
}
