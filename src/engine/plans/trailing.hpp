// A region that reads the storage it writes, run over chunks: each chunk stores to memory that
// stays in the cache, and is copied to its place when no chunk to come reads there. So the storage
// is passed once and no second one is needed.
#pragma once
#include <optional>
#include <vector>

#include "fusion/trailing.hpp"

namespace plait::engine {

// The numbers of one run.
struct Trail {
  std::int32_t buffer;  // the kernel's parameter that it stores through
  std::int64_t first;   // of iteration 0: its first byte, from the buffer's address
  std::int64_t stride;  // bytes from iteration to iteration
  std::int64_t span;    // bytes from an iteration's first to its last
  std::int64_t reach;   // iterations that a load looks ahead or back
  std::int64_t run;     // bytes stored side by side in one iteration
  struct Row {
    std::int64_t extent, stride;
  };
  std::vector<Row> rows;  // of such stretches in one iteration

  static constexpr std::size_t kLine = 64;
  // Memory that so many iterations are stored to first, and where in it the one at `begin` lies: as
  // it will in the lines of the cache.
  std::size_t slot_bytes(std::int64_t iterations) const {
    return static_cast<std::size_t>((iterations - 1) * stride + span + 2 * kLine - 1) / kLine *
           kLine;
  }
  std::byte* in_slot(std::byte* slot, const std::byte* home, std::int64_t begin) const {
    return slot + reinterpret_cast<std::uintptr_t>(home + first + begin * stride) % kLine;
  }
};

// nullopt when the loads look too far for a cache, or the stores lie apart. A region alone does
// without where all of it stays in the cache anyway.
std::optional<Trail> trail(const fusion::Trailing& t, const std::vector<std::int64_t>& values,
                           std::int64_t extent, bool alone);

// Copies what iterations [begin, end) stored in `from` to their place.
void put_back(const Trail& t, std::byte* buffer, const std::byte* from, std::int64_t begin,
              std::int64_t end);

}  // namespace plait::engine
