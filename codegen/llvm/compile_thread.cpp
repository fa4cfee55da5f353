// The background compiler: one thread of low priority, so that it takes little time from parallel
// loops on the same cores. Not of idle priority: on a busy machine a thread of that kind stands
// still for seconds, with whatever lock it holds, and the process could not end before it has.
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "backend.hpp"
#include "fork.hpp"

namespace plait::jit {
namespace {

constexpr int kNice = 10;

struct Job {
  std::shared_ptr<const ir::Kernel> kernel;
  CpuTier tier;
  std::shared_ptr<CodeSlot> slot;
};

void work();
void reset_in_child();
void stop_at_exit();

// Never destroyed: the thread may still run while static objects go.
struct Queue {
  std::mutex mutex;
  std::condition_variable changed, idle;
  std::deque<Job> jobs;
  bool running = false, busy = false, stopping = false;
  std::thread thread;

  Queue() {
    hold_over_fork(mutex);
    after_fork_in_child(&reset_in_child);
    std::atexit(&stop_at_exit);
  }
};
Queue& queue() {
  static Queue& q = *new Queue;
  return q;
}

void run(const Job& job) {
  try {
    job.slot->set(compile(*job.kernel, job.tier));
  } catch (const std::exception& e) {
    log(Log::Compile, std::string("the interpreter carries on: ") + e.what());
  }
}

void work() {
#ifdef __linux__
  // There, it sets the priority of a thread.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
#endif
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  while (true) {
    q.changed.wait(lock, [&] { return q.stopping || !q.jobs.empty(); });
    if (q.stopping) return;
    Job job = std::move(q.jobs.front());
    q.jobs.pop_front();
    q.busy = true;
    lock.unlock();
    run(job);
    job = {};
    lock.lock();
    q.busy = false;
    if (q.jobs.empty()) q.idle.notify_all();
  }
}

// The parent's thread is not in the child: forget it; the next job starts another. What was queued
// or being compiled stays on the interpreter there until it is asked for again.
void reset_in_child() {
  Queue& q = queue();
  new (&q.thread) std::thread;
  new (&q.changed) std::condition_variable;
  new (&q.idle) std::condition_variable;
  q.jobs.clear();
  q.running = q.busy = false;
}

// Waits for the kernel in work, not for the queue.
void stop_at_exit() {
  Queue& q = queue();
  {
    std::lock_guard lock(q.mutex);
    q.stopping = true;
    q.jobs.clear();
    if (!q.running) return;
  }
  q.changed.notify_all();
  q.thread.join();
}

}  // namespace

void compile_async(std::shared_ptr<const ir::Kernel> k, CpuTier tier,
                   std::shared_ptr<CodeSlot> slot) {
  Queue& q = queue();
  {
    std::lock_guard lock(q.mutex);
    if (q.stopping) return;
    q.jobs.push_back({std::move(k), tier, std::move(slot)});
    if (!q.running) {
      q.thread = std::thread(&work);
      q.running = true;
    }
  }
  q.changed.notify_one();
}

void wait_idle() {
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  q.idle.wait(lock, [&] { return q.stopping || (q.jobs.empty() && !q.busy); });
}

}  // namespace plait::jit
