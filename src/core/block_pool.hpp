// The pool behind allocate(). Two paths:
//  * Small blocks (up to 64 KiB) carry their header in front of the data and wait, when freed, in
//    one list a size class of the freeing thread. A thread's lists are guarded by a spin lock that
//    only trim() and fork contend for.
//  * Large blocks wait in bins by capacity behind one mutex, least recently freed first to go: past
//    the limit, after ten seconds, when the program has gone on for long without them, and when the
//    machine's or the container's memory is short. They
//    lie on huge pages, one of which is a tenth of the time that its small ones take at first
//    touch: from 4 MiB each in a mapping of its own, below that together in arenas.
// An application's BlockSource gives the memory of either, one call a block.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "arenas.hpp"
#include "free_blocks.hpp"
#include "processor/pause.hpp"

namespace plait::pool {

inline constexpr std::size_t kSmallLimit = 64 * 1024;
inline constexpr std::size_t kHugeFrom = 4 * 1024 * 1024;
// As long as a process has fewer bytes of large blocks, it takes small pages: clearing a huge one
// would take longer. Those of the page that warm() has cleared come first.
inline constexpr std::size_t kArenasFrom = 512 * 1024;

// 64-byte steps to 1 KiB, then four steps a doubling.
constexpr int size_class(std::size_t bytes) {
  if (bytes <= 1024) return bytes <= 64 ? 0 : static_cast<int>((bytes - 1) / 64);
  const int top = 63 - __builtin_clzll(bytes - 1);  // 2^top < bytes <= 2^(top + 1)
  return 16 + (top - 10) * 4 + static_cast<int>(((bytes - 1) >> (top - 2)) & 3);
}
constexpr std::size_t class_capacity(int c) {
  if (c < 16) return static_cast<std::size_t>(c + 1) * 64;
  const int top = 10 + (c - 16) / 4;
  return (std::size_t{1} << top) + (static_cast<std::size_t>((c - 16) % 4 + 1) << (top - 2));
}
inline constexpr int kSmallClasses = size_class(kSmallLimit) + 1;

class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) spin_pause();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// What one thread keeps. Caches outlive their threads: the next thread takes one over.
struct alignas(64) ThreadCache {
  SpinLock lock;
  std::size_t cached_bytes = 0;
  std::int64_t live_bytes = 0;  // may be negative: blocks are freed by other threads too
  std::size_t allocations = 0, reuses = 0;
  std::array<Block*, kSmallClasses> free{};
  std::array<std::uint32_t, kSmallClasses> count{};
  Block* headers = nullptr;
  std::uint32_t header_count = 0;
};

class Pool {
 public:
  static Pool& get();  // never destroyed: buffers may be freed while the process exits

  Block* take_small(std::size_t bytes);
  void give_small(Block* b) noexcept;
  LargeBlock* take_large(std::size_t bytes);
  void give_large(LargeBlock* b) noexcept;
  Block* take_header();
  void give_header(Block* b) noexcept;

  // Clears a huge page for the first large blocks. For programs that call it while they start, so
  // that their first arrays need not.
  void warm() noexcept;
  std::size_t trim() noexcept;  // the bytes
  void set_limit(std::size_t bytes) noexcept;
  void set_source(const BlockSource& s) { source_ = s; }
  bool took_blocks() const { return took_blocks_.load(std::memory_order_relaxed); }
  PoolStats stats();
  void check_injected_failure() {
    if (fail_in_.load(std::memory_order_relaxed) >= 0) [[unlikely]]
      count_down();
  }
  // Tests: as if so much time had passed.
  void pass_time(std::int64_t milliseconds) { passed_ += milliseconds; }
  void inject_failure(int nth) { fail_in_.store(nth, std::memory_order_relaxed); }

  void retire(ThreadCache* c) noexcept;
  void lock_all();  // around fork()
  void unlock_all();

 private:
  Pool();
  ThreadCache& cache();
  ThreadCache* acquire_cache();
  void* allocate_small(std::size_t bytes) noexcept;
  void free_small(Block* b) noexcept;
  std::byte* allocate_large(std::size_t capacity) noexcept;
  void free_large(std::byte* data, std::size_t capacity) noexcept;
  void evict_to(std::size_t bytes) noexcept;
  void evict_older_than(std::int64_t milliseconds) noexcept;
  void evict_unused() noexcept;
  std::size_t limit_now(std::int64_t time) noexcept;
  void release_large(LargeBlock* b) noexcept;
  void note_peak();
  void count_down();

  BlockSource source_{};  // null: the system
  std::atomic<bool> took_blocks_{false};
  std::mutex mutex_;  // guards everything below but the atomics
  std::vector<ThreadCache*> caches_;
  std::vector<ThreadCache*> idle_;
  ThreadCache orphans_;  // for threads whose thread-local storage is gone
  FreeBlocks free_;
  Arenas arenas_;
  std::size_t large_live_ = 0, large_allocations_ = 0, large_reuses_ = 0;
  std::size_t taken_ = 0;       // bytes of large blocks, ever
  std::size_t evict_from_ = 0;  // of taken_, when one more may go for want of use
  std::size_t peak_ = 0;
  // What shortage leaves of the limit, and when that was looked at.
  std::size_t short_limit_ = std::size_t(-1);
  std::int64_t looked_at_ = 0;
  std::atomic<std::size_t> limit_;
  std::atomic<int> fail_in_{-1};
  std::atomic<std::int64_t> passed_{0};
};

}  // namespace plait::pool
