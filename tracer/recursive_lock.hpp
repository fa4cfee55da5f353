// The recorder's lock. Every public entry point takes it, most of them several times over on their
// way down, so the nested case is a comparison and the free case one atomic exchange, inline; to
// let go is a store. Who waits looks for it now and then: it is held for moments, and never while a
// kernel runs, and to wake somebody would cost each unlock() as much as the whole of lock().
#pragma once
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

namespace plait::tracer {

class RecursiveLock {
 public:
  RecursiveLock() = default;
  RecursiveLock(const RecursiveLock&) = delete;
  RecursiveLock& operator=(const RecursiveLock&) = delete;

  void lock() {
    const pthread_t self = pthread_self();
    // Nobody but this thread stores its own name.
    if (owner_.load(std::memory_order_relaxed) == self) {
      ++depth_;
      return;
    }
    if (held_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      wait();
    owner_.store(self, std::memory_order_relaxed);
  }
  void unlock() {
    if (depth_ != 0) {
      --depth_;
      return;
    }
    owner_.store(pthread_t{}, std::memory_order_relaxed);
    held_.store(false, std::memory_order_release);
  }

  // Lets go of all that this thread holds, however often it took it: how often that was, for
  // take_back().
  std::uint32_t let_go() {
    if (owner_.load(std::memory_order_relaxed) != pthread_self()) return 0;
    const std::uint32_t levels = std::exchange(depth_, 0) + 1;
    unlock();
    return levels;
  }
  void take_back(std::uint32_t levels) {
    if (levels == 0) return;
    lock();
    depth_ = levels - 1;
  }

 private:
  void wait() {
    constexpr int kSpins = 200;
    for (int i = 0;
         held_.load(std::memory_order_relaxed) || held_.exchange(true, std::memory_order_acquire);
         ++i)
      if (i >= kSpins) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

  std::atomic<bool> held_{false};
  std::atomic<pthread_t> owner_{};
  std::uint32_t depth_ = 0;  // of the owner, beyond the first
};

}  // namespace plait::tracer
