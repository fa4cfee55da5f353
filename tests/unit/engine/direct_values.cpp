// The reference evaluator on graphs whose answers are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/buffer.hpp"
#include "core/config.hpp"
#include "core/op_events.hpp"
#include "core/processor/float_unit.hpp"
#include "engine/direct/direct.hpp"
#include "engine/engine.hpp"
#include "tracer/context.hpp"

using namespace plait;
using namespace plait::tracer;

namespace {

struct Direct : Evaluator {
  void evaluate(std::span<Node* const> wanted) override { engine::evaluate_direct(wanted); }
  bool eager(OpId fn, std::span<const Array* const> in, const Array& out) override {
    return engine::direct_eager(fn, in, out);
  }
};

// Installs the direct evaluator for one test and puts the engine's back.
struct WithDirect {
  Direct direct;
  std::int64_t limit = config().eager_limit;
  Evaluator* before;
  explicit WithDirect(std::int64_t eager_limit = 0) {
    engine::start();
    before = &evaluator();
    install(&direct);
    config().eager_limit = eager_limit;
  }
  ~WithDirect() {
    flush();
    config().eager_limit = limit;
    install(before);
  }
};

Array range(std::int64_t n) { return arange(n, scalar_float(0), scalar_float(1)); }
Index from(std::int64_t i) { return Slice{i, std::nullopt, std::nullopt}; }
Index to(std::int64_t i) { return Slice{std::nullopt, i, std::nullopt}; }
Array cut(const Array& a, Index i) { return slice(a, std::span(&i, 1)); }
Array add(const Array& a, const Array& b) {
  const Operand o[] = {a, b};
  return elementwise(OpId::Add, o);
}
std::vector<double> values(const Array& a) {
  const Array c = copy(astype(a, DType::Float64), 'C');
  const auto* p = static_cast<const double*>(data(c));
  return {p, p + c.size()};
}
using V = std::vector<double>;

// Numbers near the ends of what T holds, of functions' domains, and of neither.
template <class T>
std::vector<T> telling() {
  using L = std::numeric_limits<T>;
  const T nan = L::quiet_NaN(), inf = L::infinity();
  return {0,           -T(0),    1,          -1,       inf,     -inf,   nan,   L::max(),
          L::lowest(), L::min(), T(1e-30),   T(0.5),   T(-1.5), 2,      -3,    T(1e30),
          89,          710,      -T(1e-300), -T(88.5), T(-745), T(1e5), T(0.9)};
}

// Those of a dtype, along one axis; of complex numbers, pairs of the first of them.
Array telling(DType t) {
  const DType part = t == DType::Float32 || t == DType::Complex64 ? DType::Float32 : DType::Float64;
  const auto fill = [&]<class T>(const std::vector<T>& all) {
    std::vector<T> parts = all;
    if (is_complex(t)) {
      parts.clear();
      for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 10; ++j) parts.insert(parts.end(), {all[i], all[j]});
    }
    const Array a = empty({static_cast<std::int64_t>(parts.size() * sizeof(T) / itemsize(t))}, t);
    std::memcpy(data(a), parts.data(), parts.size() * sizeof(T));
    return a;
  };
  return part == DType::Float32 ? fill(telling<float>()) : fill(telling<double>());
}

// The flags of what is reported while one lives.
struct Heard {
  static inline unsigned flags = 0;
  ErrorState before = error_state(current_error_state());
  Heard() {
    constexpr auto warn = ErrorAction::Warn;
    set_error_state({warn, warn, warn, warn});
    flags = 0;
    set_fp_sink([](FpEvent e, std::string_view, const ErrorState&, std::uint32_t) {
      constexpr unsigned kFlag[] = {kDivide, kOver, kUnder, kInvalid};
      flags |= kFlag[static_cast<int>(e)];
    });
  }
  ~Heard() {
    set_fp_sink(nullptr);
    set_error_state(before);
  }
};

}  // namespace

TEST_CASE("overlapping operands behave as if disjoint") {
  const WithDirect direct;
  Array a = range(5);
  assign(cut(a, from(1)), Operand(add(cut(a, from(1)), cut(a, to(-1)))));
  CHECK(values(a) == V{0, 1, 3, 5, 7});
  Array b = range(5);
  assign(cut(b, from(1)), Operand(cut(b, to(-1))));
  CHECK(values(b) == V{0, 0, 1, 2, 3});
  Array c = range(4);
  assign(c, Operand(flip(c, std::nullopt)));
  CHECK(values(c) == V{3, 2, 1, 0});
}

TEST_CASE("an operation whose value is stored writes to where it is stored") {
  const WithDirect direct;
  Array a = range(5), b = range(6);
  evaluate(a);
  evaluate(b);
  const std::size_t before = pool_stats().allocations;
  assign(cut(a, from(1)), Operand(add(cut(a, from(1)), cut(b, to(4)))));  // a[1:] += b[:4]
  evaluate(a);
  assign(cut(b, from(1)), Operand(a));
  evaluate(b);
  CHECK(pool_stats().allocations == before);
  CHECK(values(a) == V{0, 1, 3, 5, 7});
  CHECK(values(b) == V{0, 0, 1, 3, 5, 7});

  Array wide = range(5), narrow = astype(range(5), DType::Float32);  // converted on the way
  evaluate(narrow);
  assign(cut(wide, to(4)), Operand(cut(narrow, from(1))));
  CHECK(values(wide) == V{1, 2, 3, 4, 4});
}

TEST_CASE("a value that is stored and read elsewhere is both") {
  const WithDirect direct;
  Array a = range(4);
  evaluate(a);
  const Array old = cut(a, to(2)), sum = add(cut(a, from(1)), cut(a, to(-1)));
  const Array shown = add(old, old);
  assign(cut(a, from(1)), Operand(sum));
  CHECK(values(a) == V{0, 1, 3, 5});
  CHECK(values(sum) == V{1, 3, 5});
  CHECK(values(shown) == V{0, 2});
  CHECK(values(old) == V{0, 1});
}

TEST_CASE("floating-point events of what is stored are its own") {
  const WithDirect direct;
  static std::string seen;
  seen.clear();
  set_fp_sink(
      [](FpEvent, std::string_view name, const ErrorState&, std::uint32_t) { seen = name; });
  Array a = range(4);
  evaluate(a);
  const Array part = cut(a, from(1));
  const Operand o[] = {part, Operand(scalar_float(0), Weak::Float)};
  assign(part, Operand(elementwise(OpId::Divide, o)));
  CHECK(std::isinf(values(a)[1]));
  CHECK(seen == "divide");
  set_fp_sink(nullptr);
}

TEST_CASE("an array that was read before a write keeps its value") {
  const WithDirect direct;
  Array a = range(3);
  evaluate(a);
  const Array doubled = add(a, a);
  assign(cut(a, to(1)), Operand(scalar_int(9), Weak::Int));
  CHECK(values(a) == V{9, 1, 2});
  CHECK(values(doubled) == V{0, 2, 4});
}

TEST_CASE("an update nobody else reads happens in place") {
  const WithDirect direct;
  Array a = range(100);
  const void* before = data(a);
  assign(cut(a, to(1)), Operand(scalar_int(9), Weak::Int));
  CHECK(data(a) == before);
}

TEST_CASE("rounds that each write into a new array use the memory of the rounds before") {
  const WithDirect direct;
  constexpr std::int64_t kSize = 100'000;
  Array a = range(kSize);
  evaluate(a);
  for (int i = 0; i < 20; ++i) {
    Array fresh = full(Dims{kSize}, scalar_float(1));
    assign(cut(fresh, to(-1)), Operand(cut(add(a, a), from(1))));
    a = fresh;
  }
  trim_pool();
  const PoolStats before = pool_stats();
  evaluate(a);
  const PoolStats after = pool_stats();
  CHECK((after.allocations - after.reuses) - (before.allocations - before.reuses) <= 4);
}

TEST_CASE("masked writes leave the rest") {
  const WithDirect direct;
  Array a = range(4);
  const Operand compare[] = {a, Operand(scalar_float(1.5), Weak::Float)};
  const Array mask = elementwise(OpId::Greater, compare);
  assign(a, Operand(scalar_int(-1), Weak::Int), &mask);
  CHECK(values(a) == V{0, 1, -1, -1});
}

TEST_CASE("reductions over any axes") {
  const WithDirect direct;
  const Array a = reshape(range(6), {2, 3});
  ReduceOptions rows, columns;
  rows.axes = Dims{1};
  columns.axes = Dims{0};
  CHECK(values(reduce(ReduceKind::Sum, a, rows)) == V{3, 12});
  CHECK(values(reduce(ReduceKind::Max, a, columns)) == V{3, 4, 5});
  CHECK(values(reduce(ReduceKind::ArgMax, a)) == V{5});
  CHECK(values(reduce(ReduceKind::ArgMin, flip(a, std::nullopt), rows)) == V{2, 2});
  ReduceOptions initial;
  initial.initial = scalar_float(100);
  CHECK(values(reduce(ReduceKind::Sum, a, initial)) == V{115});
}

TEST_CASE("the sum of negative zeros is zero, as NumPy's") {
  const WithDirect direct;
  CHECK_FALSE(
      std::signbit(item(reduce(ReduceKind::Sum, full({3}, scalar_float(-0.0))), {}).as<double>()));
}

TEST_CASE("half sums are rounded once") {
  const WithDirect direct;
  const Array h = full({4096}, cast(scalar_float(1), DType::Float16));
  CHECK(values(reduce(ReduceKind::Sum, h)) == V{4096});  // 2048 + 1 is 2048 in half precision
}

TEST_CASE("matrix products, integers and batches included") {
  const WithDirect direct;
  const Array a = reshape(range(6), {2, 3});
  CHECK(values(matmul(a, transpose(a))) == V{5, 14, 14, 50});
  CHECK(values(matmul(a, range(3))) == V{5, 14});
  const Array i = astype(a, DType::Int8);
  CHECK(matmul(i, transpose(i)).dtype == DType::Int8);
  CHECK(values(matmul(i, transpose(i))) == V{5, 14, 14, 50});
  CHECK(values(matmul(broadcast_to(a, {2, 2, 3}), range(3))) == V{5, 14, 5, 14});
}

TEST_CASE("int64 against uint64 compares exactly") {
  const WithDirect direct;
  const Array s = full({1}, scalar_int(-1));
  const Array u = full({1}, Scalar::of(DType::UInt64, ~std::uint64_t{0}));
  const Operand less[] = {s, u}, equal[] = {u, s};
  CHECK(values(elementwise(OpId::Less, less)) == V{1});
  CHECK(values(elementwise(OpId::Equal, equal)) == V{0});
}

TEST_CASE("small operands are computed at once, with the same answer") {
  const WithDirect direct(100);
  const Array a = range(4);
  evaluate(a);
  const Array sum = add(a, flip(a, std::nullopt));
  CHECK(is_materialised(sum));
  CHECK(values(sum) == V{3, 3, 3, 3});
  const Array bytes = astype(a, DType::Int8);
  evaluate(bytes);
  const Operand mixed[] = {bytes, Operand(scalar_float(0.5), Weak::Float)};
  CHECK(values(elementwise(OpId::Multiply, mixed)) == V{0, 0.5, 1, 1.5});
}

TEST_CASE("a long chain evaluates without recursion") {
  const WithDirect direct;
  set_graph_limit(std::size_t{1} << 40, std::size_t{1} << 60);
  Array a = range(2);
  for (int i = 0; i < 100000; ++i) {
    const Operand o[] = {a, Operand(scalar_float(1), Weak::Float)};
    a = elementwise(OpId::Add, o);
  }
  CHECK(values(a) == V{100000, 100001});
  set_graph_limit(4096, std::size_t{1} << 30);
}

TEST_CASE("the pending graph is bounded") {
  const WithDirect direct;
  const auto flushes = graph_stats().flushes;
  Array a = range(3);
  for (int i = 0; i < 20000; ++i) {
    const Operand o[] = {a, Operand(scalar_float(1), Weak::Float)};
    a = elementwise(OpId::Add, o);
    REQUIRE(graph_stats().pending_nodes < 5000);
  }
  CHECK(graph_stats().flushes > flushes);
  CHECK(values(a) == V{20000, 20001, 20002});
}

TEST_CASE("running out of memory loses nothing") {
  const WithDirect direct;
  const Array a = range(1000);
  const Array b = add(a, a);
  fail_allocation(1);
  CHECK_THROWS_AS(evaluate(b), std::bad_alloc);
  fail_allocation(-1);
  CHECK(values(b)[999] == 1998);
}

TEST_CASE("flush computes what it can and leaves what it cannot alone") {
  const WithDirect direct;
  const Array large = full({1 << 24, 1 << 20}, scalar_float(1));  // 128 TiB
  const Array failed = add(large, large);
  const Array a = range(1000), b = add(a, a);
  flush();
  CHECK(is_materialised(b));
  CHECK_FALSE(is_materialised(failed));
  const Array c = add(b, b);
  set_graph_limit(1, std::size_t{1} << 30);
  CHECK(values(add(c, c))[999] == 8 * 999);
  set_graph_limit(4096, std::size_t{1} << 30);
  CHECK_THROWS_AS(evaluate(failed), std::bad_alloc);
}

TEST_CASE("a value that cannot be computed keeps the contents that it reads") {
  const WithDirect direct;
  double memory[1000] = {7};
  const Array own = range(1000), lent = borrow(memory, DType::Float64, {1000}, {8}, true);
  evaluate(own);
  for (const Array& a : {own, lent}) {
    const Array reads = add(a, a);
    const double first = values(a)[0];
    fail_allocation(0);
    auto* p = static_cast<double*>(writable_data(a));
    fail_allocation(-1);
    REQUIRE_FALSE(is_materialised(reads));
    p[0] = 100;
    CHECK(values(a)[0] == 100);
    CHECK(values(reads)[0] == 2 * first);
  }
  CHECK(memory[0] == 100);
  const Array exported = range(1000);
  auto* p = static_cast<double*>(export_memory(exported));
  const Array reads = add(range(1000), range(1000));
  fail_allocation(0);
  assign(cut(exported, from(2)), Operand(scalar_int(7), Weak::Int));
  fail_allocation(-1);
  CHECK(p[2] == 7);
  CHECK(values(reads)[2] == 4);
  unexport(exported);
  end_borrow(std::span(&lent, 1));
}

TEST_CASE("exported memory stays in place and sees writes at once") {
  const WithDirect direct;
  const Array a = range(3);
  auto* p = static_cast<double*>(export_memory(a));
  assign(cut(a, from(2)), Operand(scalar_int(7), Weak::Int));
  CHECK(p[2] == 7);
  assign(a, Operand(scalar_int(1), Weak::Int));
  CHECK(p[0] == 1);
  p[1] = 5;
  CHECK(values(add(a, a)) == V{2, 10, 2});
  CHECK(data(a) == p);
  unexport(a);
}

TEST_CASE("borrowed buffers that overlap share a storage and are written through") {
  const WithDirect direct;
  double memory[] = {0, 1, 2, 3};
  {
    const Array tail = borrow(memory + 1, DType::Float64, {3}, {8}, true);
    const Array all = borrow(memory, DType::Float64, {4}, {8}, true);
    CHECK(tail.storage == all.storage);
    const Array before = add(all, all);
    assign(tail, Operand(scalar_int(9), Weak::Int));
    CHECK(values(all) == V{0, 9, 9, 9});
    const Array both[] = {tail, all};
    end_borrow(both);
    memory[0] = 100;  // no longer anybody's business
    CHECK(values(all) == V{0, 9, 9, 9});
    CHECK(values(before) == V{0, 2, 4, 6});
  }
  CHECK(memory[3] == 9);
}

TEST_CASE("borrowed memory is handed out where its owner looks") {
  const WithDirect direct;
  double memory[] = {0, 1, 2, 3};
  const Array a = borrow(memory, DType::Float64, {4}, {8}, true);
  const Array before = add(a, a);
  assign(a, Operand(flip(a, std::nullopt)));
  CHECK(values(a) == V{3, 2, 1, 0});
  auto* p = static_cast<double*>(export_memory(a));
  CHECK(p == memory);
  p[1] = 7;
  CHECK(values(before) == V{0, 2, 4, 6});
  unexport(a);
  assign(a, Operand(flip(a, std::nullopt)));
  CHECK(values(a) == V{0, 1, 7, 3});
  CHECK(writable_data(a) == memory);
  end_borrow(std::span(&a, 1));
  CHECK(memory[2] == 7);
}

TEST_CASE("floating-point events name the operation") {
  const WithDirect direct;
  static std::vector<std::string> events;
  events.clear();
  set_fp_sink([](FpEvent e, std::string_view op, const ErrorState&, std::uint32_t) {
    events.push_back(std::to_string(static_cast<int>(e)) + " " + std::string(op));
  });
  const Array ones = full({3}, scalar_float(1));
  const Operand o[] = {ones, Operand(scalar_float(0), Weak::Float)};
  evaluate(elementwise(OpId::Divide, o));
  set_fp_sink(nullptr);
  CHECK(events == std::vector<std::string>{"0 divide"});
}

TEST_CASE("operations and folds raise events of their column of the table alone") {
  const WithDirect direct;
  unsigned all = 0;
  for (const DType t : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128}) {
    const Array x = telling(t);
    for (int i = 0; i < kOpCount; ++i) {
      const auto fn = static_cast<OpId>(i);
      if (op_info(fn).loops.find(code(t)) == std::string_view::npos) continue;
      // Every one with every other; a third operand of complex numbers is paired with the second.
      const std::int64_t n = x.size();
      std::vector<Array> in;
      const int arity = op_info(fn).arity, axes = is_complex(t) ? std::min(arity, 2) : arity;
      for (int k = 0; k < arity; ++k) {
        Dims shape(static_cast<std::size_t>(axes), 1);
        shape[std::min(k, axes - 1)] = n;
        in.push_back(reshape(x, shape));
      }
      if (fn == OpId::Where) in[0] = astype(in[0], DType::Bool);
      evaluate(in);
      const Heard heard;
      const std::vector<Operand> operands(in.begin(), in.end());
      evaluate(elementwise(fn, operands));
      CAPTURE(op_info(fn).name, name(t));
      CHECK((Heard::flags & ~may_raise(fn, t)) == 0);
      all |= Heard::flags;
    }
    for (int i = 0; i < kReduceKindCount; ++i) {
      const auto kind = static_cast<ReduceKind>(i);
      if (reduce_info(kind).has(kOfBits)) continue;
      const Heard heard;
      evaluate(reduce(kind, x));
      CAPTURE(reduce_info(kind).name, name(t));
      CHECK((Heard::flags & ~may_raise(kind, t)) == 0);
    }
  }
  CHECK(all == (kDivide | kOver | kUnder | kInvalid));
}
