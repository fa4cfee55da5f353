#include "pool.hpp"

#include <algorithm>
#include <new>

#include "core/config.hpp"
#include "plait/error.hpp"

namespace plait::gpu {
namespace {

constexpr std::size_t kSmallStep = 512;  // alignment that every access of a kernel may rely on
constexpr std::size_t kLargeFrom = 1 << 20;
constexpr std::size_t kLargeStep = 2 << 20;  // the granularity of device memory

}  // namespace

struct Pool::Block : DeviceBuffer {
  Pool* pool = nullptr;
  Block* next = nullptr;
  std::size_t capacity = 0;  // 0: memory of somebody else
  void (*owner_release)(void*) = nullptr;
  void* owner = nullptr;
  std::atomic<Lent> lent{Lent::No};
  LastUse last_use;
  // Nodes of the containers of waiting blocks, kept while the block is out: a block that comes and
  // goes allocates nothing.
  Order place;
  Table::node_type entry;
};

Pool::Pool(Context& context, DeviceId id)
    : context_(context),
      id_(id),
      limit_(config().cuda_pool_limit.value_or(context.properties().memory / 2)) {}

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
  b->lent = Lent::No;
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
  settle();
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
  Pool& pool = *b->pool;
  void (*const owner_release)(void*) = b->capacity == 0 ? b->owner_release : nullptr;
  void* const owner = b->owner;
  pool.give(b);
  if (owner_release) pool.give_back(owner_release, owner);
}

void Pool::note_lent(Buffer& b, Lent to) {
  std::atomic<Lent>& lent = static_cast<Block&>(b).lent;
  lent.store(std::max(lent.load(), to));
}

// Of the legacy stream alone an event can be had; others may be gone by now.
void Pool::take_back(Block& b) noexcept {
  const Lent lent = b.lent;
  if (lent == Lent::No) return;
  try {
    if (lent == Lent::ToLegacy)
      context_.wait_for(kLegacyStream);
    else
      context_.synchronise_all();
  } catch (const DeviceError&) {  // a lost device, a child of fork(): nothing will run any more
  }
}

void Pool::give_back(void (*release)(void*), void* owner) noexcept {
  try {
    const Context::Current current(context_);
    EventHandle used = nullptr;
    if (context_.api.event_create(&used, kEventNoTiming) == kSuccess) {
      const std::lock_guard held(mutex_);
      if (context_.api.event_record(used, context_.stream()) == kSuccess) {
        leaving_.push_back({used, release, owner});
        release = nullptr;
      } else {
        context_.api.event_destroy(used);
      }
    }
    if (release) context_.api.stream_synchronize(context_.stream());
  } catch (const std::exception&) {  // no device that could use it any more
  }
  if (release) release(owner);
  settle();
}

// A failed device has done all that it will do. Owners are called without the lock: theirs may be
// memory of this pool.
void Pool::settle() noexcept {
  for (;;) {
    Leaving gone;
    {
      const std::lock_guard held(mutex_);
      if (leaving_.empty() || !has_passed(leaving_.front().used)) return;
      gone = leaving_.front();
      leaving_.pop_front();
    }
    gone.release(gone.owner);
  }
}

bool Pool::has_passed(EventHandle e) const noexcept {
  try {
    const Context::Current current(context_);
    if (context_.api.event_query(e) == kNotReady) return false;
    context_.api.event_destroy(e);
  } catch (const DeviceError&) {  // a lost device, a child of fork()
  }
  return true;
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
  take_back(*b);
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

// Nothing that runs may lose its memory: cuMemFree promises no wait for the device. In a forked
// child, and when the process ends, the driver refuses: the memory is gone with the process.
void Pool::evict_to(std::size_t bytes) noexcept {
  if (cached_ <= bytes) return;
  try {
    const Context::Current current(context_);
    for (StreamHandle s : {context_.stream(), context_.copies()})
      context_.api.stream_synchronize(s);
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

std::size_t Pool::trim() {
  const std::lock_guard held(mutex_);
  const std::size_t before = cached_;
  evict_to(0);
  return before - cached_;
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
