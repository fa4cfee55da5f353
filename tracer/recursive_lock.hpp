// The recorder's lock. Every public entry point takes it, most of them several times over on their
// way down, so the nested case is a comparison and the free case one atomic exchange, inline.
#pragma once
#include <pthread.h>

#include <atomic>
#include <cstdint>
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
    std::uint32_t expected = kFree;
    if (!state_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]]
      wait();
    owner_.store(self, std::memory_order_relaxed);
  }
  void unlock() {
    if (depth_ != 0) {
      --depth_;
      return;
    }
    owner_.store(pthread_t{}, std::memory_order_relaxed);
    if (state_.exchange(kFree, std::memory_order_release) == kContended) [[unlikely]]
      state_.notify_one();
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
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kContended = 2;
  void wait() {
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree)
      state_.wait(kContended, std::memory_order_relaxed);
  }

  std::atomic<std::uint32_t> state_{kFree};
  std::atomic<pthread_t> owner_{};
  std::uint32_t depth_ = 0;  // of the owner, beyond the first
};

}  // namespace plait::tracer
