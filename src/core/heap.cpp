#include "heap.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace plait {

thread_local Heap* Heap::current_ = nullptr;

// In the line in front of a block.
struct Heap::Head {
  std::size_t bytes;  // with this line
  Head *before, *next;
  void* memory;  // of a large block: what the C library gave

  std::byte* block() { return reinterpret_cast<std::byte*>(this) + kLine; }
  static Head* of(std::byte* block) { return reinterpret_cast<Head*>(block - kLine); }
};

namespace {
constexpr std::int64_t kMostBytes = std::int64_t{1} << 46;

std::byte* aligned(void* p, std::size_t to) {
  return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(p) + to - 1) & ~(to - 1));
}
}  // namespace

Heap::~Heap() {
  while (large_) {
    Head* const next = large_->next;
    std::free(large_->memory);
    large_ = next;
  }
  while (chunk_) {
    std::byte* next;
    std::memcpy(&next, chunk_, sizeof next);
    std::free(chunk_);
    chunk_ = next;
  }
}

std::byte* Heap::allocate(std::int64_t bytes) noexcept {
  if (bytes < 0 || bytes > kMostBytes) return nullptr;
  const std::size_t all = (static_cast<std::size_t>(bytes) + kLine - 1) / kLine * kLine + kLine;
  Head* const h = all <= kSmall ? small(all) : large(all);
  return h ? h->block() : nullptr;
}

Heap::Head* Heap::small(std::size_t bytes) noexcept {
  Head*& unused = unused_[bytes / kLine];
  if (Head* const h = unused) {
    unused = h->next;
    std::memset(h->block(), 0, bytes - kLine);
    return h;
  }
  if (static_cast<std::size_t>(end_ - next_) < bytes) {
    auto* const chunk = static_cast<std::byte*>(std::calloc(1, chunk_bytes_));
    if (!chunk) return nullptr;
    std::memcpy(chunk, &chunk_, sizeof chunk_);
    chunk_ = chunk;
    next_ = aligned(chunk + sizeof chunk_, kLine);
    end_ = chunk + chunk_bytes_;
    chunk_bytes_ = std::min(2 * chunk_bytes_, kMostChunk);
  }
  Head* const h = new (next_) Head{.bytes = bytes};
  next_ += bytes;
  return h;
}

// Of a large one the system gives pages that are zero.
Heap::Head* Heap::large(std::size_t bytes) noexcept {
  void* const memory = std::calloc(1, bytes + kLine);
  if (!memory) return nullptr;
  Head* const h = new (aligned(memory, kLine)) Head{bytes, nullptr, large_, memory};
  if (large_) large_->before = h;
  large_ = h;
  return h;
}

void Heap::free(std::byte* block) noexcept {
  Head* const h = Head::of(block);
  if (h->bytes <= kSmall) {
    Head*& unused = unused_[h->bytes / kLine];
    h->next = unused;
    unused = h;
    return;
  }
  (h->before ? h->before->next : large_) = h->next;
  if (h->next) h->next->before = h->before;
  std::free(h->memory);
}

namespace heap {
namespace {
std::byte* block_at(std::int64_t address) { return reinterpret_cast<std::byte*>(address); }
std::int64_t address_of(const void* p) { return reinterpret_cast<std::int64_t>(p); }
}  // namespace

std::int64_t heap_alloc(std::int64_t bytes) {
  Heap* const h = Heap::current();
  return h ? address_of(h->allocate(bytes)) : 0;
}

std::int64_t heap_grow(std::int64_t address, std::int64_t old_bytes, std::int64_t new_bytes) {
  const std::int64_t grown = heap_alloc(new_bytes);
  if (grown == 0 || address == 0) return grown;
  std::memcpy(block_at(grown), block_at(address),
              static_cast<std::size_t>(std::min(old_bytes, new_bytes)));
  heap_free(address);
  return grown;
}

std::int64_t heap_free(std::int64_t address) {
  if (address != 0) Heap::current()->free(block_at(address));
  return 0;
}

std::int64_t float_bits(double v) { return std::bit_cast<std::int64_t>(v); }
double bits_float(std::int64_t bits) { return std::bit_cast<double>(bits); }

}  // namespace heap
}  // namespace plait
