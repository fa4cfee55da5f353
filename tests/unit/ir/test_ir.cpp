#include <catch2/catch.hpp>

#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "support.hpp"

using namespace plait;
using namespace plait::ir;
using plait::test::find;
using plait::test::rejection;

namespace {

// out[i] = sum over j of (x[i, j] * s), with the grid loop as the vector loop.
Kernel row_sums() {
  Builder b("row_sums");
  b.loop(0).scope = Scope::Lanes;
  b.loop(0).unroll = 4;
  std::int32_t x = b.buffer(DType::Float64, false), out = b.buffer(DType::Float64, true);
  Val s = b.arg(DType::Float64);
  std::int32_t n = b.new_param();
  std::int32_t j = b.open_reduce(kNone, b.param(n));
  Val v = b.load(x, {{}, {{b.grid_var(), {0, b.new_param()}}, {b.var(j), {8}}}});
  Val scaled = b.apply(OpId::Multiply, DType::Float64, {v, s});
  Val sum = b.close({{ReduceKind::Sum, scaled, Order::Pairwise}})[0];
  b.store(out, {{}, {{b.grid_var(), {8}}}}, sum);
  return b.finish();
}

}  // namespace

TEST_CASE("a sound kernel is accepted and prints one instruction a line") {
  Kernel k = row_sums();
  verify(k);
  CHECK(to_string(k) ==
        "kernel row_sums (2 params, s0: float64, b0: float64, b1: mut float64)\n"
        "grid %0 vector unroll=4 {\n"
        "  %1: float64 = s0\n"
        "  %2: int64 = p0\n"
        "  %3 = reduce %4 in 0..%2 {\n"
        "    %5: float64 = load b0[0 + %0*p1 + %4*8]\n"
        "    %6: float64 = multiply %5 %1\n"
        "    yield 0: sum %6 pairwise\n"
        "  }\n"
        "  %7: float64 = result %3 0\n"
        "  store b1[0 + %0*8] %7\n"
        "}\n");
}

TEST_CASE("the analysis tells what differs from lane to lane") {
  Kernel k = row_sums();
  Analysis a = analyse(k);
  CHECK(a.parent[1] == 0);
  CHECK(a.vector_loop[1] == 0);
  CHECK(a.varies[0]);
  CHECK_FALSE(a.varies[1]);  // the scalar argument
  CHECK_FALSE(a.varies[4]);  // j
  CHECK(a.varies[5]);
  CHECK(a.varies[7]);
  k.loops[0].scope = Scope::Grid;
  k.loops[1].scope = Scope::Lanes;
  a = analyse(k);
  CHECK_FALSE(a.varies[0]);
  CHECK(a.varies[5]);
  CHECK_FALSE(a.varies[7]);  // a vector reduction's result
}

TEST_CASE("the verifier rejects what breaks the contract") {
  Kernel k = row_sums();
  auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = row_sums();
  };
  SECTION("types") {
    find(k, Op::Apply).type = DType::Float32;
    rejects("its type is float32, not float64");
    find(k, Op::Apply).fn = OpId::BitwiseAnd;
    rejects("has no loop for float64");
    k.scalars[0] = DType::Float32;
    rejects("its type is float64, not float32");
    k.buffers[0].dtype = DType::Int64;
    rejects("its type is float64, not int64");
    find(k, Op::Apply).operands[1] = 2;
    rejects("operands differ in dtype");
  }
  SECTION("indices") {
    find(k, Op::Param).index = 5;
    rejects("out of range");
    find(k, Op::Load).access = 9;
    rejects("access");
    k.accesses[0].terms[0].stride.param = 7;
    rejects("names parameter 7 of 2");
    find(k, Op::Result).index = 1;
    rejects("out of range");
    k.loops[0].body.push_back(5);
    rejects("stands in two places");
    k.loops[0].body.pop_back();
    rejects("stands in no block");
    k.loops[1].var = 0;
    rejects("stands in two places");
  }
  SECTION("visibility") {
    find(k, Op::Store).operands[0] = 6;
    rejects("is not visible here");
    std::swap(k.loops[1].body[0], k.loops[1].body[1]);
    rejects("is not visible here");
    k.loops[1].reductions[0].value = 1;
    rejects("which its body does not define");
    k.loops[1].end = 5;
    rejects("a bound is not visible");
  }
  SECTION("loops") {
    k.loops[1].scope = Scope::Lanes;
    rejects("a vector loop inside a vector loop");
    k.loops[1].end = kNone;
    rejects("has no end");
    k.loops[0].end = 2;
    rejects("its bounds come from the call");
    k.loops[1].reductions[0].order = Order::Any;
    rejects("needs an order");
    k.loops[1].reductions[0].kind = ReduceKind::Any;
    rejects("reduce bool");
    k.loops[1].reductions[0].guarded_sqrt = true;
    rejects("guarded_sqrt");
  }
  SECTION("memory") {
    k.buffers[1].written = false;
    rejects("not written");
    k.accesses[1].terms.clear();
    rejects("every lane stores to one address");
    k.buffers[0].written = true;
    rejects("reads a written buffer");
    k.accesses[0].terms[0].var = 1;
    rejects("is not int64");
  }
}

TEST_CASE("lanes address memory only by the vector variable itself") {
  Builder b("gather");
  b.loop(0).scope = Scope::Lanes;
  std::int32_t x = b.buffer(DType::Int64, false), out = b.buffer(DType::Int64, true);
  Val i = b.load(x, {{}, {{b.grid_var(), {8}}}});
  Val v = b.load(x, {{}, {{i, {8}}}});
  b.store(out, {{}, {{b.grid_var(), {8}}}}, v);
  CHECK(rejection(b.finish()).find("not affine") != std::string::npos);
}

TEST_CASE("a written buffer is read where it is stored") {
  Builder b("update");
  b.loop(0).scope = Scope::Lanes;
  std::int32_t x = b.buffer(DType::Float32, true);
  Access a{{}, {{b.grid_var(), {4}}}};
  Val v = b.load(x, a);
  b.store(x, a, b.apply(OpId::Square, DType::Float32, {v}));
  CHECK(rejection(b.finish()).empty());
}

TEST_CASE("a fold of Bool in memory may stop at the value that decides it") {
  const auto decides = [](ReduceKind kind, DType element, bool computed) {
    Builder b("truth");
    const std::int32_t x = b.buffer(element, false), out = b.buffer(DType::Bool, true);
    const std::int32_t j = b.open_reduce(kNone, b.param(b.new_param()));
    Val v = b.load(x, {{}, {{b.var(j), {1}}}});
    if (computed) v = b.apply(OpId::LogicalNot, DType::Bool, {v});
    const Val fold = b.close({{kind, v, Order::Any}})[0];
    if (element == DType::Bool && kind != ReduceKind::ArgMax)
      b.store(out, {{}, {{b.grid_var(), {1}}}}, fold);
    return deciding_value(b.finish(), j);
  };
  CHECK(decides(ReduceKind::Any, DType::Bool, false) == true);
  CHECK(decides(ReduceKind::ArgMax, DType::Bool, false) == true);
  CHECK(decides(ReduceKind::Min, DType::Bool, false) == false);
  CHECK(decides(ReduceKind::Max, DType::Int8, false) == std::nullopt);
  CHECK(decides(ReduceKind::Sum, DType::Bool, false) == std::nullopt);
  CHECK(decides(ReduceKind::Any, DType::Bool, true) == std::nullopt);
}

TEST_CASE("serialisation keeps everything but the name and the tiles") {
  Kernel k = row_sums();
  std::string bytes = serialize(k);
  Kernel back = deserialize(bytes);
  CHECK(serialize(back) == bytes);
  back.name = k.name;
  CHECK(to_string(back) == to_string(k));
  Kernel renamed = k;
  renamed.name = "other";
  CHECK(serialize(renamed) == bytes);
  Kernel tiled = k;
  tiled.loops[1].tile = true;
  CHECK(serialize(tiled) == bytes);

  Kernel other = k;
  other.loops[0].unroll = 2;
  CHECK(serialize(other) != bytes);
  other = k;
  other.accesses[0].terms[1].stride.value = 16;
  CHECK(serialize(other) != bytes);
  other = k;
  other.accesses[0].terms[0].stride.value = 3;  // a parameter's coefficient has no value
  CHECK(serialize(other) == bytes);
}

TEST_CASE("damaged bytes are refused") {
  std::string bytes = serialize(row_sums());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    CHECK_THROWS_AS(deserialize(bad), InternalError);
    CHECK_THROWS_AS(deserialize(std::string_view(bytes).substr(0, at)), InternalError);
  }
  CHECK_THROWS_AS(deserialize(bytes + "x"), InternalError);
}

TEST_CASE("scratch counts locals, a copy for every lane inside a vector loop") {
  Builder b("locals");
  std::int32_t n = b.new_param();
  std::int32_t row = b.local(DType::Float64, {0, n});
  std::int32_t j = b.open_for(kNone, b.param(n));
  b.loop(j).scope = Scope::Lanes;
  std::int32_t lane = b.local(DType::Float32, {3});
  Val v = b.load_local(row, {{}, {{b.var(j), {1}}}});
  b.store_local(lane, {{2}, {}}, b.cast(v, DType::Float32));
  b.close();
  Kernel k = b.finish();
  verify(k);
  std::int64_t params[] = {10};
  CHECK(scratch_bytes(k, params, 8) == 128 + 128);
  CHECK(local_offsets(k, params, 16) == std::vector<std::size_t>{0, 128, 128 + 192});

  k.accesses[1].terms.push_back({k.loops[1].var, {1}});
  CHECK(rejection(k).find("addressed by the lane") != std::string::npos);
}

TEST_CASE("the builder wants its loops closed") {
  Builder b("open");
  b.open_for(kNone, b.constant_index(3));
  CHECK_THROWS_AS(b.finish(), InternalError);
  b.close();
  CHECK_THROWS_AS(b.close(), InternalError);
}

namespace {

// C = A * B of 3 x 2 and 2 x 4 elements, packed by whoever comes before.
Kernel one_product() {
  Builder b("product");
  const std::int32_t x = b.local(DType::Float32, {8}), y = b.local(DType::Float32, {8}),
                     z = b.local(DType::Float32, {12});
  const Val m = b.constant_index(3), n = b.constant_index(4), k = b.constant_index(2);
  b.fragment({.a = {x, -1, 4, {8}, {4}},
              .b = {y, -1, 4, {0, b.new_param()}, {4}},
              .local = z,
              .row = {4},
              .block = b.grid_var()},
             {}, {{1}, {}}, {{}, {{b.grid_var(), {0}}}}, m, n, k);
  return b.finish();
}

}  // namespace

TEST_CASE("a product prints, survives the disk, and is checked") {
  Kernel k = one_product();
  verify(k);
  CHECK(
      to_string(k).find("fragment l2[0 + %0*0] rows 4, l0[0] by 4 every 8 step 4, l1[1] by 4 every "
                        "p0 step 4, %1 x %2 x %3 block %0") != std::string::npos);
  const Kernel back = deserialize(serialize(k));
  CHECK(to_string(back).substr(7) == to_string(k).substr(14));
  CHECK(multiplies(k, 0));
  CHECK_FALSE(multiplies(row_sums(), 0));
  k.fragments[0].a.width = 2;
  CHECK(serialize(k) != serialize(back));
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = one_product();
  };
  k = one_product();
  k.loops[0].scope = Scope::Lanes;
  rejects("stands in a vector loop");
  k.locals[1].dtype = DType::Float64;
  rejects("multiplies float32 by float64");
  k.locals[0].dtype = DType::Int64;
  rejects("multiplies int64 by float32");
  find(k, Op::Fragment).type = DType::Float64;
  rejects("its type is float64, not float32");
  k.locals[0].dtype = k.locals[1].dtype = DType::Float16;
  verify(k);  // sums of halves are floats
  k.locals[0].dtype = DType::Float32;
  verify(k);
  k.locals[2].dtype = DType::Float16;
  rejects("its type is float32, not float16");
  k.fragments[0].local = 0;
  rejects("overwrites an operand");
  k.fragments[0].b.access = 9;
  rejects("names no local or no access");
  k.fragments[0].b.width = 0;
  rejects("have no width");
  k.fragments[0].block = kNone;
  rejects("is of no block");
  k.fragments[0].b.stride.param = 4;
  rejects("names parameter 4 of 1");
  find(k, Op::Fragment).operands[2] = kNone;
  rejects("is missing");
  find(k, Op::Fragment).index = 1;
  rejects("out of range");
}

namespace {

// out[i] = x[i % 4 (a column), index[i] (a row)], with lanes along i.
Kernel one_gather() {
  Builder b("gather");
  b.loop(0).scope = Scope::Lanes;
  const std::int32_t x = b.buffer(DType::Float32, false), at = b.buffer(DType::Int64, false),
                     out = b.buffer(DType::Float32, true);
  const Val index = b.load(at, {{}, {{b.grid_var(), {8}}}});
  const Val v = b.gather(x, {{16}, {{b.grid_var(), {4}}}}, index, {0, b.new_param()});
  b.store(out, {{}, {{b.grid_var(), {4}}}}, v);
  return b.finish();
}

}  // namespace

TEST_CASE("a gather prints, survives the disk, and is checked") {
  Kernel k = one_gather();
  verify(k);
  CHECK(to_string(k).find("%2: float32 = gather b0[16 + %0*4] at %1*p0") != std::string::npos);
  CHECK(to_string(deserialize(serialize(k))).substr(7) == to_string(k).substr(13));
  CHECK(analyse(k).varies[2]);
  Kernel other = one_gather();
  find(other, Op::Gather).stride = {4};
  CHECK(serialize(k) != serialize(other));
  // Only the index differs from lane to lane.
  k.accesses[1].terms.clear();
  CHECK(analyse(k).varies[2]);
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = one_gather();
  };
  k = one_gather();
  k.buffers[0].written = true;
  rejects("gathers from a written buffer");
  find(k, Op::Gather).operands[0] = kNone;
  rejects("operand 0 is missing");
  k.buffers[1].dtype = find(k, Op::Load).type = DType::Float32;
  rejects("its index is not int64");
  find(k, Op::Gather).type = DType::Float64;
  rejects("its type is float64, not float32");
  find(k, Op::Gather).stride.param = 3;
  rejects("a gather names parameter 3 of 1");
  find(k, Op::Gather).access = -1;
  rejects("its access is missing");
}

namespace {

// table[i][index[j], a column] += x[j], with lanes along j.
Kernel one_scatter() {
  Builder b("scatter");
  const std::int32_t at = b.buffer(DType::Int64, false), x = b.buffer(DType::Float64, false),
                     table = b.buffer(DType::Float64, true);
  const std::int32_t j = b.open_for(kNone, b.constant_index(9));
  b.loop(j).scope = Scope::Lanes;
  const Val index = b.load(at, {{}, {{b.var(j), {8}}}});
  const Val v = b.load(x, {{}, {{b.var(j), {8}}}});
  const std::int32_t column = b.open_for(kNone, b.constant_index(2));
  b.scatter(OpId::Add, table, {{}, {{b.grid_var(), {64}}, {b.var(column), {8}}}}, index, {16}, v);
  b.close();
  b.close();
  return b.finish();
}

}  // namespace

TEST_CASE("a scatter prints, survives the disk, and is checked") {
  Kernel k = one_scatter();
  verify(k);
  CHECK(to_string(k).find("scatter b2[0 + %0*64 + ") != std::string::npos);
  CHECK(to_string(k).find("*16 add %") != std::string::npos);
  CHECK(to_string(deserialize(serialize(k))).substr(7) == to_string(k).substr(14));
  Kernel other = one_scatter();
  find(other, Op::Scatter).fn = OpId::Maximum;
  CHECK(serialize(k) != serialize(other));
  const auto rejects = [&](const std::string& why) {
    INFO("wanted: " << why << "\ngot: " << rejection(k));
    CHECK(rejection(k).find(why) != std::string::npos);
    k = one_scatter();
  };
  k.buffers[2].written = false;
  rejects("scatters to a buffer that is not written");
  find(k, Op::Scatter).operands[1] = kNone;
  rejects("operand 1 is missing");
  find(k, Op::Scatter).operands[1] = find(k, Op::Scatter).operands[0];
  rejects("its value is of another dtype");
  find(k, Op::Scatter).fn = OpId::Subtract;
  rejects("has no way to combine float64");
  k.buffers[1].written = true;
  find(k, Op::Scatter).index = 1;
  rejects("another instruction names its buffer");
  auto& terms = k.accesses.back().terms;
  terms.pop_back();
  rejects("a loop inside a vector loop may scatter to one element");
  k.accesses.back().terms.erase(k.accesses.back().terms.begin());
  rejects("iterations of the grid may scatter to one element");
}
