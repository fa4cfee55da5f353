// The recorder's lock. Every public entry point takes it, most of them several times over on their
// way down, so the nested case is a comparison. A thread that takes it time and again without
// another in between is favoured: it enters by a plain store, where an atomic exchange would take
// as long as everything else that it does for a small array. Another thread that comes ends the
// favour first, which costs it a system call; only the first thread that was favoured can be again,
// as `inside_` has one writer. Who waits looks for the lock now and then: it is held
// for moments, and never while a kernel runs, and to wake somebody would cost each unlock() as much
// as the whole of lock().
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
    if (!enter_favoured(self)) [[unlikely]]
      enter(self);
    owner_.store(self, std::memory_order_relaxed);
  }
  void unlock() {
    if (depth_ != 0) {
      --depth_;
      return;
    }
    owner_.store(pthread_t{}, std::memory_order_relaxed);
    if (by_favour_)
      inside_.store(false, std::memory_order_release);
    else
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
  // After fork(), by the thread that called it while it held this: nobody else is here any more,
  // also who was in the middle of lock(), and what they left half done does not count.
  void reset_in_child() {
    held_ = true;
    inside_ = by_favour_ = false;
    favoured_ = pthread_t{};
    last_ = first_favoured_ = pthread_t{};
    in_a_row_ = 0;
  }
  // Whether this thread is favoured; whether any can be here, which is not known at once.
  bool favours_me() const { return favoured_.load(std::memory_order_relaxed) == pthread_self(); }
  static bool can_favour();

  // How often a thread takes the lock, nobody else in between, before it is favoured.
  static constexpr std::uint32_t kFavoured = 1024;

 private:
  // Whoever ends the favour either finds `inside_` set, and waits, or has this thread find that it
  // is over: between the two stands a barrier of all threads (see end_favour()), so that none is
  // needed here but for the compiler.
  bool enter_favoured(pthread_t self) {
    if (favoured_.load(std::memory_order_relaxed) != self) return false;
    inside_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (favoured_.load(std::memory_order_relaxed) != self) [[unlikely]] {
      inside_.store(false, std::memory_order_release);
      return false;
    }
    by_favour_ = true;
    return true;
  }
  void enter(pthread_t self);
  void end_favour();

  std::atomic<bool> held_{false};    // by a thread that is not favoured
  std::atomic<bool> inside_{false};  // the favoured one holds it, or tries to
  std::atomic<pthread_t> owner_{};
  std::atomic<pthread_t> favoured_{};  // stored by who holds `held_`
  // Of the owner.
  std::uint32_t depth_ = 0;  // beyond the first
  bool by_favour_ = false;
  std::uint32_t in_a_row_ = 0, needed_ = kFavoured;
  pthread_t last_{}, first_favoured_{};
};

}  // namespace plait::tracer
