#include "lent_threads.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "engine/plans/state.hpp"
#include "float_control.hpp"
#include "pieces.hpp"
#include "seconds.hpp"

namespace plait::engine {

namespace {

constexpr double kPieceOfTask = 20e-6;
constexpr double kShown = 0.2;  // part of a loop that shows what all of it takes

// A loop whose pieces are claimed by whichever tasks get a thread.
class SharedLoop {
 public:
  SharedLoop(const ParallelLoop& loop, LoopBody body) : loop_(loop), body_(body) {
    pieces_.start(loop, shares_always());
    pieces_.divide(loop.threads);
  }

  static void task(void* self, int) { static_cast<SharedLoop*>(self)->take_part(); }

  // The caller of the loop is worker 0, whichever task its thread has. Others have numbers of their
  // own as long as there are any.
  void take_part() {
    if (pthread_equal(pthread_self(), caller_) != 0) return work_as_caller();
    const int worker = 1 + begun_.fetch_add(1, std::memory_order_relaxed);
    if (worker >= loop_.threads) return;
    inside_.fetch_add(1, std::memory_order_relaxed);
    {
      const FloatStateKept of_the_application;
      set_float_control(control_);
      std::int64_t begin, end;
      while (pieces_.claim(worker, kPieceOfTask, begin, end))
        if (!body_(begin, end, worker)) pieces_.stop();
    }
    inside_.fetch_sub(1, std::memory_order_release);
  }

  void work_as_caller() {
    const double start = cpu_seconds();
    std::int64_t begin, end;
    while (pieces_.claim(0, kPieceOfTask, begin, end)) {
      const double last = seconds_now();
      if (!body_(begin, end, 0)) pieces_.stop();
      done_ += end - begin;
      pieces_.correct(seconds_now() - last, end - begin);
    }
    used_ += cpu_seconds() - start;
  }

  // After `run` has returned, or has thrown: then tasks may still be at work.
  void complete() {
    work_as_caller();
    while (inside_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

  // On one thread, as far as the caller's part shows.
  double alone() const {
    const double part = static_cast<double>(done_) / static_cast<double>(loop_.extent);
    return part > kShown ? used_ / part : loop_.seconds;
  }

 private:
  const ParallelLoop& loop_;
  const LoopBody body_;
  const pthread_t caller_ = pthread_self();
  const unsigned control_ = float_control();
  Pieces pieces_;
  std::atomic<int> begun_{0}, inside_{0};
  // The caller's alone.
  std::int64_t done_ = 0;
  double used_ = 0;
};

}  // namespace

void lend_threads(RunTasks run) {
  const RunTasks* const made = run ? new RunTasks(std::move(run)) : nullptr;
  delete state().lent_threads.exchange(made);
}

bool has_lent_threads() { return state().lent_threads.load(std::memory_order_relaxed) != nullptr; }

double run_lent(const ParallelLoop& loop, LoopBody body) {
  SharedLoop shared(loop, body);
  try {
    (*state().lent_threads.load(std::memory_order_acquire))(loop.threads, &SharedLoop::task,
                                                            &shared);
  } catch (...) {  // no threads, no help
  }
  shared.complete();
  return shared.alone();
}

// Not freed: what it captured may wait for threads that do not exist.
void return_lent_threads_in_child() { state().lent_threads.store(nullptr); }

}  // namespace plait::engine
