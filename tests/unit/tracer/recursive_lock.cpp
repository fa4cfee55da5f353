#include "tracer/recursive_lock.hpp"

#include <catch2/catch.hpp>
#include <mutex>
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
