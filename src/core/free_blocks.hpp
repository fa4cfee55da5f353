// Large blocks that wait for another use: in bins by capacity, and in the order in which they were
// freed. The pool's mutex guards them.
#pragma once
#include <array>

#include "block.hpp"

namespace plait::pool {

class FreeBlocks {
 public:
  void add(LargeBlock* b);
  // One of at least so many bytes and not many more, which waits no longer; or nullptr.
  LargeBlock* take(std::size_t bytes);
  // The one that was freed first; or nullptr.
  LargeBlock* oldest() const { return oldest_; }
  LargeBlock* take_oldest();
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr int kBins = 8 * 48;
  static int bin_of(std::size_t capacity);
  LargeBlock* find(std::size_t bytes) const;
  void remove(LargeBlock* b);

  std::array<LargeBlock*, kBins> bins_{};
  LargeBlock* oldest_ = nullptr;
  LargeBlock* newest_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace plait::pool
