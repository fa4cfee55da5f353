#include "tracer/recursive_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using plait::tracer::RecursiveLock;

TEST_CASE("one thread at a time holds the lock, however often it takes it") {
  RecursiveLock lock;
  std::int64_t count = 0;  // not atomic
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard outer(lock);
        const std::lock_guard inner(lock);
        ++count;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(count == 80000);
}

TEST_CASE("a thread lets go of every level, and takes them back") {
  RecursiveLock lock;
  CHECK(lock.let_go() == 0);
  lock.lock();
  lock.lock();
  const std::uint32_t levels = lock.let_go();
  CHECK(levels == 2);
  std::thread([&] {
    const std::lock_guard held(lock);  // would never come back if it were still held
  }).join();
  lock.take_back(levels);
  std::atomic<bool> entered{false};
  std::thread other([&] {
    const std::lock_guard held(lock);
    entered = true;
  });
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(!entered);
  lock.unlock();
  other.join();
  CHECK(entered);
}

// That is found out by a thread of its own.
static void know_whether_any_can_be_favoured() {
  for (int i = 0; i < 200 && !RecursiveLock::can_favour(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("a thread that takes the lock alone is favoured, until another comes") {
  know_whether_any_can_be_favoured();
  RecursiveLock lock;
  const auto take = [&lock](std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) const std::lock_guard held(lock);
  };
  take(RecursiveLock::kFavoured - 1);
  CHECK(!lock.favours_me());
  take(1);
  CHECK(lock.favours_me() == RecursiveLock::can_favour());
  lock.lock();
  lock.lock();
  const std::uint32_t levels = lock.let_go();
  CHECK(levels == 2);
  bool other_favoured = true;
  std::thread([&] {
    take(4 * RecursiveLock::kFavoured);
    other_favoured = lock.favours_me();  // one thread may be: see `inside_`
  }).join();
  CHECK(!other_favoured);
  CHECK(!lock.favours_me());
  lock.take_back(levels);
  lock.unlock();
  lock.unlock();
  take(2 * RecursiveLock::kFavoured);
  CHECK(lock.favours_me() == RecursiveLock::can_favour());
}

TEST_CASE("who comes while another thread is favoured holds the lock alone") {
  know_whether_any_can_be_favoured();
  RecursiveLock lock;
  std::int64_t count = 0;  // not atomic
  std::atomic<bool> end{false};
  std::int64_t own = 0, others = 0;
  std::thread favoured([&] {
    for (; !end; ++own) {
      const std::lock_guard held(lock);
      ++count;
    }
  });
  std::thread other([&] {
    for (; others < 100; ++others) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      const std::lock_guard held(lock);
      ++count;
    }
  });
  other.join();
  end = true;
  favoured.join();
  CHECK(count == own + others);
}

TEST_CASE("a child of the thread that holds the lock has it alone, whoever was waiting for it") {
  know_whether_any_can_be_favoured();
  RecursiveLock lock;
  for (std::uint32_t i = 0; i < RecursiveLock::kFavoured; ++i) const std::lock_guard held(lock);
  lock.lock();
  std::thread other([&] { const std::lock_guard held(lock); });
  while (lock.favours_me())  // it has ended the favour, and waits
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // rather than to hang
    lock.reset_in_child();
    lock.unlock();
    lock.lock();
    lock.unlock();
    _exit(0);
  }
  lock.unlock();
  other.join();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
