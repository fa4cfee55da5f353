#include "pool.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "plait/error.hpp"

namespace plait::gpu {
namespace {

constexpr std::size_t kSmallStep = 512;  // alignment that every access of a kernel may rely on
constexpr std::size_t kLargeFrom = 1 << 20;
constexpr std::size_t kLargeStep = 2 << 20;  // the granularity of device memory

// PLAIT_CUDA_POOL_LIMIT in bytes; by default half of the device.
std::size_t default_limit(std::size_t memory) {
  const char* text = std::getenv("PLAIT_CUDA_POOL_LIMIT");
  if (!text || !*text) return memory / 2;
  char* end = nullptr;
  const unsigned long long n = std::strtoull(text, &end, 10);
  return *end ? memory / 2 : static_cast<std::size_t>(n);
}

}  // namespace

struct Pool::Block : DeviceBuffer {
  Pool* pool = nullptr;
  Block* next = nullptr;
  std::size_t capacity = 0;  // 0: memory of somebody else
  void (*owner_release)(void*) = nullptr;
  void* owner = nullptr;
  LastUse last_use;
  // Nodes of the containers of waiting blocks, kept while the block is out: a block that comes and
  // goes allocates nothing.
  Order place;
  Table::node_type entry;
};

Pool::Pool(Context& context, DeviceId id)
    : context_(context), id_(id), limit_(default_limit(context.properties().memory)) {}

std::size_t Pool::capacity_for(std::size_t bytes) {
  const std::size_t step = bytes < kLargeFrom ? kSmallStep : kLargeStep;
  return std::max(step, (bytes + step - 1) / step * step);
}

Pool::Block* Pool::header() {
  const std::lock_guard held(mutex_);
  Block* b = headers_;
  if (b)
    headers_ = b->next;
  else
    b = new Block;
  b->device = id_;
  b->pool = this;
  b->next = nullptr;
  b->release = &Pool::release;
  b->release_context = b;
  return b;
}

// The smallest waiting block that wastes no more than an eighth.
bool Pool::take_waiting(std::size_t capacity, Block& b) {
  const auto it = waiting_.lower_bound(capacity);
  if (it == waiting_.end() || it->first > capacity + capacity / 8 + kSmallStep) return false;
  b.data = reinterpret_cast<std::byte*>(it->second->at);
  b.capacity = it->first;
  b.last_use = it->second->last_use;
  cached_ -= it->first;
  b.place.splice(b.place.end(), order_, it->second);
  b.entry = waiting_.extract(it);
  ++reuses_;
  return true;
}

Ref<Buffer> Pool::allocate(std::size_t bytes) {
  const Context::Current current(context_);
  const std::size_t capacity = capacity_for(bytes);
  Block* b = header();
  b->bytes = bytes;
  b->writeable = true;
  b->foreign = false;
  std::unique_lock held(mutex_);
  if (!take_waiting(capacity, *b)) {
    Address at = 0;
    Result r = context_.api.mem_alloc(&at, capacity);
    if (r == kOutOfMemory) {
      evict_to(0);
      r = context_.api.mem_alloc(&at, capacity);
    }
    if (r != kSuccess) {
      b->next = headers_;
      headers_ = b;
      held.unlock();
      if (r == kOutOfMemory) throw std::bad_alloc();
      context_.check(r, "allocating memory");
    }
    b->data = reinterpret_cast<std::byte*>(at);
    b->capacity = capacity;
    b->last_use = {LastUse::None, nullptr};
    b->place = Order(1);
    Table made{{capacity, b->place.begin()}};
    b->entry = made.extract(made.begin());
    ++allocations_;
  }
  live_ += b->capacity;
  peak_ = std::max(peak_, live_);
  return Ref<Buffer>(b);
}

Ref<Buffer> Pool::adopt(Address at, std::size_t bytes, void (*release)(void*), void* owner) {
  Block* b = header();
  b->data = reinterpret_cast<std::byte*>(at);
  b->bytes = bytes;
  b->writeable = true;
  b->foreign = true;
  b->capacity = 0;
  b->owner_release = release;
  b->owner = owner;
  return Ref<Buffer>(b);
}

void Pool::release(void* block) {
  auto* b = static_cast<Block*>(block);
  b->mirror.reset();
  if (b->capacity == 0 && b->owner_release) b->owner_release(b->owner);
  b->pool->give(b);
}

LastUse Pool::last_use(const Buffer& b) const {
  uses_matter_.store(true, std::memory_order_relaxed);
  return static_cast<const Block&>(b).last_use;
}

// Of large blocks only: short copies are not worth a stream of their own.
void Pool::note_last_use(Block& b) noexcept {
  b.last_use.known = LastUse::Unknown;
  if (b.capacity < kLargeFrom || !uses_matter_.load(std::memory_order_relaxed)) return;
  try {
    const Context::Current current(context_);
    EventHandle& event = b.last_use.event;
    if (!event && context_.api.event_create(&event, kEventNoTiming) != kSuccess) event = nullptr;
    if (event && context_.api.event_record(event, context_.stream()) == kSuccess)
      b.last_use.known = LastUse::Event;
  } catch (const DeviceError&) {  // a lost device, a child of fork(): nothing will run any more
  }
}

void Pool::give(Block* b) noexcept {
  if (b->capacity != 0) note_last_use(*b);
  const std::lock_guard held(mutex_);
  if (b->capacity != 0) {
    live_ -= b->capacity;
    b->place.front() = {reinterpret_cast<Address>(b->data), b->capacity, b->last_use};
    order_.splice(order_.end(), b->place);
    b->entry.key() = b->capacity;
    b->entry.mapped() = std::prev(order_.end());
    waiting_.insert(std::move(b->entry));
    cached_ += b->capacity;
    if (cached_ > limit_) evict_to(limit_);
  }
  b->next = headers_;
  headers_ = b;
}

// The driver waits for the device before memory goes, so nothing that runs loses its own. In a
// forked child, and when the process ends, it refuses: the memory is gone with the process.
void Pool::evict_to(std::size_t bytes) noexcept {
  try {
    const Context::Current current(context_);
    while (cached_ > bytes && !order_.empty()) {
      const Waiting w = order_.front();
      auto [first, last] = waiting_.equal_range(w.capacity);
      waiting_.erase(
          std::find_if(first, last, [&](auto& e) { return e.second == order_.begin(); }));
      order_.pop_front();
      cached_ -= w.capacity;
      context_.api.mem_free(w.at);
      if (w.last_use.event) context_.api.event_destroy(w.last_use.event);
    }
  } catch (...) {
  }
}

void Pool::trim() {
  const std::lock_guard held(mutex_);
  evict_to(0);
}

void Pool::set_limit(std::size_t bytes) {
  const std::lock_guard held(mutex_);
  limit_ = bytes;
  if (cached_ > limit_) evict_to(limit_);
}

MemoryStats Pool::stats() const {
  const std::lock_guard held(mutex_);
  return {live_, cached_, peak_, allocations_, reuses_};
}

}  // namespace plait::gpu
