// Programs in the loop IR against the same in C++, on every tier.
#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <functional>
#include <thread>

#include "codegen/interp/interp.hpp"
#include "core/heap.hpp"
#include "ir/builder.hpp"
#include "ir/externals.hpp"
#include "ir/sequential_call.hpp"
#include "run_kernel.hpp"

using namespace plait;
using namespace plait::ir;
using namespace plait::test;

namespace {

class Program : public Builder {
 public:
  Program() : Builder("program") { sequential(); }
  Val number(std::int64_t v) {
    return Builder::number({.op = Op::Const, .imm = Scalar::of(DType::Int64, v)});
  }
  Val next_param() { return Builder::number({.op = Op::Param, .index = new_param()}); }
  Val is(OpId fn, Val a, Val b) { return apply(fn, DType::Bool, {a, b}); }
  Val of(OpId fn, Val a, Val b) { return apply(fn, DType::Int64, {a, b}); }
  Val get(std::int32_t l) { return load_local(l, {}); }
  void set(std::int32_t l, Val v) { store_local(l, {}, v); }
  Val element(std::int32_t b, Val i) { return gather(b, {}, i, {8}); }
  void set_element(std::int32_t b, Val i, Val v) { scatter(OpId::Count_, b, {}, i, {8}, v); }
  Val overflows(OpId fn, Val a, Val b) {
    return push({.op = Op::Overflows, .type = DType::Bool, .fn = fn, .operands = {a, b, kNone}});
  }
  Val call(const char* name, Val a, Val b = kNone, Val c = kNone) {
    return push({.op = Op::External, .index = external(name), .operands = {a, b, c}});
  }
};

// A kernel as something runs it.
using Runner = std::function<void(const CallArgs&)>;

void run(
    const Runner& runner, std::vector<void*> buffers, std::vector<std::int64_t> params,
    const std::atomic<bool>* stop = &kNeverStopped,
    bool (*returns)(SequentialCall&) = [](SequentialCall&) { return true; }) {
  const SequentialCall call{{buffers.data(), params.data(), nullptr, stop}, returns};
  runner(call.args);
}

Runner compiled(const Kernel& k, CpuTier tier, jit::Effort effort) {
  return [code = jit::compile(k, tier, effort), k](const CallArgs& args) {
    run_code(*code, k, args, 0, 1);
  };
}

Runner interpreted(const Kernel& k, CpuTier tier) {
  return [program = interp::prepare(k, tier)](const CallArgs& args) {
    const std::size_t bytes = (interp::scratch_bytes(*program, args) + 63) / 64 * 64;
    void* scratch = std::aligned_alloc(64, bytes);
    std::memset(scratch, 0x5a, bytes);
    interp::run(*program, args, 0, 1, scratch);
    std::free(scratch);
  };
}

// Runs on every tier: interpreted, and as code of both efforts.
template <class F>
void on_tiers(const Kernel& k, F&& f) {
  verify(k);
  for (CpuTier tier : tiers()) {
    INFO(to_string(k));
    f(interpreted(k, tier));
    for (jit::Effort effort : {jit::Effort::Quick, jit::Effort::Full}) f(compiled(k, tier, effort));
  }
}

}  // namespace

TEST_CASE("bubble sort, which ends where nothing was swapped") {
  Program p;
  const std::int32_t x = p.buffer(DType::Int64, true), rounds = p.buffer(DType::Int64, true);
  const std::int32_t swapped = p.variable(DType::Bool), count = p.variable(DType::Int64);
  const Val n = p.next_param(), one = p.number(1);
  const Val yes =
      p.Builder::number({.op = Op::Const, .type = DType::Bool, .imm = scalar_bool(true)});
  const Val no =
      p.Builder::number({.op = Op::Const, .type = DType::Bool, .imm = scalar_bool(false)});
  p.open_repeat();
  p.set(swapped, no);
  p.set(count, p.of(OpId::Add, p.get(count), one));
  const std::int32_t loop = p.open_for(one, n);
  const Val i = p.var(loop), before = p.of(OpId::Subtract, i, one);
  const Val a = p.element(x, before), b = p.element(x, i);
  p.open_if(p.is(OpId::Greater, a, b));
  p.set_element(x, before, b);
  p.set_element(x, i, a);
  p.set(swapped, yes);
  p.close();
  p.close();
  p.close_repeat(p.get(swapped));
  p.store(rounds, {}, p.get(count));
  on_tiers(p.finish(), [](const Runner& code) {
    std::vector<std::int64_t> values{5, 3, 9, 1, 1, 7, -2, 8, 0, 4, 6, 2};
    std::int64_t rounds = 0;
    run(code, {values.data(), &rounds}, {static_cast<std::int64_t>(values.size())});
    CHECK(std::is_sorted(values.begin(), values.end()));
    CHECK(rounds == 8);
    run(code, {values.data(), &rounds}, {0});
    CHECK(rounds == 1);
  });
}

TEST_CASE("breaks of outer loops, and of blocks") {
  // found = (i, j) of the first pair in order with i * j == product and i, j odd
  Program p;
  const std::int32_t found = p.buffer(DType::Int64, true);
  const Val n = p.next_param(), product = p.next_param(), zero = p.number(0), one = p.number(1);
  p.set_element(found, zero, p.number(-1));
  const std::int32_t outer = p.open_for(zero, n);
  const std::int32_t body = p.open_if(kNone);
  const Val i = p.var(outer);
  p.leave(body, p.is(OpId::Equal, p.of(OpId::BitwiseAnd, i, one), zero));
  const std::int32_t inner = p.open_for(zero, n);
  const Val j = p.var(inner);
  p.open_if(p.is(OpId::Equal, p.of(OpId::Multiply, i, j), product));
  p.set_element(found, zero, i);
  p.set_element(found, one, j);
  p.leave(outer);
  p.set_element(found, zero, p.number(-2));  // never reached
  p.close();
  p.close();
  p.close();
  p.close();
  on_tiers(p.finish(), [](const Runner& code) {
    std::int64_t found[2] = {};
    run(code, {found}, {100, 91});
    CHECK((found[0] == 1 && found[1] == 91));
    run(code, {found}, {20, 91});
    CHECK((found[0] == 7 && found[1] == 13));
    run(code, {found}, {20, 8});
    CHECK((found[0] == 1 && found[1] == 8));
    run(code, {found}, {20, 4 * 37});
    CHECK(found[0] == -1);
  });
}

TEST_CASE("an index that another one gives is checked in every iteration") {
  // x[at[i]] += 1 while all is in range; where it is not, says at which i
  Program p;
  const std::int32_t x = p.buffer(DType::Int64, true), at = p.buffer(DType::Int64, false),
                     failed = p.buffer(DType::Int64, true);
  const std::int32_t where = p.variable(DType::Int64);
  const Val n = p.next_param(), extent = p.next_param(), zero = p.number(0), one = p.number(1);
  p.set(where, p.number(-1));
  const std::int32_t loop = p.open_for(zero, n);
  const CheckedIndex c = p.index(p.element(at, p.var(loop)), extent);
  p.open_if(c.outside);
  p.set(where, p.var(loop));
  p.leave(loop);
  p.close();
  p.set_element(x, c.index, p.of(OpId::Add, p.element(x, c.index), one));
  p.close();
  p.store(failed, {}, p.get(where));
  on_tiers(p.finish(), [](const Runner& code) {
    std::vector<std::int64_t> x(4), at{0, 3, -1, -4, 2, 2};
    std::int64_t failed = 0;
    run(code, {x.data(), at.data(), &failed}, {6, 4});
    CHECK(failed == -1);
    CHECK(x == std::vector<std::int64_t>{2, 0, 2, 2});
    for (std::int64_t wrong : {std::int64_t{4}, std::int64_t{-5}, INT64_MIN, INT64_MAX}) {
      at[3] = wrong;
      run(code, {x.data(), at.data(), &failed}, {6, 4});
      CHECK(failed == 3);
    }
    CHECK(x == std::vector<std::int64_t>{6, 0, 2, 10});
  });
}

TEST_CASE("whoever stops a kernel is heard in every loop") {
  Program p;
  SECTION("a repeat") {
    p.open_repeat();
    p.close_repeat(kNone);
  }
  SECTION("counting in counting") {
    const std::int32_t x = p.buffer(DType::Int64, true);
    const Val zero = p.number(0), n = p.number(60);
    for (int depth = 0; depth < 8; ++depth) p.open_for(zero, n);
    p.set_element(x, zero, p.of(OpId::Multiply, p.element(x, zero), p.element(x, zero)));
    for (int depth = 0; depth < 8; ++depth) p.close();
  }
  SECTION("a long count") {
    const std::int32_t x = p.buffer(DType::Int64, true);
    p.open_for(p.number(0), p.number(INT64_MAX));
    p.set_element(x, p.number(0), p.element(x, p.number(0)));
    p.set_element(x, p.number(0), p.of(OpId::Multiply, p.element(x, p.number(0)), p.number(3)));
    p.close();
  }
  on_tiers(p.finish(), [](const Runner& code) {
    std::atomic<bool> stop{false};
    std::int64_t x = 3;
    std::thread poke([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      stop = true;
    });
    run(code, {&x}, {}, &stop);
    poke.join();
    CHECK(stop);
  });
}

TEST_CASE("a kernel goes on where its caller says so") {
  Program p;
  const std::int32_t x = p.buffer(DType::Int64, true);
  const Val zero = p.number(0), one = p.number(1), n = p.number(150);
  for (int depth = 0; depth < 3; ++depth) p.open_for(zero, n);
  p.set_element(x, zero, p.of(OpId::Add, p.element(x, zero), one));
  for (int depth = 0; depth < 3; ++depth) p.close();
  on_tiers(p.finish(), [](const Runner& code) {
    static int asked;
    asked = 0;
    const std::atomic<bool> stop{true};
    std::int64_t count = 0;
    run(code, {&count}, {}, &stop, [](SequentialCall&) { return ++asked < 0; });
    CHECK(count == 150 * 150 * 150);
    CHECK(asked > 0);
    asked = 0;
    count = 0;
    run(code, {&count}, {}, &stop, [](SequentialCall&) { return ++asked == 2; });
    CHECK(asked == 2);
    CHECK(count < 150 * 150 * 150);
  });
}

TEST_CASE("a sequential kernel is supported wherever there is LLVM") {
  Program p;
  CHECK(jit::supports(p.finish(), nullptr) == jit::available());
}

namespace {

std::int64_t wrapped(unsigned __int128 v) { return static_cast<std::int64_t>(v); }

// In which iteration an index of `extent` elements is out of range first; `end` where none is.
std::int64_t first_outside(std::int64_t begin, std::int64_t end, std::int64_t factor,
                           std::int64_t term, std::int64_t extent) {
  for (std::int64_t i = begin; i < end; ++i) {
    using Wide = unsigned __int128;
    std::int64_t at =
        wrapped(static_cast<Wide>(i) * static_cast<Wide>(factor) + static_cast<Wide>(term));
    if (at < 0) at = wrapped(static_cast<Wide>(at) + static_cast<Wide>(extent));
    if (static_cast<std::uint64_t>(at) >= static_cast<std::uint64_t>(extent)) return i;
  }
  return end;
}

}  // namespace

TEST_CASE("loops whose ends are in range find what is out of range all the same") {
  // x[i * factor + term] += 1 for i from begin to end; the iteration that fails goes to `failed`
  Program p;
  const std::int32_t x = p.buffer(DType::Int64, true), failed = p.buffer(DType::Int64, true);
  const Val begin = p.next_param(), end = p.next_param(), factor = p.next_param(),
            term = p.next_param(), extent = p.next_param();
  const std::int32_t i = p.variable(DType::Int64), where = p.variable(DType::Int64);
  p.set(where, end);
  const std::int32_t block = p.open_if(kNone);
  const std::int32_t loop = p.open_for(begin, end);
  p.set(i, p.var(loop));
  const CheckedIndex c =
      p.index(p.of(OpId::Add, p.of(OpId::Multiply, p.get(i), factor), term), extent);
  p.open_if(c.outside);
  p.set(where, p.get(i));
  p.leave(block);
  p.close();
  p.set_element(x, c.index, p.of(OpId::Add, p.element(x, c.index), p.number(1)));
  p.close();
  p.close();
  p.store(failed, {}, p.get(where));
  on_tiers(p.finish(), [](const Runner& code) {
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    for (std::int64_t begin : {-3, 0, 2})
      for (std::int64_t n : {-1, 0, 1, 2, 9, 40})
        for (std::int64_t factor : {std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0},
                                    std::int64_t{1}, std::int64_t{3}, kHuge, -kHuge})
          for (std::int64_t term :
               {std::int64_t{0}, std::int64_t{-4}, std::int64_t{5}, INT64_MAX, INT64_MIN, kHuge})
            for (std::int64_t extent : {0, 1, 6, 50}) {
              const std::int64_t end = begin + n;
              std::vector<std::int64_t> x(51, 0);
              std::int64_t failed = 0;
              run(code, {x.data(), &failed}, {begin, end, factor, term, extent});
              const std::int64_t expected = first_outside(begin, end, factor, term, extent);
              std::int64_t stored = 0;
              for (std::int64_t v : x) stored += v;
              if (failed != expected || stored != std::max<std::int64_t>(expected - begin, 0))
                FAIL(begin << " " << end << " " << factor << " " << term << " " << extent << ": "
                           << failed << " for " << expected);
            }
  });
}

TEST_CASE("overflow of what steps evenly is found in the iteration in which it comes") {
  Program p;
  const std::int32_t out = p.buffer(DType::Int64, true);
  const Val begin = p.next_param(), end = p.next_param(), factor = p.next_param(),
            term = p.next_param();
  const std::int32_t where = p.variable(DType::Int64);
  p.set(where, end);
  const std::int32_t loop = p.open_for(begin, end);
  const Val i = p.var(loop), product = p.of(OpId::Multiply, i, factor);
  p.set(where, i);
  p.leave(loop, p.overflows(OpId::Multiply, i, factor));
  p.leave(loop, p.overflows(OpId::Subtract, product, term));
  p.set(where, end);
  p.close();
  p.store(out, {}, p.get(where));
  on_tiers(p.finish(), [](const Runner& code) {
    const std::int64_t values[] = {0, 1, -1, 7, INT64_MAX, INT64_MIN, INT64_MAX / 5, INT64_MIN / 3};
    for (std::int64_t begin : {std::int64_t{-4}, std::int64_t{0}, INT64_MAX - 9, INT64_MIN})
      for (std::int64_t n : {0, 1, 8})
        for (std::int64_t factor : values)
          for (std::int64_t term : values) {
            std::int64_t got = 0, expected = begin;
            for (; expected < begin + n; ++expected) {
              std::int64_t product, difference;
              if (__builtin_mul_overflow(expected, factor, &product) ||
                  __builtin_sub_overflow(product, term, &difference))
                break;
            }
            run(code, {&got}, {begin, begin + n, factor, term});
            if (got != expected)
              FAIL(begin << " " << n << " " << factor << " " << term << ": " << got << " for "
                         << expected);
          }
  });
}

TEST_CASE("every call with effects happens, in its place") {
  // Two blocks; what the freed one had is zero where another one gets its memory. Stores and loads
  // stay on their sides of it.
  Program p;
  const std::int32_t found = p.buffer(DType::Int64, true),
                     heap = p.buffer({.dtype = DType::Int64, .written = true, .heap = true});
  const Val bytes = p.number(8), zero = p.number(0);
  const auto at = [&](Val address) { return p.gather(heap, {}, address, {1}); };
  const auto set_at = [&](Val address, std::int64_t v) {
    p.scatter(OpId::Count_, heap, {}, address, {1}, p.number(v));
  };
  const Val first = p.call("heap_alloc", bytes), second = p.call("heap_alloc", bytes);
  set_at(first, 7);
  set_at(second, 8);
  const Val before = at(first);
  (void)p.call("heap_free", first);
  const Val third = p.call("heap_alloc", bytes);
  const Val after = at(third);
  set_at(third, 9);
  const Val grown = p.call("heap_grow", third, bytes, p.number(16));
  set_at(grown, 10);
  const Val values[] = {first, second, before, third, after, at(second), at(grown)};
  for (std::size_t n = 0; n < std::size(values); ++n)
    p.set_element(found, p.number(static_cast<std::int64_t>(n)), values[n]);
  // Unused, and the same in every iteration.
  (void)p.open_for(zero, p.next_param());
  (void)p.call("heap_alloc", bytes);
  p.close();
  p.set_element(found, p.number(std::size(values)), p.call("heap_alloc", bytes));
  on_tiers(p.finish(), [](const Runner& code) {
    const auto run_with = [&](std::int64_t n) {
      std::vector<std::int64_t> found(8);
      Heap h;
      const Heap::Use use(h);
      run(code, {found.data(), nullptr}, {n});
      return found;
    };
    const std::vector<std::int64_t> found = run_with(0);
    CHECK(found[0] != found[1]);
    CHECK(found[0] % 64 == 0);
    CHECK(found[3] == found[0]);
    CHECK((found[2] == 7 && found[4] == 0 && found[5] == 8 && found[6] == 10));
    const std::vector<std::int64_t> later = run_with(5);
    // The first takes what `third` had, the others go behind `grown`.
    CHECK(found[7] == found[0]);
    CHECK(later[7] - later[0] == 7 * 128);
  });
}

TEST_CASE("calls without effects, and short memory") {
  Program p;
  const std::int32_t found = p.buffer(DType::Int64, true);
  const Val zero = p.number(0), one = p.number(1);
  p.set_element(found, zero, p.call("heap_alloc", p.next_param()));
  const Val x = p.push({.op = Op::External,
                        .type = DType::Float64,
                        .index = external("bits_float"),
                        .operands = {p.next_param(), kNone, kNone}});
  const Val up = p.push({.op = Op::External,
                         .type = DType::Float64,
                         .index = external("hypot"),
                         .operands = {x, x, kNone}});
  p.set_element(found, one, p.call("float_bits", up));
  on_tiers(p.finish(), [](const Runner& code) {
    std::int64_t found[2] = {1, 1};
    Heap h;
    const Heap::Use use(h);
    for (std::int64_t bytes : {std::int64_t{-1}, std::int64_t{1} << 60}) {
      run(code, {found}, {bytes, std::bit_cast<std::int64_t>(3.0)});
      CHECK(found[0] == 0);
      CHECK(std::bit_cast<double>(found[1]) == std::hypot(3.0, 3.0));
    }
  });
}

namespace {

// Of `n` elements of a dtype: what most instructions there are make of them, in every place that
// they may stand in. The last buffer gets numbers of int64.
Kernel mixed(DType t) {
  Program p;
  const auto size = static_cast<std::int64_t>(itemsize(t));
  const std::int32_t x = p.buffer(t, false), out = p.buffer(t, true),
                     numbers = p.buffer(DType::Int64, true);
  const std::int32_t last = p.variable(t);
  const Val n = p.next_param(), zero = p.number(0);
  p.next_param();                                   // how far one element is from the next
  const std::int32_t work = p.variable(t, {0, 0});  // n elements
  const bool inexact = is_float(t) || is_complex(t);
  const auto element = [&](Val i) { return p.load(x, {{}, {{i, {0, 1}}}}); };
  const auto result = [&](std::int64_t at, Val v) { p.store(out, {{at * size}, {}}, v); };
  {
    const std::int32_t loop = p.open_for(zero, n);
    const Val i = p.var(loop), v = element(i);
    p.store_local(work, {{}, {{i, {1}}}}, p.apply(OpId::Add, t, {v, p.get(last)}));
    p.set(last, v);
    p.close();
  }
  const auto folds = [&](std::vector<Reduction> all) {
    const std::int32_t loop = p.open_reduce(zero, n);
    const Val v = p.load_local(work, {{}, {{p.var(loop), {1}}}});
    for (Reduction& r : all) r.value = v;
    return p.close(all);
  };
  const Order tree = inexact ? Order::Pairwise : Order::Any;
  const auto sums = folds({{ReduceKind::Sum, kNone, tree},
                           {ReduceKind::Prod, kNone, inexact ? Order::Sequential : Order::Any}});
  result(0, sums[0]);
  result(1, sums[1]);
  if (!is_complex(t)) {
    const auto places = folds({{ReduceKind::Max, kNone, Order::Any},
                               {ReduceKind::ArgMin, kNone, Order::Any},
                               {ReduceKind::ArgMax, kNone, Order::Any}});
    result(2, places[0]);
    for (std::int64_t at : {0, 1})
      p.set_element(numbers, p.number(at), places[static_cast<std::size_t>(at + 1)]);
  }
  const std::int32_t loop = p.open_for(zero, n);
  const Val i = p.var(loop), v = element(i);
  const Val square = p.apply(OpId::Multiply, t, {v, v});
  const Val same = p.is(OpId::Equal, square, v);
  p.open_if(same);
  p.set(last, square);
  p.otherwise();
  p.set(last, p.apply(OpId::Where, t, {p.is(OpId::NotEqual, v, p.get(last)), square, v}));
  p.close();
  p.scatter(OpId::Count_, out, {{3 * size}, {}}, i, {size}, p.get(last));
  if (combines(OpId::Add, t)) {
    p.scatter(OpId::Add, out, {{2 * size}, {}}, zero, {size}, v);
    p.scatter(OpId::Maximum, out, {{size}, {}}, zero, {size}, v);
  }
  if (t != DType::Bool) p.set_element(numbers, p.number(2), p.cast(same, DType::Int64));
  p.close();
  return p.finish();
}

}  // namespace

TEST_CASE("interpreter and machine code leave the same memory, whatever the dtype") {
  for (const DType t : {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32,
                        DType::UInt32, DType::Int64, DType::UInt64, DType::Float32, DType::Float64,
                        DType::Complex64, DType::Complex128}) {
    const Kernel k = mixed(t);
    INFO(to_string(k));
    verify(k);
    for (const std::int64_t n : {0, 1, 7, 8, 9, 129, 1000}) {
      std::vector<Scalar> values;
      std::vector<unsigned char> x;
      for (std::int64_t i = 0; i < n; ++i) {
        const Scalar s = cast(scalar_float(static_cast<double>(i * 37 % 19) * 0.37 - 2.5), t);
        x.insert(x.end(), s.bytes, s.bytes + itemsize(t));
      }
      const auto memory = [&](const Runner& runner) {
        std::vector<unsigned char> out(static_cast<std::size_t>(n + 3) * itemsize(t));
        std::vector<std::int64_t> numbers(3);
        run(runner, {x.data(), out.data(), numbers.data()},
            {n, static_cast<std::int64_t>(itemsize(t))});
        return std::pair(out, numbers);
      };
      for (const CpuTier tier : tiers()) {
        const auto found = memory(interpreted(k, tier));
        CHECK(found == memory(compiled(k, tier, jit::Effort::Full)));
        CHECK(found == memory(compiled(k, tier, jit::Effort::Quick)));
        if (n == 7 && t == DType::Float64) CHECK(found.second[0] != found.second[1]);
      }
    }
  }
}
