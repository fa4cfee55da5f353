// Device memory in the order of the context's one stream: a freed block may be given out at once,
// because what still uses it was submitted before what will. Freed blocks wait by capacity, the
// least recently freed go first when they pass the bound, all of them when the device is full.
#pragma once
#include <atomic>
#include <list>
#include <map>
#include <mutex>

#include "context.hpp"
#include "core/device.hpp"

namespace plait::gpu {

struct MemoryStats {
  std::size_t live_bytes, cached_bytes, peak_live_bytes, allocations, reuses;
};

// What a stream other than the context's has to wait for before it writes to memory that was given
// out and not used yet.
struct LastUse {
  enum { None, Event, Unknown } known = Unknown;
  EventHandle event = nullptr;
};

class Pool {
 public:
  Pool(Context& context, DeviceId id);

  Ref<Buffer> allocate(std::size_t bytes);
  // Memory of somebody else; `release` is called once, from any thread.
  Ref<Buffer> adopt(Address at, std::size_t bytes, void (*release)(void*), void* owner);
  LastUse last_use(const Buffer& b) const;
  void trim();
  void set_limit(std::size_t bytes);
  MemoryStats stats() const;

 private:
  struct Block;
  struct Waiting {
    Address at;
    std::size_t capacity;
    LastUse last_use;
  };
  using Order = std::list<Waiting>;  // least recently freed first
  using Table = std::multimap<std::size_t, Order::iterator>;

  static std::size_t capacity_for(std::size_t bytes);
  static void release(void* block);
  Block* header();
  void give(Block* b) noexcept;
  void note_last_use(Block& b) noexcept;
  bool take_waiting(std::size_t capacity, Block& b);
  void evict_to(std::size_t bytes) noexcept;

  Context& context_;
  const DeviceId id_;
  mutable std::mutex mutex_;
  Order order_;
  Table waiting_;
  Block* headers_ = nullptr;
  mutable std::atomic<bool> uses_matter_{false};  // since somebody asked for a last use
  std::size_t limit_;
  std::size_t cached_ = 0, live_ = 0, peak_ = 0, allocations_ = 0, reuses_ = 0;
};

}  // namespace plait::gpu
