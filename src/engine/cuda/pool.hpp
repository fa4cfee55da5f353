// Device memory in the order of the context's one stream: a freed block may be given out at once,
// because what still uses it was submitted before what will. Freed blocks wait by capacity, the
// least recently freed go first when they pass the bound, all of them when the device is full.
//
// Streams of other programs are outside that order. A block that was lent to one comes back behind
// what they hold then, and memory that was adopted goes back to its owner, who may use it for
// something else at once, when the stream has passed its last use.
#pragma once
#include <atomic>
#include <deque>
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
  // Who beside the context's stream may use a block.
  enum class Lent : std::uint8_t { No, ToLegacy, Anywhere };

  // Memory of somebody else; `release` is called once, from any thread: when the buffer goes, or in
  // a later call when the stream has passed its last use.
  Ref<Buffer> adopt(Address at, std::size_t bytes, void (*release)(void*), void* owner);
  void note_lent(Buffer& b, Lent to);
  LastUse last_use(const Buffer& b) const;
  // Gives memory of others back whose last use has passed.
  void settle() noexcept;
  std::size_t trim();  // the bytes
  void set_limit(std::size_t bytes);
  MemoryStats stats() const;

 private:
  struct Block;
  struct Waiting {
    Address at;
    std::size_t capacity;
    LastUse last_use;
  };
  // Memory of somebody else on its way back.
  struct Leaving {
    EventHandle used;
    void (*release)(void*);
    void* owner;
  };
  using Order = std::list<Waiting>;  // least recently freed first
  using Table = std::multimap<std::size_t, Order::iterator>;

  static std::size_t capacity_for(std::size_t bytes);
  static void release(void* block);
  Block* header();
  void give(Block* b) noexcept;
  void give_back(void (*release)(void*), void* owner) noexcept;
  bool has_passed(EventHandle e) const noexcept;
  void take_back(Block& b) noexcept;
  void note_last_use(Block& b) noexcept;
  bool take_waiting(std::size_t capacity, Block& b);
  void evict_to(std::size_t bytes) noexcept;

  Context& context_;
  const DeviceId id_;
  mutable std::mutex mutex_;
  Order order_;
  Table waiting_;
  Block* headers_ = nullptr;
  std::deque<Leaving> leaving_;                   // in the order of their last uses
  mutable std::atomic<bool> uses_matter_{false};  // since somebody asked for a last use
  std::size_t limit_;
  std::size_t cached_ = 0, live_ = 0, peak_ = 0, allocations_ = 0, reuses_ = 0;
};

}  // namespace plait::gpu
