// Memory on huge pages: mappings of it, and arenas, from which large blocks are cut one after the
// other.
#pragma once
#include "block.hpp"

namespace plait::pool {

// Nothing when there is no address space for it.
std::byte* map_huge(std::size_t capacity) noexcept;

// The pool's mutex guards it.
class Arenas {
 public:
  // Begins the first arena and clears a huge page of it.
  void warm() noexcept;
  // Whether the next block of such capacity lies on the page that warm() has cleared.
  bool is_warm(std::size_t capacity) const;
  // The block's memory. False when there is no address space for another arena: malloc may still
  // have some.
  bool cut(LargeBlock& b, std::size_t capacity) noexcept;
  // Its pages go back at once, its place when the whole arena is free.
  void give_back(LargeBlock& b) noexcept;
  // Unmaps the arena that no block was cut from.
  void trim() noexcept;

 private:
  bool begin() noexcept;

  Arena* current_ = nullptr;         // the one that blocks are cut from
  const std::byte* warm_ = nullptr;  // the huge page that was cleared
};

}  // namespace plait::pool
