#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "ir/abilities.hpp"
#include "ir/analysis.hpp"
#include "ir/builder.hpp"
#include "ir/one_thread.hpp"
#include "support.hpp"

using namespace plait;
using namespace plait::ir;
using plait::test::find;
using plait::test::rejection;

namespace {

void rejects(const Kernel& k, const std::string& why) {
  INFO("wanted: " << why << "\ngot: " << rejection(k));
  CHECK(rejection(k).find(why) != std::string::npos);
}

struct Pipeline {
  std::int64_t stages = 3, ahead = 2;
  bool waits = true, copies_first = false;
};

// out[t, i] = x[t, 7 - i] for blocks of 8 threads: rows of x come through shared memory, `ahead`
// rows before they are read.
Kernel pipeline(const Pipeline& p = {}) {
  Builder b("pipeline");
  const std::int32_t x = b.buffer(DType::Float32, false), out = b.buffer(DType::Float32, true);
  const std::int32_t row = b.local({.dtype = DType::Float32,
                                    .count = {8},
                                    .home = 0,
                                    .space = Space::Shared,
                                    .stages = static_cast<std::int32_t>(p.stages)});
  const Val one = b.constant_index(1), eight = b.constant_index(8), rows = b.param(0);
  const auto copy = [&](Val number) {
    b.copy({.buffer = x, .from_row = {32}, .local = row, .to_row = {8}}, {{}, {{number, {32}}}}, {},
           one, eight, number);
  };
  for (std::int64_t n = 0; n < p.ahead; ++n) copy(b.constant_index(n));
  const std::int32_t t = b.open_for(kNone, rows);
  const auto next = [&] {
    copy(b.apply(OpId::Add, DType::Int64, {b.var(t), b.constant_index(p.ahead)}));
  };
  if (p.copies_first) next();
  if (p.waits) b.barrier(b.var(t));
  if (!p.copies_first) next();
  const std::int32_t i = b.open_for(kNone, eight);
  b.loop(i).scope = Scope::Block;
  b.store(out, {{}, {{b.var(t), {32}}, {b.var(i), {4}}}},
          b.load_local(row, {{7}, {{b.var(i), {-1}}}}, b.var(t)));
  b.close();
  b.close();
  return b.finish();
}

struct Exchange {
  bool first_barrier = true, last_barrier = true, own = false;
};

// In each round threads leave what they have in shared memory, and read what others left there, or,
// `own`, what they left themselves.
Kernel exchange(const Exchange& e) {
  Builder b("exchange");
  const std::int32_t x = b.buffer(DType::Float32, false), out = b.buffer(DType::Float32, true);
  const std::int32_t shared =
      b.local({.dtype = DType::Float32, .count = {8}, .home = 0, .space = Space::Shared});
  const Val eight = b.constant_index(8);
  const std::int32_t t = b.open_for(kNone, b.param(0));
  const std::int32_t i = b.open_for(kNone, eight);
  b.loop(i).scope = Scope::Block;
  b.store_local(shared, {{}, {{b.var(i), {1}}}},
                b.load(x, {{}, {{b.var(t), {32}}, {b.var(i), {4}}}}));
  const auto read = [&](std::int32_t loop) {
    const Access at = e.own ? Access{{}, {{b.var(loop), {1}}}} : Access{{7}, {{b.var(loop), {-1}}}};
    b.store(out, {{}, {{b.var(t), {32}}, {b.var(loop), {4}}}}, b.load_local(shared, at));
  };
  if (e.own) {
    read(i);
    b.close();
  } else {
    b.close();
    if (e.first_barrier) b.barrier();
    const std::int32_t j = b.open_for(kNone, eight);
    b.loop(j).scope = Scope::Block;
    read(j);
    b.close();
    if (e.last_barrier) b.barrier();
  }
  b.close();
  return b.finish();
}

// C += A * B of halves in shared memory, `rounds` of them, each of all threads of the block.
Kernel shared_product(bool barrier) {
  Builder b("product");
  const auto rows = [&](DType t, std::int64_t columns) {
    return b.local({.dtype = t,
                    .count = {16 * columns},
                    .home = 0,
                    .space = Space::Shared,
                    .layout = {.columns = columns, .beside = 8}});
  };
  const std::int32_t x = b.local({.dtype = DType::Float16,
                                  .count = {16 * 32},
                                  .home = 0,
                                  .space = Space::Shared,
                                  .layout = {.columns = 32, .swizzle = 4}}),
                     y = rows(DType::Float16, 16), z = rows(DType::Float32, 16);
  const std::int32_t out = b.buffer(DType::Float32, true);
  const Val m = b.constant_index(16), n = b.constant_index(16), k = b.constant_index(16);
  const std::int32_t round = b.open_for(kNone, b.constant_index(2));
  const auto* row = fragment_shape(FragmentUnit::TensorCores, DType::Float16, DType::Float16);
  b.fragment({.a = {x, -1, 1, {32}, {1}},
              .b = {y, -1, 1, {16}, {1}},
              .local = z,
              .row = {16},
              .block = b.var(round),
              .shape = static_cast<std::int32_t>(row - kFragmentShapes)},
             {}, {}, {}, m, n, k);
  b.close();
  if (barrier) b.barrier();
  const std::int32_t i = b.open_for(kNone, b.constant_index(256));
  b.loop(i).scope = Scope::Block;
  b.store(out, {{}, {{b.var(i), {4}}}}, b.load_local(z, {{}, {{b.var(i), {1}}}}));
  b.close();
  return b.finish();
}

}  // namespace

TEST_CASE("what threads share prints and survives the disk") {
  const Kernel k = pipeline();
  verify(k);
  const std::string text = to_string(k);
  CHECK(text.find("local l0: float32[8] shared stages 3") != std::string::npos);
  CHECK(text.find("copy l0[0] rows 8, b0[0 + %4*32] rows 32, %1 x %2 stage %4") !=
        std::string::npos);
  CHECK(text.find("barrier stage %9") != std::string::npos);
  CHECK(text.find(" in 0..%2 block {") != std::string::npos);
  CHECK(text.find("load l0[7 + %15*-1] stage %9") != std::string::npos);
  CHECK(serialize(deserialize(serialize(k))) == serialize(k));
  CHECK(to_string(deserialize(serialize(k))).substr(7) == text.substr(15));

  const Kernel p = shared_product(true);
  verify(p);
  CHECK(to_string(p).find("local l0: float16[512] shared rows of 32 swizzle 4") !=
        std::string::npos);
  CHECK(to_string(p).find("local l1: float16[256] shared rows of 16+8") != std::string::npos);
  CHECK(to_string(p).find("as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") !=
        std::string::npos);
  CHECK(serialize(deserialize(serialize(p))) == serialize(p));
  const auto changes = [&](const std::function<void(Kernel&)>& change) {
    Kernel other = p;
    change(other);
    CHECK(serialize(other) != serialize(p));
  };
  changes([](Kernel& o) { o.locals[1].layout.beside = 0; });
  changes([](Kernel& o) { o.locals[0].layout.swizzle = 2; });
  changes([](Kernel& o) { o.locals[2].space = Space::Cache; });
  changes([](Kernel& o) { o.locals[2].stages = 2; });
  changes([](Kernel& o) { o.fragments[0].shape = -1; });
  changes([](Kernel& o) { o.loops[2].scope = Scope::Warp; });
  Kernel copied = k;
  copied.copies[0].to_row.value = 9;
  CHECK(serialize(copied) != serialize(k));
  CHECK(bytes_of(k) > bytes_of([&] {
          Kernel none = k;
          none.copies.clear();
          return none;
        }()));
  CHECK(scratch_bytes(k, nullptr, 1) == 128);  // three copies of 32 bytes
}

TEST_CASE("a barrier stands between threads that share memory") {
  verify(exchange({}));
  rejects(exchange({.first_barrier = false}), "no barrier stands between it and what");
  // The next round writes over what others still read.
  rejects(exchange({.last_barrier = false}), "reads in another thread");
  // What a thread wrote itself it may read.
  verify(exchange({.own = true}));
  // So it is in the memory of the device.
  for (const bool waits : {true, false}) {
    Kernel k = exchange({.first_barrier = waits});
    k.locals[0].space = Space::Global;
    waits ? verify(k) : rejects(k, "no barrier stands between it and what");
  }
}

TEST_CASE("threads move what lies further on than their loop goes") {
  const auto moves = [](std::int64_t by, bool bounded) {
    Builder b("moves");
    const std::int32_t out = b.buffer(DType::Float32, true);
    const std::int32_t shared =
        b.local({.dtype = DType::Float32, .count = {64}, .home = 0, .space = Space::Shared});
    const Val count = b.param(0), most = b.constant_index(16);
    const Val end = bounded ? b.apply(OpId::Minimum, DType::Int64, {count, most}) : count;
    const std::int32_t i = b.open_for(kNone, end);
    b.loop(i).scope = Scope::Block;
    const Val v = b.load_local(shared, {{by}, {{b.var(i), {1}}}});
    b.store_local(shared, {{}, {{b.var(i), {1}}}}, v);
    b.store(out, {{}, {{b.var(i), {4}}}}, v);
    b.close();
    return b.finish();
  };
  CHECK(rejection(moves(16, true)).empty());
  CHECK(rejection(moves(0, false)).empty());
  rejects(moves(15, true), "no barrier stands between");
  rejects(moves(16, false), "no barrier stands between");
  // Threads that each have such a loop come to each other's elements.
  Builder b("each");
  const std::int32_t shared =
      b.local({.dtype = DType::Float32, .count = {64}, .home = 0, .space = Space::Shared});
  const std::int32_t out = b.buffer(DType::Float32, true);
  const std::int32_t i = b.open_for(kNone, b.constant_index(8));
  b.loop(i).scope = Scope::Block;
  const std::int32_t j = b.open_for(kNone, b.constant_index(8));
  const Val v = b.load_local(shared, {{8}, {{b.var(i), {1}}, {b.var(j), {1}}}});
  b.store_local(shared, {{}, {{b.var(i), {1}}, {b.var(j), {1}}}}, v);
  b.store(out, {{}, {{b.var(i), {4}}}}, v);
  b.close();
  b.close();
  rejects(b.finish(), "no barrier stands between");
}

TEST_CASE("threads of one loop do not wait for each other") {
  Kernel k = exchange({.own = true});
  for (Access& a : k.accesses)
    if (&a - k.accesses.data() == find(k, Op::LoadLocal).access) a.offset.value = 1;
  rejects(k, "in another thread");
  // Nor may all of them write one element.
  k = exchange({});
  k.accesses[find(k, Op::StoreLocal).access].terms.clear();
  rejects(k, "no barrier stands between it and what");
}

TEST_CASE("a stage is read when it has arrived") {
  for (const std::int64_t stages : {2, 3, 4}) verify(pipeline({stages, stages - 1}));
  rejects(pipeline({.waits = false}), "reads a stage before it has arrived");
  // Three stages, and all of them ahead: the copy goes where threads read.
  rejects(pipeline({3, 3}), "reads a stage before it has arrived");
  // Before the barrier others still read the stage that the copy goes to.
  rejects(pipeline({.copies_first = true}), "no barrier stands between it and what");
  // With one more stage nobody does.
  verify(pipeline({.stages = 4, .ahead = 2, .copies_first = true}));
  // A barrier that waits for the stage before this one.
  Kernel k = pipeline();
  find(k, Op::Barrier).operands[0] = find(k, Op::AsyncCopy).operands[2];
  rejects(k, "reads a stage before it has arrived");
}

TEST_CASE("fragments are of all threads") {
  verify(shared_product(true));
  rejects(shared_product(false), "no barrier stands between it and what");
  // Each round adds to the sums of the round before, which the same threads have.
  Kernel k = shared_product(true);
  k.accesses[k.fragments[0].access].terms.push_back({k.loops[1].var, {1}});
  rejects(k, "no barrier stands between it and what");
}

TEST_CASE("a fragment's operands lie as its row of the table loads them") {
  const auto broken = [](const std::function<void(Kernel&)>& change, const std::string& why) {
    Kernel k = shared_product(true);
    change(k);
    rejects(k, why);
  };
  broken([](Kernel& k) { k.locals[1].layout.beside = 4; }, "wants rows of whole words");
  broken([](Kernel& k) { k.locals[1].layout = {}; }, "wants rows of whole words");
  broken([](Kernel& k) { k.locals[1].layout.panel = 8; }, "wants rows, not panels");
  broken([](Kernel& k) { k.locals[0].space = Space::Cache; }, "wants operands in shared memory");
  broken([](Kernel& k) { k.locals[0].dtype = DType::Float32; }, "operands of other dtypes");
  broken([](Kernel& k) { k.fragments[0].shape = std::ssize(kFragmentShapes); }, "no such shape");
  Kernel k = shared_product(true);
  const auto* row = fragment_shape(FragmentUnit::Thread, DType::Float16, DType::Float16);
  k.fragments[0].shape = static_cast<std::int32_t>(row - kFragmentShapes);
  rejects(k, "wants rows that are not swizzled");
  k.locals[0].layout.swizzle = 1;
  verify(k);
}

TEST_CASE("locals, barriers and copies stand where they can") {
  const auto broken = [](const std::function<void(Kernel&)>& change, const std::string& why) {
    Kernel k = pipeline();
    change(k);
    rejects(k, why);
  };
  broken([](Kernel& k) { k.locals[0].space = Space::Cache; }, "copies to what is not shared");
  broken([](Kernel& k) { k.locals[0].count = {0, 0}; }, "an extent that is not known");
  broken([](Kernel& k) { k.locals[0].stages = 0; }, "names a stage of a local that has none");
  broken([](Kernel& k) { k.locals[0].stages = 1; }, "names a stage of a local that has none");
  broken([](Kernel& k) { find(k, Op::LoadLocal).operands[0] = kNone; }, "names no stage");
  broken([](Kernel& k) { find(k, Op::AsyncCopy).operands[2] = kNone; }, "names no stage");
  broken([](Kernel& k) { find(k, Op::AsyncCopy).type = DType::Float64; }, "not float32");
  broken([](Kernel& k) { k.buffers[0].dtype = DType::Float64; }, "its buffer is float32");
  broken([](Kernel& k) { k.buffers[0].written = true; }, "copies a written buffer");
  broken([](Kernel& k) { k.copies[0].buffer = 2; }, "a copy names no buffer or no access");
  broken([](Kernel& k) { k.copies[0].local = 1; }, "names no local or no access");
  broken([](Kernel& k) { k.loops[1].scope = Scope::Block; }, "threads or lanes share out");
  broken([](Kernel& k) { k.loops[1].scope = Scope::Grid; }, "is of the grid inside the grid");
  broken([](Kernel& k) { k.loops[0].scope = Scope::Serial; }, "is the grid and of another scope");
  broken([](Kernel& k) { k.locals[0].layout.beside = 1; }, "has a layout and no rows");
  broken([](Kernel& k) { k.locals[0].layout = {.columns = 4, .swizzle = 3}; }, "no such layout");
  broken([](Kernel& k) { k.locals[0].layout = {.columns = 4, .swizzle = 2}; },
         "swizzled words beyond its rows");
  broken([](Kernel& k) { k.locals[0].layout = {.columns = 8, .panel = 2, .swizzle = 2}; },
         "panels that are swizzled");

  Kernel k = exchange({});
  k.locals[0] = {.dtype = DType::Float32, .count = {0, 0}, .home = 0, .space = Space::Register};
  rejects(k, "its extent is not known");
  k = exchange({.own = true});
  k.locals[0].home = 2;
  rejects(k, "is shared and belongs to a thread");

  Builder b("nearer");
  b.loop(b.open_for(kNone, b.constant_index(2))).scope = Scope::Warp;
  b.loop(b.open_for(kNone, b.constant_index(2))).scope = Scope::Block;
  b.close();
  b.close();
  rejects(b.finish(), "stands inside a loop of a nearer scope");
}

TEST_CASE("what a backend lacks has a name") {
  constexpr Abilities host{bit(Space::Cache), bit(Scope::Grid) | bit(Scope::Serial)};
  constexpr Abilities threads{host.spaces, host.scopes | bit(Scope::Block)};
  constexpr Abilities device{host.spaces | bit(Space::Shared), threads.scopes};
  CHECK(lacking(pipeline(), host) == "a loop of a block");
  CHECK(lacking(pipeline(), threads) == "a local in shared memory");
  CHECK(lacking(pipeline(), device).empty());
  Kernel k = pipeline();
  k.locals[0].space = Space::Cache;
  CHECK(lacking(k, threads) == "a local with a layout");
  k.locals[0].stages = 1;
  CHECK(lacking(k, threads) == "an asynchronous copy");
  CHECK(lacking(on_one_thread(pipeline()), device) == "a vector loop");
}

TEST_CASE("one thread copies at once and waits for nobody") {
  CHECK_FALSE(is_placed(on_one_thread(pipeline())));
  const Kernel k = on_one_thread(pipeline());
  verify(k);
  CHECK(to_string(k).find("barrier") == std::string::npos);
  CHECK(to_string(k).find("stage") == std::string::npos);
  CHECK(to_string(k).find("local l0: float32[24]\n") != std::string::npos);
  CHECK(scratch_bytes(k, nullptr, 1) == scratch_bytes(pipeline(), nullptr, 1));
  verify(on_one_thread(shared_product(true)));
}

TEST_CASE("the lanes of a fragment have each element of its block once") {
  for (const FragmentShape& s : kFragmentShapes) {
    INFO(s.instruction);
    CHECK(fragment_row(s.a, s.b) >= 0);
    CHECK(kFragmentTypes[fragment_row(s.a, s.b)].sums == s.sums);
    CHECK(fragment_shape(s.unit, s.a, s.b) == &s);
    if (s.lanes.count == 1) continue;
    std::set<std::pair<int, int>> elements;
    const int each = s.m * s.n / s.lanes.count;
    for (int lane = 0; lane < s.lanes.count; ++lane)
      for (int e = 0; e < each; ++e) {
        const int row = s.lanes.row(lane, e), column = s.lanes.column(lane, e);
        CHECK((row < s.m && column < s.n));
        elements.insert({row, column});
      }
    CHECK(elements.size() == static_cast<std::size_t>(s.m * s.n));
  }
}
