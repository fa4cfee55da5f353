// Memory that compiled programs ask for while they run, and what they call for it. Addresses are
// Int64 values to a program; 0 is none.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plait {

// All memory of one run; of one thread at a time. Blocks are zero at first and aligned to 64 bytes,
// and go with the heap at the latest.
class Heap {
 public:
  Heap() = default;
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  std::byte* allocate(std::int64_t bytes) noexcept;  // nullptr where memory is short
  void free(std::byte* block) noexcept;

  // While it lives, the functions below take their memory from this heap, on this thread.
  class Use {
   public:
    explicit Use(Heap& h) : before_(current_) { current_ = &h; }
    ~Use() { current_ = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Heap* before_;
  };
  static Heap* current() { return current_; }

 private:
  struct Head;
  static constexpr std::size_t kLine = 64, kSmall = 4096, kMostChunk = 1 << 20;

  Head* small(std::size_t bytes) noexcept;
  Head* large(std::size_t bytes) noexcept;

  Head* large_ = nullptr;                  // a list of both directions
  Head* unused_[kSmall / kLine + 1] = {};  // small blocks that were freed, by lines
  std::byte* chunk_ = nullptr;             // the newest, which begins with the address of the next
  std::byte *next_ = nullptr, *end_ = nullptr;  // what is left of it
  std::size_t chunk_bytes_ = 2 * kSmall;        // of the next

  static thread_local Heap* current_;
};

namespace heap {

std::int64_t heap_alloc(std::int64_t bytes);
// A block of so many bytes that begins with those of the other one, which is freed.
std::int64_t heap_grow(std::int64_t address, std::int64_t old_bytes, std::int64_t new_bytes);
std::int64_t heap_free(std::int64_t address);

std::int64_t float_bits(double v);
double bits_float(std::int64_t bits);

}  // namespace heap
}  // namespace plait
