// Sorts many elements on the team: runs of a few million, a run at a time on one thread, then
// merges in pieces. So an interrupt is seen between two of either.
#pragma once
#include <cstdint>
#include <functional>

#include "core/buffer.hpp"
#include "core/dtype.hpp"

namespace plait::engine {

class LongSort {
 public:
  // Shorter lines are not cut: whoever has several spreads them over the team instead.
  static constexpr std::int64_t kLeast = 1 << 18;

  // Reserves what it needs: nothing for one run, n elements for more. Throws std::bad_alloc.
  LongSort(DType t, std::int64_t n, bool stable);

  // Writes elements [begin, end) to `to`, on any thread.
  using Fill = std::function<void(std::int64_t begin, std::int64_t end, std::byte* to)>;
  void sort(std::byte* out, const Fill& fill);

  // What one thread takes, roughly.
  static double seconds(DType t, std::int64_t n);

 private:
  void merge_level(std::int64_t width, const std::byte* from, std::byte* to) const;
  std::int64_t bound(std::int64_t run) const { return n_ * run / runs_; }

  DType dtype_;
  std::int64_t n_, runs_ = 1;
  bool stable_;
  Ref<Buffer> spare_;
};

}  // namespace plait::engine
