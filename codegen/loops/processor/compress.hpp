// What instructions that move the selected elements of a register to its front do of the beginning
// of a mask: elements of `values`, or the numbers of their places from `first` on. They write no
// more than they select: what follows may be another thread's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "codegen/loops/tier.hpp"

namespace plait::loops::PLAIT_TIER {

struct Compressed {
  std::int64_t read = 0, selected = 0;
};

}  // namespace plait::loops::PLAIT_TIER
#if defined(__x86_64__)
#include "x86_64/compress.hpp"
#else
#include "no_compress.hpp"
#endif
