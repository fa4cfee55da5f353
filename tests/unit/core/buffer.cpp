#include "core/buffer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>
#include <vector>

#include "core/block_pool.hpp"

using namespace plait;

namespace {

bool aligned(const Ref<Buffer>& b) { return reinterpret_cast<std::uintptr_t>(b->data) % 64 == 0; }

std::size_t resident_bytes() {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

struct PoolLimit {
  explicit PoolLimit(std::size_t bytes) { set_pool_limit(bytes); }
  ~PoolLimit() { set_pool_limit(std::size_t{1} << 30); }
};

}  // namespace

TEST_CASE("size classes cover what they are asked for") {
  for (std::size_t n = 0; n <= pool::kSmallLimit; ++n) {
    const int c = pool::size_class(n);
    if (pool::class_capacity(c) < n || (c > 0 && pool::class_capacity(c - 1) >= n) ||
        pool::size_class(pool::class_capacity(c)) != c)
      FAIL("size class of " << n);
  }
}

TEST_CASE("blocks of every size are aligned, writable and reused") {
  trim_pool();
  for (std::size_t n : {0u, 1u, 64u, 65u, 1000u, 65536u, 65537u, 1u << 20, 5u << 20, 33u << 20}) {
    Ref<Buffer> b = allocate(n);
    CHECK(aligned(b));
    CHECK(b->bytes == n);
    CHECK(b->writeable);
    CHECK_FALSE(b->foreign);
    std::memset(b->data, 1, n);
    std::byte* const data = b->data;
    const auto before = pool_stats();
    b.reset();
    CHECK(pool_stats().cached_bytes > before.cached_bytes);
    CHECK(pool_stats().live_bytes < before.live_bytes);
    b = allocate(n);
    CHECK(b->data == data);
    CHECK(pool_stats().reuses == before.reuses + 1);
  }
  trim_pool();
  CHECK(pool_stats().cached_bytes == 0);
}

TEST_CASE("a slightly smaller request reuses a large block, a much smaller one does not") {
  trim_pool();
  Ref<Buffer> b = allocate(10 << 20);
  std::byte* const data = b->data;
  b.reset();
  Ref<Buffer> small = allocate(1 << 20);
  CHECK(small->data != data);
  Ref<Buffer> near = allocate(9 << 20);
  CHECK(near->data == data);
}

TEST_CASE("cached bytes stay under the limit, oldest go first") {
  trim_pool();
  PoolLimit limit(8 << 20);
  Ref<Buffer> a = allocate(5 << 20), b = allocate(6 << 20);
  std::byte* const newest = b->data;
  a.reset();
  b.reset();
  CHECK(pool_stats().cached_bytes <= (8u << 20));
  b = allocate(6 << 20);
  CHECK(b->data == newest);
  Ref<Buffer> huge = allocate(20 << 20);
  huge.reset();
  CHECK(pool_stats().cached_bytes <= (8u << 20));
  set_pool_limit(0);
  CHECK(pool_stats().cached_bytes == 0);
  allocate(100);
  CHECK(pool_stats().cached_bytes == 0);
}

TEST_CASE("blocks that are trimmed give their pages back, whichever of their neighbours live") {
  trim_pool();
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const std::size_t before = resident_bytes();
  std::vector<Ref<Buffer>> blocks;
  for (int i = 0; i < 96; ++i) {
    blocks.push_back(allocate(kMiB));
    std::memset(blocks.back()->data, i, kMiB);
  }
  CHECK(resident_bytes() >= before + 90 * kMiB);
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i].reset();
  trim_pool();
  CHECK(resident_bytes() <= before + 56 * kMiB);
  for (std::size_t i = 1; i < blocks.size(); i += 2)
    CHECK(blocks[i]->data[kMiB - 1] == static_cast<std::byte>(i));
  blocks.clear();
  trim_pool();
  CHECK(resident_bytes() <= before + 8 * kMiB);
}

TEST_CASE("an allocation that fails changes nothing") {
  trim_pool();
  const auto before = pool_stats();
  fail_allocation(1);
  Ref<Buffer> first = allocate(10);
  CHECK_THROWS_AS(allocate(10), std::bad_alloc);
  CHECK_NOTHROW(allocate(10));
  fail_allocation(-1);
  CHECK_THROWS_AS(allocate(std::size_t{1} << 60), std::bad_alloc);
  CHECK_THROWS_AS(allocate(~std::size_t{0}), std::bad_alloc);
  first.reset();
  CHECK(pool_stats().live_bytes == before.live_bytes);
}

TEST_CASE("foreign memory is released once and never pooled") {
  int released = 0;
  double value[4] = {};
  Ref<Buffer> b =
      adopt(value, sizeof value, false, [](void* n) { ++*static_cast<int*>(n); }, &released);
  CHECK(b->foreign);
  CHECK_FALSE(b->writeable);
  CHECK(b->data == reinterpret_cast<std::byte*>(value));
  const Ref<Buffer> other = b;
  b.reset();
  CHECK(released == 0);
  const_cast<Ref<Buffer>&>(other).reset();
  CHECK(released == 1);
  // The recycled header must not remember it.
  Ref<Buffer> fresh = allocate(1 << 20);
  CHECK(fresh->release == nullptr);
  fresh.reset();
  CHECK(released == 1);
}

TEST_CASE("threads allocate and free one another's blocks") {
  trim_pool();
  const auto before = pool_stats();
  std::vector<Ref<Buffer>> shared(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&shared, t] {
      for (int round = 0; round < 200; ++round) {
        for (std::size_t i = static_cast<std::size_t>(t) * 16;
             i < static_cast<std::size_t>(t) * 16 + 16; ++i) {
          shared[i] = allocate((i * 977 + static_cast<std::size_t>(round) * 131) % 200000);
          std::memset(shared[i]->data, t, shared[i]->bytes);
        }
        if (round % 50 == 0) trim_pool();
      }
    });
  for (auto& t : threads) t.join();
  for (std::size_t i = 0; i < shared.size(); ++i)
    if (shared[i]->bytes)
      CHECK(static_cast<int>(shared[i]->data[shared[i]->bytes - 1]) == static_cast<int>(i / 16));
  shared.clear();
  CHECK(pool_stats().live_bytes == before.live_bytes);
  trim_pool();
  CHECK(pool_stats().cached_bytes == 0);
}

TEST_CASE("large blocks that a program goes on without go, those that it comes back to stay") {
  trim_pool();
  constexpr std::size_t kField = 240 * 1024;
  constexpr int kMany = 50;
  const auto hold = [](int n) {
    std::vector<Ref<Buffer>> live;
    for (int i = 0; i < n; ++i) live.push_back(allocate(kField));
  };
  hold(kMany);
  REQUIRE(pool_stats().cached_bytes >= kMany * kField);
  for (int i = 0; i < 2000; ++i) hold(1);
  CHECK(pool_stats().cached_bytes < 2 * kField);

  hold(kMany);
  const auto before = pool_stats();
  for (int round = 0; round < 20; ++round) {  // 200 small steps, then all of them at once
    for (int i = 0; i < 200; ++i) hold(1);
    hold(kMany);
  }
  const auto after = pool_stats();
  CHECK(after.cached_bytes >= kMany * kField);
  CHECK(after.reuses - before.reuses == after.allocations - before.allocations);
  trim_pool();
}

TEST_CASE("a forked child can allocate") {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) allocate(100000);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      {
        Ref<Buffer> a = allocate(100), b = allocate(1 << 20);
      }
      trim_pool();
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  stop = true;
  busy.join();
}

TEST_CASE("large blocks that nobody asks for again go after a while, some with each that comes") {
  trim_pool();
  auto one = [](std::size_t bytes) { allocate(bytes).reset(); };
  constexpr std::size_t kLarge = 5 << 20, kOther = 16 << 20;
  std::vector<Ref<Buffer>> many;
  for (int i = 0; i < 6; ++i) many.push_back(allocate(kLarge));
  many.clear();
  const std::size_t waiting = pool_stats().cached_bytes;
  CHECK(waiting >= 6 * kLarge);

  pool::Pool::get().pass_time(9'000);
  one(kOther);
  CHECK(pool_stats().cached_bytes >= waiting + kOther);
  pool::Pool::get().pass_time(2'000);
  one(kOther);  // this one is young: it was in use a moment ago
  CHECK(pool_stats().cached_bytes >= 2 * kLarge + kOther);
  CHECK(pool_stats().cached_bytes < waiting + kOther);
  one(kOther);
  CHECK(pool_stats().cached_bytes >= kOther);
  CHECK(pool_stats().cached_bytes < kOther + kLarge);
  trim_pool();
}
