// Bounds inference on the loop IR: which bytes of its buffers a kernel touches in some iterations
// of its grid, by interval arithmetic over what its addresses are made of.
#pragma once
#include <vector>

#include "ir.hpp"

namespace plait::ir {

// Far more than any buffer has, and far from where sums overflow.
inline constexpr std::int64_t kAnywhere = std::int64_t{1} << 60;

// Of one instruction: bytes [first, last) from its buffer's address, none where they are equal.
struct Touched {
  std::int32_t buffer;
  bool stored;
  std::int64_t first, last;
};

// What each instruction that loads or stores touches in iterations [begin, end), in the order of
// the instructions. An address that depends on what is read (a gather) is anywhere.
std::vector<Touched> footprint(const Kernel& k, const std::int64_t* params, std::int64_t begin,
                               std::int64_t end);

}  // namespace plait::ir
