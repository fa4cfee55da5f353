// What a mask selects out of a run of elements. Masks are bytes of 0 or 1; items have 1, 2, 4, 8 or
// 16 bytes. Nothing is written beyond what is selected.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/config.hpp"

namespace plait::loops {

struct Selecting {
  std::int64_t (*count)(const std::byte* mask, std::int64_t n);
  // out[k] = values[i] where i is the k-th place that is true.
  void (*compress)(std::size_t item, const std::byte* mask, std::int64_t n, const std::byte* values,
                   std::byte* out);
  // values[i] = from[k]
  void (*expand)(std::size_t item, const std::byte* mask, std::int64_t n, std::byte* values,
                 const std::byte* from);
  // out[k] = first + i
  void (*places)(const std::byte* mask, std::int64_t n, std::int64_t first, std::int64_t* out);
};
const Selecting& selecting(CpuTier tier);

}  // namespace plait::loops
