// The PTX that other tests run: what the ISA says of single instructions, and the faults that are
// found.
#include "../../cuda/ptx.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

namespace {

constexpr unsigned kThreads = 64;

struct Ran {
  std::vector<std::uint64_t> out;  // of each thread
  std::string fault;
};

// A kernel of one block whose threads have their number in %r1 and what follows it from memory in
// %r2; what they leave in %rd1 comes out.
Ran run(const std::string& body, emulated::Order order = emulated::Order::Forward) {
  const std::string text =
      "//\n.version 8.0\n.target sm_90\n.address_size 64\n"
      ".extern .shared .align 16 .b8 shared_memory[];\n"
      ".visible .entry kernel(\n.param .align 8 .b8 kernel_param_0[8]\n)\n.maxntid 64, 1, 1\n{\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .f64 %d<9>; "
      ".reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd8, [kernel_param_0];\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd7, %r1, 8;\nadd.s64 %rd7, %rd8, %rd7;\n" +
      body + "st.global.u64 [%rd7], %rd1;\nret;\n}\n";
  const auto module = ptx::parse(text);
  Ran ran;
  ran.out.resize(kThreads);
  const std::uint64_t* at = ran.out.data();
  const emulated::Range memory{at, kThreads * 8};
  const emulated::Launch launch{1, kThreads, 512, order, &memory, 1};
  const char* fault = ptx::run(*module, *ptx::find(*module, "kernel"), &at, launch);
  if (fault) ran.fault = fault;
  return ran;
}
std::uint64_t value(const std::string& body) {
  const Ran ran = run(body);
  CHECK(ran.fault == "");
  return ran.out[0];
}
// An instruction with a result of 32 bits.
std::uint64_t narrow(const std::string& instruction) {
  return value(instruction + "\ncvt.u64.u32 %rd1, %r3;\n");
}

}  // namespace

TEST_CASE("conversions saturate, and NaN is 0 or the lowest number, as the ISA has it") {
  const std::string nan = "mov.f32 %f1, 0f7FC00000; mov.f64 %d1, 0d7FF8000000000000;\n";
  CHECK(narrow(nan + "cvt.rzi.s32.f32 %r3, %f1;") == 0);
  CHECK(narrow(nan + "cvt.rzi.s32.f64 %r3, %d1;") == 0x80000000);
  CHECK(value(nan + "cvt.rzi.s64.f32 %rd1, %f1;") == std::uint64_t{1} << 63);
  const std::string large = "mov.f32 %f1, 0f4F800000; mov.f32 %f2, 0fBFC00000;\n";  // 2^32, -1.5
  CHECK(narrow(large + "cvt.rzi.s32.f32 %r3, %f1;") == 0x7fffffff);
  CHECK(narrow(large + "cvt.rzi.u32.f32 %r3, %f1;") == 0xffffffff);
  CHECK(narrow(large + "cvt.rzi.u32.f32 %r3, %f2;") == 0);
  CHECK(narrow(large + "cvt.rmi.s32.f32 %r3, %f2;") == 0xfffffffe);
  CHECK(narrow(large + "cvt.rzi.s32.f32 %r3, %f2;") == 0xffffffff);
  CHECK(narrow("mov.u32 %r2, 511; cvt.s8.s32 %r3, %r2;") == 0xffffffff);
  CHECK(narrow("mov.u32 %r2, 511; cvt.u8.u32 %r3, %r2;") == 255);
  // Halves go to even; a float64 goes to float16 in one rounding.
  CHECK(narrow("mov.f64 %d1, 0d3FF0020000000001; cvt.rn.f16.f64 %h1, %d1; cvt.u32.u16 %r3, %h1;") ==
        0x3c01);
}

TEST_CASE("shifts beyond the width, bit fields, bytes and carries") {
  CHECK(narrow("mov.u32 %r2, 5; shl.b32 %r3, %r2, 32;") == 0);
  CHECK(narrow("mov.u32 %r2, -5; shr.s32 %r3, %r2, 99;") == 0xffffffff);
  CHECK(narrow("mov.u32 %r2, 1; mov.u32 %r4, 2; shf.l.wrap.b32 %r3, %r2, %r4, 33;") == 4);
  CHECK(narrow("mov.u32 %r2, 0x1234; bfe.s32 %r3, %r2, 4, 4;") == 3);
  CHECK(narrow("mov.u32 %r2, 0x12F4; bfe.s32 %r3, %r2, 4, 4;") == 0xffffffff);
  CHECK(narrow("mov.u32 %r2, 0xF; bfi.b32 %r3, %r2, 0, 8, 2;") == 0x300);
  CHECK(
      narrow("mov.u32 %r2, 0x44332211; mov.u32 %r4, 0x88776655; prmt.b32 %r3, %r2, %r4, 0x7410;") ==
      0x88552211);
  CHECK(narrow("mov.u32 %r2, 12; mov.u32 %r4, 10; lop3.b32 %r3, %r2, %r4, 6, 0x96;") ==
        (12 ^ 10 ^ 6));
  CHECK(value("mov.b64 %rd1, -1; mul.hi.u64 %rd1, %rd1, %rd1;") == 0xfffffffffffffffe);
  CHECK(narrow("mov.u32 %r2, -1; add.cc.u32 %r4, %r2, 1; addc.u32 %r3, 5, 0;") == 6);
  CHECK(narrow("mov.u32 %r2, 0; sub.cc.u32 %r4, %r2, 1; subc.u32 %r3, 5, 0;") == 4);
  CHECK(value("mov.u32 %r2, 7; mov.u32 %r3, 9; mov.b64 %rd1, {%r2, %r3};") == 0x900000007);
}

TEST_CASE("floats: roundings, subnormals, signs of zero, NaN") {
  const std::string third = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000;\n";  // 1, 3
  const std::string bits = "mov.b32 %r3, %f3;";
  CHECK(narrow(third + "div.rn.f32 %f3, %f1, %f2;" + bits) == 0x3eaaaaab);
  CHECK(narrow(third + "add.rz.f32 %f3, %f1, 0f33000001;" + bits) == 0x3f800000);
  CHECK(narrow(third + "add.rp.f32 %f3, %f1, 0f33000001;" + bits) == 0x3f800001);
  CHECK(narrow("mov.f32 %f1, 0f00000001; mul.ftz.f32 %f3, %f1, 0f4B000000;" + bits) == 0);
  CHECK(narrow("mov.f32 %f1, 0f80000000; min.f32 %f3, %f1, 0f00000000;" + bits) == 0x80000000);
  CHECK(narrow("mov.f32 %f1, 0f7FC00001; max.f32 %f3, %f1, 0f3F800000;" + bits) == 0x3f800000);
  CHECK(narrow("mov.f32 %f1, 0f7FC00001; max.NaN.f32 %f3, %f1, 0f3F800000;" + bits) == 0x7fffffff);
  CHECK(value("mov.f64 %d1, 0d7FF8000000000000; setp.neu.f64 %p1, %d1, %d1; selp.b64 %rd1, 1, 2, "
              "%p1;") == 1);
  CHECK(value("mov.f64 %d1, 0d7FF8000000000000; setp.ne.f64 %p1, %d1, %d1; selp.b64 %rd1, 1, 2, "
              "%p1;") == 2);
  CHECK(value("mov.f64 %d1, 0d4008000000000000; rcp.approx.ftz.f64 %d2, %d1; mov.b64 %rd1, %d2;") ==
        0x3fd5555500000000);
}

TEST_CASE("branches, calls and memory of functions") {
  CHECK(
      value(
          "mov.b64 %rd1, 0; mov.u32 %r3, 0;\n$loop:\nadd.s64 %rd1, %rd1, 3; add.s32 %r3, %r3, 1;\n"
          "setp.lt.s32 %p1, %r3, 5;\n@%p1 bra $loop;\n") == 15);
  CHECK(value("mov.u32 %r3, 7;\n{\n.reg .u32 %r3, %lo;\nmov.u32 %r3, 9;\n}\ncvt.u64.u32 %rd1, "
              "%r3;\n") == 7);
  CHECK(run("mov.b64 %rd1, 1; setp.gt.u32 %p1, %r1, 9;\n@!%p1 bra $end;\nmov.b64 %rd1, 2;\n$end:\n")
            .out[10] == 2);
  const auto module = ptx::parse(
      "//\n.func (.param .b32 result) twice(.param .b32 twice_param_0)\n{\n.reg .b32 %r<3>;\n"
      ".local .align 4 .b8 depot[8];\n.reg .b64 %rd<3>;\nmov.u64 %rd1, depot;\n"
      "ld.param.u32 %r1, [twice_param_0];\nst.local.u32 [%rd1+4], %r1;\nld.local.u32 %r2, "
      "[%rd1+4];\n"
      "add.s32 %r2, %r2, %r1;\nst.param.b32 [result], %r2;\nret;\n}\n"
      ".visible .entry kernel(.param .u64 kernel_param_0)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
      "mov.u32 %r1, 21;\n{\n.param .b32 param0;\nst.param.b32 [param0], %r1;\n.param .b32 "
      "retval0;\n"
      "call.uni (retval0),\ntwice,\n(\nparam0\n);\nld.param.b32 %r2, [retval0];\n}\n"
      "ld.param.u64 %rd1, [kernel_param_0];\nst.global.u32 [%rd1], %r2;\nret;\n}\n");
  int out = 0;
  const int* at = &out;
  const emulated::Range memory{&out, sizeof out};
  CHECK(ptx::run(*module, *ptx::find(*module, "kernel"), &at,
                 {1, 1, 0, emulated::Order::Forward, &memory, 1}) == nullptr);
  CHECK(out == 42);
}

TEST_CASE("atomic minima: the least number of all threads stays") {
  const std::string begin =
      "mov.b64 %rd2, -1; st.global.u64 [%rd7], %rd2; bar.sync 0;\n"
      "xor.b32 %r2, %r1, 21; add.s32 %r2, %r2, 5; cvt.u64.u32 %rd3, %r2;\n";
  const std::string end = "bar.sync 0; ld.global.u64 %rd1, [%rd8]; bar.sync 0;\n";
  CHECK(value(begin + "atom.global.min.u64 %rd1, [%rd8], %rd3;\n" + end) == 5);
  CHECK(value(begin + "red.global.min.u64 [%rd8], %rd3;\n" + end) == 5);
  // What was there before.
  CHECK(value(begin + "atom.global.min.u64 %rd1, [%rd7], %rd3;\n") == 0xffffffffffffffff);
  CHECK_THROWS(run("atom.global.add.u64 %rd1, [%rd8], %rd3;\n"));
}

TEST_CASE("missing and divergent barriers, races, stray and misaligned addresses are found") {
  const std::string mine =
      "mov.u32 %r3, shared_memory; shl.b32 %r4, %r1, 3; add.s32 %r3, %r3, %r4;\n"
      "cvt.u64.u32 %rd1, %r1; st.shared.u64 [%r3], %rd1;\n";
  const std::string neighbour =
      "xor.b32 %r5, %r1, 1; shl.b32 %r5, %r5, 3; mov.u32 %r6, shared_memory; add.s32 %r5, %r5, "
      "%r6;\n"
      "ld.shared.u64 %rd1, [%r5];\n";
  const std::string half = "setp.gt.u32 %p1, %r1, 39;\n@%p1 bra $over;\n";
  for (const emulated::Order order :
       {emulated::Order::Forward, emulated::Order::Backward, emulated::Order::Shuffled}) {
    const Ran right = run(mine + "bar.sync 0;\n" + neighbour, order);
    CHECK(right.fault == "");
    CHECK(right.out[6] == 7);
    CHECK(run(mine + "bar.warp.sync 0xffffffff;\n" + neighbour, order).out[6] == 7);
    CHECK_THAT(run(mine + neighbour, order).fault, Catch::Contains("a race"));
    CHECK_THAT(run(half + "bar.sync 0;\n$over:\nmov.b64 %rd1, 0;\n", order).fault,
               Catch::Contains("not every thread reaches"));
    const Ran shuffled =
        run("shfl.sync.idx.b32 %r3|%p1, %r1, 5, 31, -1;\ncvt.u64.u32 %rd1, %r3;\n", order);
    CHECK(shuffled.out[40] == 37);
    CHECK_THAT(run("shfl.sync.idx.b32 %r3|%p1, %r1, 5, 31, 0xff;\n", order).fault,
               Catch::Contains("leaves out the caller"));
    CHECK_THAT(run("shfl.sync.down.b32 %r3|%p1, %r1, 8, 31, -1;\n" + half +
                       "shfl.sync.idx.b32 %r3|%p1, %r1, 0, 31, -1;\n$over:\n",
                   order)
                   .fault,
               Catch::Contains("not every thread reaches"));
  }
  CHECK_THAT(run("ld.global.u64 %rd1, [%rd7+8];\n").fault,
             Catch::Contains("outside") && Catch::Contains("thread 63"));
  CHECK_THAT(run("ld.global.u64 %rd1, [%rd7+4];\n").fault, Catch::Contains("misaligned"));
  CHECK_THAT(run("ld.global.v2.u32 {%r3, %r4}, [%rd8+4];\n").fault, Catch::Contains("misaligned"));
  CHECK_THAT(run("ld.shared.u64 %rd1, [shared_memory+512];\n").fault, Catch::Contains("outside"));
}

TEST_CASE("what is not known here is not passed over") {
  CHECK_THROWS_WITH(run("wgmma.fence.sync.aligned;\n"),
                    Catch::Contains("unknown instruction wgmma"));
  CHECK_THROWS_WITH(run("add.rn.bf16 %h1, %h1, %h1;\n"), Catch::Contains("unknown modifier"));
  CHECK_THROWS_WITH(run(".shared .align 4 .b8 fixed[64];\n"), Catch::Contains("a fixed size"));
  CHECK_THROWS_WITH(run("mov.u32 %r3, %clock;\n"), Catch::Contains("unknown operand %clock"));
}
