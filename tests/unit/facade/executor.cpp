// Loops on the application's own threads.
#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/config.hpp"
#include "engine/threads/team.hpp"
#include "plait/plait.hpp"

namespace {

// A thread pool as an application has one. Who waits in run() works meanwhile.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int t = 0; t < threads; ++t) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard held(mutex_);
      ends_ = true;
    }
    asked_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  void submit(std::function<void()> task) {
    {
      const std::lock_guard held(mutex_);
      tasks_.push_back(std::move(task));
    }
    asked_.notify_one();
  }

  void run(int n, void (*piece)(void*, int), void* data) {
    ++loops;
    std::atomic<int> left{n};
    for (int i = 0; i < n; ++i)
      submit([&left, piece, data, i, this] {
        piece(data, i);
        ++pieces;
        --left;
      });
    while (left.load() != 0)
      if (!step()) std::this_thread::yield();
  }

  std::atomic<int> loops{0}, pieces{0};

 private:
  bool step() {
    std::function<void()> task;
    {
      const std::lock_guard held(mutex_);
      if (tasks_.empty()) return false;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
    return true;
  }
  void work() {
    for (;;) {
      {
        std::unique_lock held(mutex_);
        asked_.wait(held, [this] { return ends_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
      }
      step();
    }
  }

  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  bool ends_ = false;
};

// Every loop is shared while it lives, by up to four workers. Every graph gets a plan: which are
// computed directly at first, and alone, depends on what was measured before.
class Lent {
 public:
  template <class F>
  explicit Lent(F&& executor) : threads_(plait::num_threads()), plan_(plait::config().plan) {
    plait::config().plan = plait::PlanMode::Always;
    plait::engine::set_sharing(plait::engine::Sharing::Always);
    plait::options o;
    o.threads = 4;
    o.executor = std::forward<F>(executor);
    plait::configure(o);
  }
  ~Lent() {
    plait::options o;
    o.threads = threads_;
    o.executor = nullptr;
    plait::configure(o);
    plait::engine::set_sharing(plait::engine::Sharing::WhenItPays);
    plait::config().plan = plan_;
  }

 private:
  const int threads_;
  const plait::PlanMode plan_;
};

std::vector<double> results(std::int64_t n) {
  const plait::array<double> x = plait::arange<double>(static_cast<double>(n)) * 0.25;
  const plait::array<double> y = plait::sin(x) * x + 1.0;
  const double sum = plait::sum(y).item();
  return {sum, y(n / 3), y(n - 1), static_cast<double>(plait::argmax(y).item())};
}

}  // namespace

TEST_CASE("loops run on the application's threads, with the same bits") {
  const std::vector<double> alone = results(200000);
  Pool pool(3);
  {
    const Lent lent([&](int n, void (*piece)(void*, int), void* d) { pool.run(n, piece, d); });
    CHECK(results(200000) == alone);
    CHECK(pool.loops > 0);
    CHECK(pool.pieces == 4 * pool.loops);
  }
  const int before = pool.loops;
  CHECK(results(200000) == alone);
  CHECK(pool.loops == before);
}

TEST_CASE("all threads of the pool may evaluate at once") {
  const std::vector<double> alone = results(100000);
  Pool pool(3);
  const Lent lent([&](int n, void (*piece)(void*, int), void* d) { pool.run(n, piece, d); });
  std::atomic<int> right{0}, left{6};
  for (int t = 0; t < 6; ++t)
    pool.submit([&] {
      right += results(100000) == alone;
      --left;
    });
  while (left != 0) std::this_thread::yield();
  CHECK(right == 6);
}

TEST_CASE("an executor may run pieces one after the other, or elsewhere alone, or throw") {
  const std::vector<double> alone = results(100000);
  {
    const Lent lent([](int n, void (*piece)(void*, int), void* data) {
      for (int i = 0; i < n; ++i) piece(data, i);
    });
    CHECK(results(100000) == alone);
  }
  {
    const Lent lent([](int n, void (*piece)(void*, int), void* data) {
      std::thread([=] {
        for (int i = 0; i < n; ++i) piece(data, i);
      }).join();
    });
    CHECK(results(100000) == alone);
  }
  {
    std::atomic<int> asked{0};
    const Lent lent([&](int, void (*)(void*, int), void*) {
      ++asked;
      throw std::bad_alloc();
    });
    CHECK(results(100000) == alone);
    CHECK(asked > 0);
  }
}

TEST_CASE("threads of the application keep their floating-point state") {
  std::atomic<int> changed{0}, seen{0};
  const Lent lent([&](int n, void (*piece)(void*, int), void* data) {
    std::thread([&] {
      std::feclearexcept(FE_ALL_EXCEPT);
      for (int i = 0; i < n; ++i) piece(data, i);
      changed += std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) != 0;
      ++seen;
    }).join();
  });
  const plait::array<double> x = plait::arange<double>(100000.0);
  const plait::array<double> y = plait::log(x) / x;
  CHECK(y(1) == 0);
  CHECK(seen > 0);
  CHECK(changed == 0);
}
