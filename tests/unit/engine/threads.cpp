// Threads that record and evaluate at once, share arrays and drop handles, while kernels compile in
// the background. ThreadSanitizer watches; the values are checked in any build.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "../../plan/arrays.hpp"
#include "codegen/llvm/jit.hpp"
#include "engine/plans/run.hpp"
#include "engine/threads/lent_threads.hpp"
#include "engine/threads/team.hpp"

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
    config().plan = PlanMode::Always;
    config().jit = JitMode::Background;
  }
  ~Fresh() {
    jit::wait_idle();
    config() = saved_;
  }

 private:
  Config saved_ = config();
};

// The first loop that is shared stays in its middle until it may go on.
class Held {
 public:
  Held() {
    engine::set_sharing(engine::Sharing::Always);
    config().threads = 2;
    engine::lend_threads([this](int n, void (*piece)(void*, int), void* data) {
      {
        std::unique_lock held(mutex_);
        inside_ = true;
        changed_.notify_all();
        changed_.wait_for(held, std::chrono::seconds(60), [this] { return goes_on_; });
      }
      for (int i = 0; i < n; ++i) piece(data, i);
    });
  }
  ~Held() {
    engine::lend_threads({});
    engine::set_sharing(engine::Sharing::WhenItPays);
  }
  void wait_until_inside() {
    std::unique_lock held(mutex_);
    REQUIRE(changed_.wait_for(held, std::chrono::seconds(60), [this] { return inside_; }));
  }
  void go_on() {
    const std::lock_guard held(mutex_);
    goes_on_ = true;
    changed_.notify_all();
  }
  bool goes_on() {
    const std::lock_guard held(mutex_);
    return goes_on_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool inside_ = false, goes_on_ = false;
};
constexpr std::int64_t kLong = 200000;  // elements whose kernel lets others record
constexpr std::chrono::milliseconds kAWhile(50);

}  // namespace

TEST_CASE("evaluations of two threads run side by side") {
  Fresh fresh;
  const Array x = ones({kLong}), y = ones({kLong});
  Held held;
  std::thread other([&] { CHECK(first(apply(OpId::Add, x, weak(1))) == 2); });
  held.wait_until_inside();
  CHECK(first(apply(OpId::Multiply, apply(OpId::Add, y, weak(2)), x)) == 3);
  CHECK(first(reduce(ReduceKind::Sum, y, 0)) == kLong);
  CHECK(!held.goes_on());
  held.go_on();
  other.join();
}

TEST_CASE("who wants what another thread computes waits for it") {
  Fresh fresh;
  const Array x = ones({kLong}), shared = apply(OpId::Add, x, weak(3));
  Held held;
  std::thread other([&] { CHECK(first(apply(OpId::Sqrt, shared)) == 2); });
  held.wait_until_inside();
  const std::uint64_t run = engine::stats().kernels_run;
  std::atomic<bool> done{false};
  std::thread waiting([&] {
    CHECK(first(apply(OpId::Multiply, shared, weak(2))) == 8);
    done = true;
  });
  std::this_thread::sleep_for(kAWhile);
  CHECK(!done);
  CHECK(engine::stats().kernels_run == run);
  held.go_on();
  other.join();
  waiting.join();
  CHECK(done);
}

TEST_CASE("memory that a running kernel reads is not handed out for writing") {
  Fresh fresh;
  const Array x = ones({kLong});
  Held held;
  std::thread other([&] { CHECK(first(apply(OpId::Add, x, weak(1))) == 2); });
  held.wait_until_inside();
  std::atomic<bool> done{false};
  std::thread writing([&] {
    static_cast<double*>(tracer::writable_data(x))[0] = 5;
    done = true;
  });
  std::this_thread::sleep_for(kAWhile);
  CHECK(!done);
  // Nobody begins meanwhile.
  std::thread third([&] { CHECK(first(apply(OpId::Add, ones({kLong}), weak(4))) == 5); });
  held.go_on();
  other.join();
  writing.join();
  third.join();
  CHECK(first(x) == 5);
}

TEST_CASE("threads draw on one set of pending arrays") {
  Fresh fresh;
  std::atomic<int> wrong{0};
  for (int round = 0; round < 6; ++round) {
    std::vector<Array> shared;
    std::vector<double> value;
    for (int i = 0; i < 6; ++i) {
      shared.push_back(apply(OpId::Add, i == 0 ? ones({20000}) : shared.back(), weak(i)));
      value.push_back(i == 0 ? 1 : value.back() + i);
    }
    at_once(4, [&](int t) {
      std::minstd_rand numbers(static_cast<unsigned>(1 + t + 4 * round));
      for (int i = 0; i < 12; ++i) {
        const std::size_t a = numbers() % 6, b = numbers() % 6;
        Array mine = apply(OpId::Multiply, shared[a], shared[b]);
        const double product = value[a] * value[b];
        if (numbers() % 2 == 0) {
          tracer::assign(view(mine, {std::int64_t{3}}), weak(7));
          mine = apply(OpId::Add, mine, weak(t));
          wrong += static_cast<const double*>(tracer::data(mine))[3] != 7 + t;
          wrong += first(mine) != product + t;
        } else {
          wrong += first(reduce(ReduceKind::Sum, mine, 0)) != product * 20000;
        }
      }
    });
  }
  CHECK(wrong == 0);
}

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
