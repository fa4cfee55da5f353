#include "free_blocks.hpp"

#include <algorithm>

namespace plait::pool {
namespace {

// How much larger than asked a reused block may be.
std::size_t acceptable(std::size_t bytes) { return bytes + bytes / 4 + 64 * 1024; }

}  // namespace

int FreeBlocks::bin_of(std::size_t capacity) {
  const int top = 63 - __builtin_clzll(capacity);
  return std::min(kBins - 1, (top - 12) * 8 + static_cast<int>((capacity >> (top - 3)) & 7));
}

void FreeBlocks::add(LargeBlock* b) {
  LargeBlock*& bin = bins_[bin_of(b->capacity)];
  b->bin_prev = nullptr;
  b->bin_next = bin;
  if (bin) bin->bin_prev = b;
  bin = b;
  b->older = newest_;
  b->newer = nullptr;
  (newest_ ? newest_->newer : oldest_) = b;
  newest_ = b;
  bytes_ += b->capacity;
}

void FreeBlocks::remove(LargeBlock* b) {
  (b->bin_prev ? b->bin_prev->bin_next : bins_[bin_of(b->capacity)]) = b->bin_next;
  if (b->bin_next) b->bin_next->bin_prev = b->bin_prev;
  (b->older ? b->older->newer : oldest_) = b->newer;
  (b->newer ? b->newer->older : newest_) = b->older;
  bytes_ -= b->capacity;
}

// Best fit within the bin of `bytes`, else the first fit of the bins above.
LargeBlock* FreeBlocks::find(std::size_t bytes) const {
  const std::size_t most = acceptable(bytes);
  for (int bin = bin_of(bytes); bin <= bin_of(most); ++bin) {
    LargeBlock* best = nullptr;
    for (LargeBlock* b = bins_[bin]; b; b = b->bin_next)
      if (b->capacity >= bytes && b->capacity <= most && (!best || b->capacity < best->capacity)) {
        best = b;
        if (b->capacity == bytes) break;
      }
    if (best) return best;
  }
  return nullptr;
}

LargeBlock* FreeBlocks::take(std::size_t bytes) {
  LargeBlock* const b = find(bytes);
  if (b) remove(b);
  return b;
}

LargeBlock* FreeBlocks::take_oldest() {
  LargeBlock* const b = oldest_;
  if (b) remove(b);
  return b;
}

}  // namespace plait::pool
