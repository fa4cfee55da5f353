#include "arenas.hpp"

#include <new>
#include <utility>

#include "os/pages.hpp"

namespace plait::pool {

struct Arena {
  static constexpr std::size_t kBytes = 16 * 1024 * 1024;

  std::byte *begin = nullptr, *next = nullptr;
  std::size_t blocks = 0;  // that were not given back to the system

  std::size_t left() const { return static_cast<std::size_t>(begin + kBytes - next); }
  static void unmap(Arena* a) noexcept {
    os::unmap_pages(a->begin, kBytes);
    delete a;
  }
};

std::byte* map_huge(std::size_t capacity) noexcept {
  // Huge pages need their alignment: map more and give the edges back.
  const std::size_t span = capacity + kHugePage;
  std::byte* const raw = os::map_pages(span);
  if (!raw) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(raw);
  const std::uintptr_t aligned = (begin + kHugePage - 1) & ~(kHugePage - 1);
  if (aligned > begin) os::unmap_pages(raw, aligned - begin);
  const std::uintptr_t end = aligned + capacity;
  if (begin + span > end) os::unmap_pages(reinterpret_cast<void*>(end), begin + span - end);
  auto* data = reinterpret_cast<std::byte*>(aligned);
  os::prefer_huge_pages(data, capacity);
  return data;
}

bool Arenas::begin() noexcept {
  auto* fresh = new (std::nothrow) Arena;
  if (fresh) fresh->begin = fresh->next = map_huge(Arena::kBytes);
  if (!fresh || !fresh->begin) {
    delete fresh;
    return false;
  }
  if (Arena* full = std::exchange(current_, fresh); full && full->blocks == 0) Arena::unmap(full);
  return true;
}

void Arenas::warm() noexcept {
  if (current_ || !begin()) return;
  *current_->begin = std::byte{0};
  warm_ = current_->begin;
}

bool Arenas::is_warm(std::size_t capacity) const {
  return current_ && current_->begin == warm_ && current_->next + capacity <= warm_ + kHugePage;
}

bool Arenas::cut(LargeBlock& b, std::size_t capacity) noexcept {
  if ((!current_ || current_->left() < capacity) && !begin()) return false;
  b.arena = current_;
  b.data = current_->next;
  current_->next += capacity;
  ++current_->blocks;
  return true;
}

void Arenas::give_back(LargeBlock& b) noexcept {
  Arena* a = std::exchange(b.arena, nullptr);
  if (--a->blocks > 0) {
    os::give_back_pages(b.data, b.capacity);
    return;
  }
  if (a == current_) current_ = nullptr;
  Arena::unmap(a);
}

void Arenas::trim() noexcept {
  if (current_ && current_->blocks == 0) Arena::unmap(std::exchange(current_, nullptr));
}

}  // namespace plait::pool
