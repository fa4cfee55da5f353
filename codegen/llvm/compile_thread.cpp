// The background compiler: one thread of low priority, so that it takes little time from parallel
// loops on the same cores. Not of idle priority: on a busy machine a thread of that kind stands
// still for seconds, with whatever lock it holds, and the process could not end before it has.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
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
  std::shared_ptr<CodeSlot> in_work;
  bool running = false, stopping = false;
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

void run(const Job& job) { compile_into(*job.slot, *job.kernel, job.tier); }

void work() {
#ifdef __linux__
  // There, it sets the priority of a thread.
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  sched_yield();  // it came with the priority of its maker, and on one core in the maker's place
#endif
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  while (true) {
    q.changed.wait(lock, [&] { return q.stopping || !q.jobs.empty(); });
    if (q.stopping) return;
    Job job = std::move(q.jobs.front());
    q.jobs.pop_front();
    q.in_work = job.slot;
    lock.unlock();
    run(job);
    job = {};
    lock.lock();
    q.in_work = nullptr;
    if (q.jobs.empty()) q.idle.notify_all();
  }
}

// The parent's thread is not in the child: forget it; the next job starts another. What was queued
// may be asked for again; what was being compiled stays on the interpreter there.
void reset_in_child() {
  Queue& q = queue();
  new (&q.thread) std::thread;
  new (&q.changed) std::condition_variable;
  new (&q.idle) std::condition_variable;
  for (const Job& job : q.jobs) job.slot->ask_later();
  q.jobs.clear();
  if (q.in_work) q.in_work->give_up();
  q.in_work = nullptr;
  q.running = false;
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

void compile_into(CodeSlot& slot, const ir::Kernel& k, CpuTier tier) noexcept {
  // Without building a text: there may be no memory for one.
  auto report = [](const char* why) noexcept {
    if (!logging(Log::Compile)) return;
    char line[600];
    const int n = std::snprintf(line, sizeof line, "the interpreter carries on: %s", why);
    log(Log::Compile, {line, std::min(static_cast<std::size_t>(n), sizeof line - 1)});
  };
  try {
    slot.set(compile(k, tier));
  } catch (const std::bad_alloc&) {
    slot.ask_later();
    report("memory is short");
  } catch (const std::exception& e) {
    slot.give_up();
    report(e.what());
  }
}

void compile_async(std::shared_ptr<const ir::Kernel> k, CpuTier tier,
                   std::shared_ptr<CodeSlot> slot) noexcept {
  Queue& q = queue();
  const Job job{std::move(k), tier, std::move(slot)};
  try {
    std::lock_guard lock(q.mutex);
    if (q.stopping) return job.slot->give_up();
    if (!q.running) {
      q.thread = std::thread(&work);
      q.running = true;
    }
    q.jobs.push_back(job);
  } catch (const std::system_error&) {
    return run(job);
  } catch (const std::bad_alloc&) {
    return job.slot->ask_later();
  }
  q.changed.notify_one();
}

void wait_idle() {
  Queue& q = queue();
  std::unique_lock lock(q.mutex);
  q.idle.wait(lock, [&] { return q.stopping || (q.jobs.empty() && !q.in_work); });
}

}  // namespace plait::jit
