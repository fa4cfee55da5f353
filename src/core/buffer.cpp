#include "buffer.hpp"

#include "block_pool.hpp"

namespace plait {

using namespace pool;

Ref<Buffer> allocate(std::size_t bytes) {
  Pool& p = Pool::get();
  p.check_injected_failure();
  Block* b = bytes <= kSmallLimit ? p.take_small(bytes) : p.take_large(bytes);
  b->bytes = bytes;
  b->writeable = true;
  b->foreign = false;
  b->watched = false;
  return Ref<Buffer>(b);
}

Ref<Buffer> adopt(void* data, std::size_t bytes, bool writeable, void (*release)(void*),
                  void* context) {
  Block* b = Pool::get().take_header();
  b->data = static_cast<std::byte*>(data);
  b->bytes = bytes;
  b->writeable = writeable;
  b->foreign = true;
  b->watched = true;
  b->release = release;
  b->release_context = context;
  return Ref<Buffer>(b);
}

void Buffer::destroy(Buffer* b) {
  if (b->device != 0) [[unlikely]] {
    b->release(b->release_context);
    return;
  }
  auto* block = static_cast<Block*>(b);
  Pool& p = Pool::get();
  if (b->foreign) {
    if (b->release) b->release(b->release_context);
    p.give_header(block);
  } else if (block->capacity <= kSmallLimit) {
    p.give_small(block);
  } else {
    p.give_large(static_cast<LargeBlock*>(block));
  }
}

void set_block_source(const BlockSource& s) { Pool::get().set_source(s); }
bool took_blocks() { return Pool::get().took_blocks(); }
PoolStats pool_stats() { return Pool::get().stats(); }
std::size_t trim_pool() { return Pool::get().trim(); }
void set_pool_limit(std::size_t bytes) { Pool::get().set_limit(bytes); }
void fail_allocation(int nth) { Pool::get().inject_failure(nth); }

}  // namespace plait
