#include "engine/sequential/sequential_program.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "core/config.hpp"
#include "engine/engine.hpp"
#include "engine/sequential/sequential_builder.hpp"
#include "engine/threads/team.hpp"
#include "ir/externals.hpp"

using namespace plait;
using namespace plait::engine;
using Interrupts = SequentialProgram::Interrupts;

namespace {

class Building : public ir::Builder {
 public:
  Building() : Builder("program") { sequential(); }
  ir::Val of(std::int64_t v) {
    return number({.op = ir::Op::Const, .imm = Scalar::of(DType::Int64, v)});
  }
  ir::Val next_param() { return number({.op = ir::Op::Param, .index = new_param()}); }
  ir::Val int64(OpId fn, ir::Val a, ir::Val b) { return apply(fn, DType::Int64, {a, b}); }
};

// A number that no program had before, so that no cache has code for one that has it.
std::int64_t fresh() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// The sum of a param's first numbers of an array, an argument, and `more`.
std::unique_ptr<SequentialProgram> summing(std::int64_t more = 0) {
  Building b;
  const std::int32_t x = b.buffer(DType::Int64, false), sum = b.variable(DType::Int64);
  const ir::Val arg = b.new_arg(DType::Int64), n = b.next_param();
  b.store_local(sum, {}, b.int64(OpId::Add, arg, b.of(more)));
  const std::int32_t loop = b.open_for(b.of(0), n);
  const ir::Val v = b.gather(x, {}, b.var(loop), {8});
  b.store_local(sum, {}, b.int64(OpId::Add, b.load_local(sum, {}), v));
  b.close();
  const ir::Val all = b.load_local(sum, {});
  return std::make_unique<SequentialProgram>(std::move(b), std::vector{all, arg});
}

Scalar int64(std::int64_t v) { return Scalar::of(DType::Int64, v); }

// The first result of a run.
std::int64_t run(const SequentialProgram& p, std::vector<void*> arrays,
                 std::vector<std::int64_t> params, std::vector<Scalar> args = {},
                 Interrupts interrupts = Interrupts::Heard, Heap* heap = nullptr) {
  std::vector<Scalar> results(p.result_count());
  p.run({arrays.data(), params.data(), args.data()}, results.data(), heap, interrupts);
  return results[0].as<std::int64_t>();
}

// Interrupts of this thread, as a test asks for them.
std::atomic<bool> asked;
std::atomic<int> handled;
bool ends;
struct Hook {
  explicit Hook(bool raises) {
    asked = false;
    handled = 0;
    ends = raises;
    set_interrupt_hook({[]() -> const std::atomic<bool>* { return &asked; },
                        [] {
                          asked = false;
                          ++handled;
                          return ends;
                        }});
  }
  ~Hook() { set_interrupt_hook({}); }
};

// Counts until array[0] is not 0; its result is how far.
std::unique_ptr<SequentialProgram> waiting() {
  Building b;
  const std::int32_t x = b.buffer(DType::Int64, true), count = b.variable(DType::Int64);
  const ir::Val zero = b.of(0), one = b.of(1);
  b.open_repeat();
  b.store_local(count, {}, b.int64(OpId::Add, b.load_local(count, {}), one));
  b.scatter(OpId::Count_, x, {}, one, {8}, b.load_local(count, {}));
  b.close_repeat(b.apply(OpId::Equal, DType::Bool, {b.gather(x, {}, zero, {8}), zero}));
  const ir::Val last = b.load_local(count, {});
  return std::make_unique<SequentialProgram>(std::move(b), std::vector{last});
}

}  // namespace

TEST_CASE("a sequential program goes over from quick code to code of full effort") {
  if (!jit::expected()) return;  // the interpreter has one tier
  std::vector<std::int64_t> x{3, 4, 5, 6};
  const std::int64_t more = fresh();
  const auto p = summing(more);
  CHECK_FALSE(p->ready());
  CHECK(p->seconds() == 0);
  CHECK((p->array_count() == 1 && p->param_count() == 1 && p->result_count() == 2));
  CHECK((p->arguments() == std::vector{DType::Int64} && !p->uses_heap()));
  const bool background = GENERATE(false, true);
  const auto compile = [&](jit::Effort effort) {
    if (!background) return p->compile(effort);
    p->compile_async(effort);
    jit::wait_idle();
    return p->ready();
  };
  const auto gives_the_sum = [&] { return run(*p, {x.data()}, {3}, {int64(100)}) == 112 + more; };
  REQUIRE(compile(jit::Effort::Quick));
  CHECK_FALSE(p->optimised());
  CHECK(p->seconds() > 0);
  CHECK(gives_the_sum());
  REQUIRE(compile(jit::Effort::Full));
  CHECK(p->optimised());
  CHECK(gives_the_sum());
  REQUIRE(compile(jit::Effort::Quick));  // which changes nothing
  CHECK(p->optimised());
}

TEST_CASE("the interpreter runs a sequential program where the JIT is off") {
  const std::int64_t more = fresh();
  const auto p = summing(more);
  const JitMode before = config().jit;
  config().jit = JitMode::Off;
  p->compile_async(jit::Effort::Quick);
  CHECK(p->ready());
  CHECK(p->interpreted());
  CHECK(p->compile(jit::Effort::Full));
  std::vector<std::int64_t> x{3, 4, 5, 6};
  CHECK(run(*p, {x.data()}, {3}, {int64(100)}) == 112 + more);
  config().jit = before;
}

TEST_CASE("an interrupt ends a sequential program where its handler says so") {
  const auto p = waiting();
  REQUIRE(p->compile(jit::Effort::Full));
  std::array<std::atomic<std::int64_t>, 2> x{};
  static_assert(sizeof x == 16);
  const auto is_running = [&] {
    while (x[1] == 0) std::this_thread::yield();
  };
  SECTION("which ends it") {
    const Hook hook(true);
    std::thread other([&] {
      is_running();
      asked = true;
    });
    CHECK_THROWS_AS(run(*p, {x.data()}, {}), Interrupted);
    other.join();
    CHECK(handled == 1);
  }
  SECTION("and goes on where it does not") {
    const Hook hook(false);
    std::thread other([&] {
      is_running();
      asked = true;
      while (handled == 0) std::this_thread::yield();
      x[0] = 1;
    });
    CHECK(run(*p, {x.data()}, {}) > 1);
    other.join();
    CHECK(handled == 1);
  }
  SECTION("or nothing is heard") {
    const Hook hook(true);
    std::thread other([&] {
      is_running();
      asked = true;
      const std::int64_t then = x[1];
      while (x[1] == then) std::this_thread::yield();
      x[0] = 1;
    });
    CHECK(run(*p, {x.data()}, {}, {}, Interrupts::Unheard) > 1);
    other.join();
    CHECK(handled == 0);
  }
}

TEST_CASE("locals of a sequential program lie in memory of as many bytes as they take") {
  // The numbers below n, backwards by way of a local: the sum of i * local[n - 1 - i].
  const JitMode before = config().jit;
  if (GENERATE(false, true)) config().jit = JitMode::Off;
  Building b;
  const ir::Val n = b.next_param(), zero = b.of(0);
  const std::int32_t all = b.variable(DType::Int64, {1, 0}), sum = b.variable(DType::Int64);
  const std::int32_t fill = b.open_for(zero, n);
  b.store_local(all, {{}, {{b.var(fill), {1}}}}, b.var(fill));
  b.close();
  const std::int32_t read = b.open_for(zero, n);
  const ir::Val back = b.int64(OpId::Subtract, b.int64(OpId::Subtract, n, b.of(1)), b.var(read));
  const ir::Val product =
      b.int64(OpId::Multiply, b.var(read), b.load_local(all, {{}, {{back, {1}}}}));
  b.store_local(sum, {}, b.int64(OpId::Add, b.load_local(sum, {}), product));
  b.close();
  const ir::Val result = b.load_local(sum, {});
  SequentialProgram p(std::move(b), {result});
  REQUIRE(p.compile(jit::Effort::Full));
  for (const std::int64_t extent : {0, 1, 5, 1000, 100'000}) {
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < extent; ++i) expected += i * (extent - 1 - i);
    CHECK(run(p, {}, {extent}) == expected);
  }
  config().jit = before;
}

TEST_CASE("parts of a sequential program run on the team, each with arguments of its own") {
  const int before = num_threads();
  set_num_threads(2);
  const Sharing sharing = GENERATE(Sharing::WhenItPays, Sharing::Always);
  set_sharing(sharing);
  std::vector<std::int64_t> x(1000, 2);
  const auto p = summing();
  REQUIRE(p->compile(jit::Effort::Full));
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{50}}) {
    std::vector<SequentialProgram::Part> parts;
    for (std::size_t n = 0; n < count; ++n)
      parts.push_back({{int64(static_cast<std::int64_t>(n))}});
    void* const arrays[] = {x.data()};
    const std::int64_t params[] = {1000};
    p->run_parts(arrays, params, parts, 1e-3 * static_cast<double>(count));
    for (std::size_t n = 0; n < count; ++n) {
      const auto arg = static_cast<std::int64_t>(n);
      CHECK(parts[n].results[0].as<std::int64_t>() == 2000 + arg);
      CHECK(parts[n].results[1].as<std::int64_t>() == arg);
      CHECK(!parts[n].heap);
    }
  }
  set_sharing(Sharing::WhenItPays);
  set_num_threads(before);
}

TEST_CASE("an interrupt ends all parts") {
  const auto p = waiting();
  REQUIRE(p->compile(jit::Effort::Full));
  const Hook hook(true);
  std::array<std::atomic<std::int64_t>, 2> x{};
  std::thread other([&] {
    while (x[1] == 0) std::this_thread::yield();
    asked = true;
  });
  std::vector<SequentialProgram::Part> parts(4);
  void* const arrays[] = {x.data()};
  CHECK_THROWS_AS(p->run_parts(arrays, nullptr, parts, 1), Interrupted);
  other.join();
}

TEST_CASE("two threads run a sequential program while it is compiled") {
  std::vector<std::int64_t> x(100, 3);
  const std::int64_t more = fresh();
  const auto p = summing(more);
  REQUIRE(p->compile(jit::Effort::Quick));
  std::atomic<int> wrong{0};
  const auto runs = [&](std::int64_t arg) {
    for (int n = 0; n < 200 || !p->optimised(); ++n)
      wrong += run(*p, {x.data()}, {100}, {int64(arg)}) != 300 + more + arg;
  };
  std::thread first(runs, 1), second(runs, 2);
  p->compile_async(jit::Effort::Full);
  first.join();
  second.join();
  CHECK(wrong == 0);
}

TEST_CASE("a sequential program's memory is its run's or its caller's") {
  Building b;
  const std::int32_t words = b.buffer({.dtype = DType::Int64, .written = true, .heap = true});
  const ir::Val address = b.push({.op = ir::Op::External,
                                  .type = DType::Int64,
                                  .index = ir::external("heap_alloc"),
                                  .operands = {b.next_param(), ir::kNone, ir::kNone}});
  const ir::Val first = b.gather(words, {}, address, {1});
  b.scatter(OpId::Count_, words, {}, address, {1}, b.of(42));
  SequentialProgram p(std::move(b), {address, first});
  CHECK((p.uses_heap() && p.array_count() == 0));
  REQUIRE(p.compile(jit::Effort::Full));
  CHECK(run(p, {}, {64}) != 0);
  Heap kept;
  const std::int64_t at = run(p, {}, {64}, {}, Interrupts::Heard, &kept);
  CHECK(*reinterpret_cast<const std::int64_t*>(at) == 42);
  const std::int64_t params[] = {64};
  std::vector<SequentialProgram::Part> parts(2);
  p.run_parts(nullptr, params, parts, 0);
  for (const SequentialProgram::Part& part : parts) {
    REQUIRE(part.heap);
    CHECK(part.results[1].as<std::int64_t>() == 0);  // of a heap that nobody else has
    CHECK(*reinterpret_cast<const std::int64_t*>(part.results[0].as<std::int64_t>()) == 42);
  }
}

TEST_CASE("a sequential builder gives programs that know their arrays' addresses") {
  SequentialBuilder b("pair");
  const auto x = b.buffer(DType::Float64, false);
  const auto before = b.param();
  b.result(before);  // buffers may come behind results
  const auto y = b.buffer(DType::Float64, true);
  const auto at_y = b.address(y), between = b.param(), at_x = b.address(x);
  for (const auto v : {between, at_x, at_y}) b.result(v);
  b.store(y, before, b.apply("negative", {b.load(x, between)}));
  const auto p = std::move(b).finish();
  CHECK((p->array_count() == 2 && p->param_count() == 2 && p->name() == "pair"));
  CHECK((!p->array(0).written && p->array(1).written));
  REQUIRE(p->compile(jit::Effort::Full));
  double from[] = {1, 2}, to[] = {0, 0};
  void* const arrays[] = {from, to};
  const std::int64_t params[] = {0, 8};
  std::vector<Scalar> results(4);
  p->run({arrays, params, nullptr}, results.data(), nullptr, Interrupts::Heard);
  CHECK(results[0].as<std::int64_t>() == 0);
  CHECK(results[1].as<std::int64_t>() == 8);
  CHECK(results[2].as<double*>() == from);
  CHECK(results[3].as<double*>() == to);
  CHECK(to[0] == -2);
}

TEST_CASE("a sequential builder says what is wrong at the call") {
  SequentialBuilder b("wrong");
  const auto x = b.buffer(DType::Float64, false);
  const auto i = b.constant(int64(1));
  const auto f = b.constant(Scalar::of(DType::Float64, 1.0));
  CHECK_THROWS_AS(b.load(x + 1, i), ValueError);
  CHECK_THROWS_AS(b.load(x, 99), ValueError);
  CHECK_THROWS_AS(b.get(0), ValueError);
  CHECK_THROWS_AS(b.set(b.local(DType::Int64), f), DTypeError);
  CHECK_THROWS_AS(b.apply("no such", {i}), ValueError);
  CHECK_THROWS_AS(b.apply("add", {i}), ValueError);
  CHECK_THROWS_AS(b.apply("add", {}), ValueError);
  CHECK_THROWS_AS(b.apply("invert", {f}), DTypeError);
  CHECK_THROWS_AS(b.call("no such", {}), ValueError);
  CHECK_THROWS_AS(b.call("heap_alloc", {}), ValueError);
  CHECK_THROWS_AS(b.index(f, i), DTypeError);
  CHECK_THROWS_AS(b.end_fold("no such", f), ValueError);
  CHECK_THROWS_AS(b.otherwise(false), ValueError);
  CHECK_THROWS_AS(b.end(std::nullopt), ValueError);
  CHECK_THROWS_AS(b.leave(0, std::nullopt), ValueError);
  b.begin_if(b.constant(scalar_bool(true)));
  CHECK_THROWS_AS(b.end(i), ValueError);
  CHECK_THROWS_AS(std::move(b).finish(), ValueError);
}
