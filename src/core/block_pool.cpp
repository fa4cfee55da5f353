#include "block_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#include "config.hpp"
#include "os/memory.hpp"
#include "os/pages.hpp"

namespace plait::pool {
namespace {

// Free blocks of one class that a thread keeps, and bytes of all classes: enough for the
// temporaries of a graph, which are freed together. What goes back to malloc leaves its pages
// behind, and is soon asked for again.
std::uint32_t keep(int cls) {
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(2 * 1024 * 1024 / class_capacity(cls), 4, 2048));
}
constexpr std::size_t kKeepBytes = std::size_t{8} << 20;
constexpr std::uint32_t kKeepHeaders = 256;

// Milliseconds that large blocks wait for another use, and between looks at the system's memory.
constexpr std::int64_t kKeptFor = 10'000, kLookEvery = 200;
constexpr std::size_t kWorthALook = std::size_t{64} << 20;  // bytes that wait
std::int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

// Unused, a large block goes when so many times its bytes were taken from others: the program has
// left the part that needed it. What goes is at most one byte in so many that are taken, so that a
// program that comes back all the same has little to fetch again.
constexpr std::size_t kUnusedFor = 256, kLeastUses = 16;

// A trivially destructible pointer stays readable while other thread-locals are destroyed.
thread_local ThreadCache* t_cache = nullptr;
thread_local bool t_gone = false;
struct CacheOwner {
  ~CacheOwner() {
    t_gone = true;
    if (ThreadCache* c = std::exchange(t_cache, nullptr)) Pool::get().retire(c);
  }
};

// What allocate() gives, if need be once what is kept has gone. Throws std::bad_alloc.
template <class Allocate>
auto allocated(Allocate&& allocate) {
  auto* p = allocate();
  if (p) return p;
  Pool::get().trim();
  p = allocate();
  if (!p) throw std::bad_alloc();
  return p;
}

constexpr std::size_t kLine = 64, kPage = 4096;

}  // namespace

Pool::Pool() : limit_(config().pool_limit) {
  caches_.push_back(&orphans_);
  // A child must not inherit a lock that another thread of the parent held.
  pthread_atfork([] { Pool::get().lock_all(); }, [] { Pool::get().unlock_all(); },
                 [] { Pool::get().unlock_all(); });
}

Pool& Pool::get() {
  static Pool* const pool = new Pool;
  return *pool;
}

ThreadCache& Pool::cache() {
  if (t_cache) [[likely]]
    return *t_cache;
  if (t_gone) return orphans_;
  static thread_local CacheOwner owner;
  t_cache = acquire_cache();
  return t_cache ? *t_cache : orphans_;
}

// nullptr when there is no memory for one.
ThreadCache* Pool::acquire_cache() try {
  std::lock_guard guard(mutex_);
  if (!idle_.empty()) {
    ThreadCache* c = idle_.back();
    idle_.pop_back();
    return c;
  }
  caches_.reserve(caches_.size() + 1);
  idle_.reserve(caches_.size() + 1);  // retire() must not allocate
  caches_.push_back(new ThreadCache);
  return caches_.back();
} catch (const std::bad_alloc&) {
  return nullptr;
}

void Pool::retire(ThreadCache* c) noexcept {
  std::lock_guard guard(mutex_);
  idle_.push_back(c);
}

// --- small blocks ---

void* Pool::allocate_small(std::size_t bytes) noexcept {
  took_blocks_.store(true, std::memory_order_relaxed);
  return source_.allocate ? source_.allocate(source_.context, bytes, kLine)
                          : std::aligned_alloc(kLine, bytes);
}
void Pool::free_small(Block* b) noexcept {
  if (source_.free)
    source_.free(source_.context, b, sizeof(Block) + b->capacity);
  else
    std::free(b);
}

Block* Pool::take_small(std::size_t bytes) {
  const int cls = size_class(bytes);
  ThreadCache& c = cache();
  c.lock.lock();
  Block* b = c.free[cls];
  if (b) [[likely]] {
    c.free[cls] = b->next;
    --c.count[cls];
    c.cached_bytes -= b->capacity;
    c.live_bytes += static_cast<std::int64_t>(b->capacity);
    ++c.allocations;
    ++c.reuses;
    c.lock.unlock();
    return b;
  }
  c.lock.unlock();
  const std::size_t capacity = class_capacity(cls);
  b = new (allocated([&] { return allocate_small(sizeof(Block) + capacity); })) Block;
  b->data = reinterpret_cast<std::byte*>(b + 1);
  b->capacity = capacity;
  c.lock.lock();
  c.live_bytes += static_cast<std::int64_t>(capacity);
  ++c.allocations;
  c.lock.unlock();
  return b;
}

void Pool::give_small(Block* b) noexcept {
  const int cls = size_class(b->capacity);
  ThreadCache& c = cache();
  c.lock.lock();
  c.live_bytes -= static_cast<std::int64_t>(b->capacity);
  if (c.count[cls] < keep(cls) &&
      c.cached_bytes + b->capacity <= std::min(kKeepBytes, limit_.load(std::memory_order_relaxed)))
      [[likely]] {
    b->next = c.free[cls];
    c.free[cls] = b;
    ++c.count[cls];
    c.cached_bytes += b->capacity;
    c.lock.unlock();
    return;
  }
  c.lock.unlock();
  free_small(b);
}

// --- headers of foreign and large memory ---

Block* Pool::take_header() {
  ThreadCache& c = cache();
  c.lock.lock();
  Block* b = c.headers;
  if (b) {
    c.headers = b->next;
    --c.header_count;
  }
  c.lock.unlock();
  return new (b ? static_cast<void*>(b) : allocated([] { return std::aligned_alloc(kLine, 128); }))
      LargeBlock;
}

void Pool::give_header(Block* b) noexcept {
  ThreadCache& c = cache();
  c.lock.lock();
  if (c.header_count < kKeepHeaders) {
    b->next = c.headers;
    c.headers = b;
    ++c.header_count;
    b = nullptr;
  }
  c.lock.unlock();
  std::free(b);
}

// --- large blocks ---

namespace {

// Whole pages, and a common granularity so that nearby sizes reuse one another's blocks.
std::size_t large_capacity(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) - 2 * kHugePage)
    throw std::bad_alloc();
  const std::size_t step = bytes <= 512 * 1024 ? 4096 : 64 * 1024;
  return (bytes + step - 1) / step * step;
}

}  // namespace

std::byte* Pool::allocate_large(std::size_t capacity) noexcept {
  took_blocks_.store(true, std::memory_order_relaxed);
  if (source_.allocate)
    return static_cast<std::byte*>(source_.allocate(source_.context, capacity, kPage));
  return capacity < kHugeFrom ? static_cast<std::byte*>(std::aligned_alloc(kPage, capacity))
                              : map_huge(capacity);
}

void Pool::free_large(std::byte* data, std::size_t capacity) noexcept {
  if (source_.free)
    source_.free(source_.context, data, capacity);
  else if (capacity < kHugeFrom)
    std::free(data);
  else
    os::unmap_pages(data, capacity);
}

void Pool::warm() noexcept {
  std::lock_guard guard(mutex_);
  if (!source_.allocate) arenas_.warm();
}

LargeBlock* Pool::take_large(std::size_t bytes) {
  const std::size_t capacity = large_capacity(bytes);
  {
    std::lock_guard guard(mutex_);
    if (LargeBlock* b = free_.take(capacity)) {
      large_live_ += b->capacity;
      taken_ += b->capacity;
      ++large_allocations_;
      ++large_reuses_;
      note_peak();
      return b;
    }
  }
  auto* b = static_cast<LargeBlock*>(take_header());
  if (capacity < kHugeFrom && !source_.allocate) {
    std::lock_guard guard(mutex_);
    if (arenas_.is_warm(capacity) || large_live_ + free_.bytes() + capacity > kArenasFrom)
      arenas_.cut(*b, capacity);
  }
  if (!b->arena) try {
      b->data = allocated([&] { return allocate_large(capacity); });
    } catch (...) {
      give_header(b);
      throw;
    }
  b->capacity = capacity;
  std::lock_guard guard(mutex_);
  large_live_ += capacity;
  taken_ += capacity;
  ++large_allocations_;
  note_peak();
  return b;
}

void Pool::give_large(LargeBlock* b) noexcept {
  cache();  // evicting hands headers back; the first call of a thread takes the mutex itself
  std::lock_guard guard(mutex_);
  large_live_ -= b->capacity;
  const std::int64_t time = now() + passed_.load(std::memory_order_relaxed);
  const std::size_t limit = limit_now(time);
  if (b->capacity > limit) {
    release_large(b);
    return;
  }
  evict_to(limit - b->capacity);
  b->freed_at = time;
  b->freed_after = taken_;
  evict_older_than(time - kKeptFor);
  evict_unused();
  free_.add(b);
}

// Half of what is available may lie here unused.
std::size_t Pool::limit_now(std::int64_t time) noexcept {
  if (free_.bytes() >= kWorthALook && time - looked_at_ >= kLookEvery) {
    looked_at_ = time;
    try {
      short_limit_ = os::memory_available() / 2;
    } catch (const std::bad_alloc&) {
      short_limit_ = 0;
    }
  }
  return std::min(limit_.load(std::memory_order_relaxed), short_limit_);
}

// Some at a time, so that no call pays for all.
void Pool::evict_older_than(std::int64_t milliseconds) noexcept {
  for (int i = 0; i < 4 && free_.oldest() && free_.oldest()->freed_at < milliseconds; ++i)
    release_large(free_.take_oldest());
}

void Pool::evict_unused() noexcept {
  const LargeBlock* const b = free_.oldest();
  if (!b || taken_ < evict_from_ || (taken_ - b->freed_after) / kUnusedFor < b->capacity) return;
  evict_from_ = taken_ + kLeastUses * b->capacity;
  release_large(free_.take_oldest());
}

void Pool::evict_to(std::size_t bytes) noexcept {
  while (free_.bytes() > bytes) release_large(free_.take_oldest());
}

void Pool::release_large(LargeBlock* b) noexcept {
  if (b->arena)
    arenas_.give_back(*b);
  else
    free_large(b->data, b->capacity);
  give_header(b);
}

// --- all of it ---

std::size_t Pool::trim() noexcept {
  cache();
  std::lock_guard guard(mutex_);
  std::size_t bytes = free_.bytes();
  evict_to(0);
  arenas_.trim();
  for (ThreadCache* c : caches_) {
    std::lock_guard spin(c->lock);
    for (int cls = 0; cls < kSmallClasses; ++cls) {
      while (Block* b = c->free[cls]) {
        c->free[cls] = b->next;
        free_small(b);
      }
      c->count[cls] = 0;
    }
    bytes += std::exchange(c->cached_bytes, 0);
    while (Block* b = c->headers) {
      c->headers = b->next;
      std::free(b);
    }
    c->header_count = 0;
  }
  return bytes;
}

void Pool::set_limit(std::size_t bytes) noexcept {
  limit_.store(bytes, std::memory_order_relaxed);
  PoolStats s = stats();
  if (s.cached_bytes > bytes) trim();
}

// Small blocks come and go without shared counters, so the peak is taken where large blocks are
// allocated and where somebody asks.
void Pool::note_peak() {
  std::int64_t live = static_cast<std::int64_t>(large_live_);
  for (ThreadCache* c : caches_) {
    std::lock_guard spin(c->lock);
    live += c->live_bytes;
  }
  peak_ = std::max(peak_, static_cast<std::size_t>(std::max<std::int64_t>(live, 0)));
}

PoolStats Pool::stats() {
  std::lock_guard guard(mutex_);
  note_peak();
  PoolStats s{large_live_, free_.bytes(), peak_, large_allocations_, large_reuses_};
  std::int64_t small_live = 0;
  for (ThreadCache* c : caches_) {
    std::lock_guard spin(c->lock);
    small_live += c->live_bytes;
    s.cached_bytes += c->cached_bytes;
    s.allocations += c->allocations;
    s.reuses += c->reuses;
  }
  s.live_bytes += static_cast<std::size_t>(small_live);
  return s;
}

void Pool::count_down() {
  if (fail_in_.fetch_sub(1, std::memory_order_relaxed) == 0) throw std::bad_alloc();
}

void Pool::lock_all() {
  mutex_.lock();
  for (ThreadCache* c : caches_) c->lock.lock();
}
void Pool::unlock_all() {
  for (ThreadCache* c : caches_) c->lock.unlock();
  mutex_.unlock();
}

}  // namespace plait::pool
