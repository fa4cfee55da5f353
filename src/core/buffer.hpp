// Memory that arrays live in. Blocks come from a pool that keeps freed blocks for reuse, because
// first touch of fresh pages costs more than the arithmetic of most expressions; foreign blocks are
// borrowed with a release callback.
#pragma once
#include <cstddef>
#include <cstdint>

#include "ref.hpp"

namespace plait {

using DeviceId = std::int8_t;  // 0: the host; see device.hpp

struct Buffer : RefCounted {
  DeviceId device = 0;  // where `data` is an address
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool writeable = true;
  bool foreign = false;              // borrowed: never returned to the pool
  bool watched = false;              // somebody outside may look at it at any time
  void (*release)(void*) = nullptr;  // for foreign memory; called once, any thread
  void* release_context = nullptr;
  static void destroy(Buffer* b);
};

// 64-byte aligned, uninitialised; huge pages from 4 MiB. Throws std::bad_alloc with nothing
// changed.
Ref<Buffer> allocate(std::size_t bytes);
Ref<Buffer> adopt(void* data, std::size_t bytes, bool writeable, void (*release)(void*),
                  void* context);

// Where the pool's blocks come from in place of the system. `allocate` gives null when there is no
// memory; `free` must not come back here: the pool is locked.
struct BlockSource {
  void* context;
  void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment);
  void (*free)(void* context, void* block, std::size_t bytes);
};
void set_block_source(const BlockSource& s);  // before the first block is taken
bool took_blocks();

struct PoolStats {
  std::size_t live_bytes, cached_bytes, peak_live_bytes, allocations, reuses;
};
PoolStats pool_stats();
std::size_t trim_pool();                 // gives every cached block back; returns their bytes
void set_pool_limit(std::size_t bytes);  // PLAIT_POOL_LIMIT; bound on cached bytes
// Tests make the n-th next allocation fail (0 = the next); -1 switches it off.
void fail_allocation(int nth);

}  // namespace plait
