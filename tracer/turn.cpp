#include "turn.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "context.hpp"

namespace plait::tracer {

namespace {

struct Turns {
  std::mutex mutex;
  std::condition_variable ended;
  bool taken = false;
  // Its owner's alone: others compare the name with their own and find it different.
  std::atomic<pthread_t> owner{};
  int depth = 0;  // of the owner, beyond the first
  int kept = 0;   // scopes of the owner that keep the recorder's lock

  bool try_take() {
    const std::lock_guard held(mutex);
    return !taken && (taken = true);
  }
};
Turns& turns() {
  static auto& t = *new Turns;
  return t;
}

void wait_for_turn(Turns& t) {
  constexpr std::chrono::milliseconds kPoll(20);
  const Away away;
  std::unique_lock held(t.mutex);
  while (t.taken) {
    if (t.ended.wait_for(held, kPoll, [&] { return !t.taken; })) break;
    held.unlock();
    evaluator().poll();
    held.lock();
  }
  t.taken = true;
}

}  // namespace

Turn::Turn(LockWhileRunning lock) : keeps_(lock == LockWhileRunning::Kept) {
  Turns& t = turns();
  const pthread_t self = pthread_self();
  if (t.owner.load(std::memory_order_relaxed) == self) {
    ++t.depth;
  } else {
    if (!t.try_take()) wait_for_turn(t);
    t.owner.store(self, std::memory_order_relaxed);
  }
  t.kept += keeps_;
}

Turn::~Turn() {
  Turns& t = turns();
  t.kept -= keeps_;
  if (t.depth != 0) {
    --t.depth;
    return;
  }
  t.owner.store(pthread_t{}, std::memory_order_relaxed);
  {
    const std::lock_guard held(t.mutex);
    t.taken = false;
  }
  t.ended.notify_one();
}

Away::Away() : levels_(lock().let_go()), host_(host_lock().let_go()) {}
// The host's first: who holds it may want ours.
Away::~Away() {
  host_lock().take_back(host_);
  lock().take_back(levels_);
}

Unlocked::Unlocked() {
  const Turns& t = turns();
  const bool mine = t.owner.load(std::memory_order_relaxed) == pthread_self();
  if (mine && t.kept == 0) away_.emplace();
}

namespace {
std::optional<Turn> over_fork;
}

void hold_turns_over_fork() {
  while (!over_fork) try {
      over_fork.emplace();
    } catch (...) {  // an interrupt: fork() does not fail, and the signal is handled after it
    }
  // In the order of a thread that asks for its turn while it holds the recorder's lock.
  lock().lock();
  turns().mutex.lock();
}
void resume_turns_in_parent() {
  turns().mutex.unlock();
  lock().unlock();
  over_fork.reset();
}
void resume_turns_in_child() {
  Turns& t = turns();
  // Their waiters, if there were any, do not exist here.
  new (&t.mutex) std::mutex;
  new (&t.ended) std::condition_variable;
  lock().unlock();
  over_fork.reset();
}

}  // namespace plait::tracer
