// Threads that record and evaluate at once, share arrays and drop handles, while kernels compile in
// the background. ThreadSanitizer watches; the values are checked in any build.
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "../../plan/arrays.hpp"
#include "codegen/llvm/jit.hpp"
#include "engine/run.hpp"

using namespace plait;
using namespace plait::test;

namespace {

void at_once(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(work, t);
  for (std::thread& t : team) t.join();
}

Array ones(const Dims& shape) {
  Array a = tracer::empty(shape, DType::Float64);
  auto* p = static_cast<double*>(tracer::data(a));
  std::fill(p, p + a.size(), 1.0);
  return a;
}

double first(const Array& a) { return static_cast<const double*>(tracer::data(a))[0]; }

// Kernels are taken afresh, so that each case compiles while it runs.
struct Fresh {
  Fresh() {
    engine::start();
    jit::wait_idle();
    engine::forget_plans();
    jit::forget_compiled();
    config().eager_limit = 0;
    config().jit = JitMode::Background;
  }
  ~Fresh() {
    jit::wait_idle();
    config() = saved_;
  }

 private:
  Config saved_ = config();
};

}  // namespace

TEST_CASE("threads with arrays of their own") {
  Fresh fresh;
  std::atomic<int> wrong{0};
  at_once(4, [&](int t) {
    for (int round = 0; round < 12; ++round) {
      Array x = ones({3000 + 100 * t});
      for (int i = 0; i <= t + round % 3; ++i) x = apply(OpId::Add, x, weak(1));
      const Array sum = reduce(ReduceKind::Sum, apply(OpId::Multiply, x, x), 0);
      const double each = 2 + t + round % 3;
      wrong += first(sum) != each * each * (3000 + 100 * t);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("threads that read one pending array") {
  Fresh fresh;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 10; ++round) {
    const Array x = ones({40000});
    const Array shared = apply(OpId::Sqrt, apply(OpId::Add, x, weak(3)));
    at_once(4, [&](int t) {
      const Array mine = apply(OpId::Multiply, shared, weak(t));
      wrong += first(reduce(ReduceKind::Max, mine, 0)) != 2 * t;
      wrong += first(shared) != 2;
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("a thread drops the handles that another evaluates through") {
  Fresh fresh;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 10; ++round) {
    auto base = std::make_unique<Array>(ones({20000}));
    auto pending = std::make_unique<Array>(apply(OpId::Add, *base, weak(round)));
    const Array result = apply(OpId::Multiply, *pending, weak(2));
    std::thread dropping([&] {
      base.reset();
      pending.reset();
    });
    wrong += first(result) != 2 * (1 + round);
    dropping.join();
  }
  CHECK(wrong == 0);
}

TEST_CASE("threads write disjoint views of one array") {
  Fresh fresh;
  Array a = ones({4, 10000});
  at_once(4, [&](int t) {
    const Array row = view(a, {std::int64_t{t}});
    for (int i = 0; i < 10; ++i) tracer::assign(row, apply(OpId::Add, row, weak(t)));
    tracer::evaluate(row);
  });
  const auto* p = static_cast<const double*>(tracer::data(a));
  for (int t = 0; t < 4; ++t) CHECK(p[t * 10000 + 77] == 1 + 10 * t);
}

TEST_CASE("explaining, counting and choosing threads beside evaluations") {
  Fresh fresh;
  std::atomic<bool> going{true};
  std::thread other([&] {
    while (going) {
      const Array x = apply(OpId::Add, ones({500}), weak(1));
      const std::lock_guard held(tracer::lock());
      const Ref<tracer::Node> node = tracer::read(x);
      tracer::Node* wanted[] = {node.get()};
      CHECK(engine::explain(wanted).find("1 region") == 0);
      (void)engine::stats();
      (void)engine::last_plan();
      (void)engine::num_threads();
    }
  });
  std::atomic<int> wrong{0};
  at_once(2, [&](int t) {
    for (int i = 0; i < 20; ++i) wrong += first(apply(OpId::Multiply, ones({60000}), weak(t))) != t;
  });
  going = false;
  other.join();
  CHECK(wrong == 0);
}
