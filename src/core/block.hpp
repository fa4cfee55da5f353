// A block of the pool: the header of a Buffer's memory.
#pragma once
#include "buffer.hpp"

namespace plait::pool {

inline constexpr std::size_t kHugePage = 2 * 1024 * 1024;

struct Block : Buffer {
  Block* next = nullptr;
  std::size_t capacity = 0;  // 0: a header of foreign memory
};

struct Arena;
struct LargeBlock : Block {
  Arena* arena = nullptr;  // nullptr: memory of its own
  LargeBlock* bin_next = nullptr;
  LargeBlock* bin_prev = nullptr;
  LargeBlock* older = nullptr;
  LargeBlock* newer = nullptr;
  std::int64_t freed_at = 0;    // milliseconds
  std::size_t freed_after = 0;  // bytes taken until then
};
static_assert(sizeof(Block) == 64, "a small block's data follows its header, 64-byte aligned");
static_assert(sizeof(LargeBlock) <= 128);

}  // namespace plait::pool
