// How a program that was compiled with emulation.hpp is launched, by a test or the driver's double.
#pragma once
#include <cstddef>

namespace emulated {

struct Range {
  const void* at;
  std::size_t bytes;
};
// No order is promised: a program that gives other bits in another one lacks a barrier.
enum class Order { Forward, Backward, Shuffled };

struct Launch {
  unsigned grid, block;
  std::size_t shared_bytes;
  Order order;
  const Range* memory;  // what the kernel may touch beside its shared memory
  std::size_t ranges;
};
// What went wrong, or null.
using Launcher = const char* (*)(const void* arguments, const Launch& launch);

}  // namespace emulated
