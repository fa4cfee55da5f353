// Sequential kernels that run a part of a loop's range whose iterations are independent, as devices
// run them: a thread an iteration.
#pragma once
#include <string>

#include "ir.hpp"

namespace plait::ir {

// The first three arguments of such a kernel are the begin, the end and the step of its part. What
// it gives back is stored to buffers, from `results` on: those before `left`, but for `failure`, to
// no use where several run; those from there on by the last iteration.
struct Iterations {
  std::int32_t results;
  std::int32_t
      failure;  // an Int64, not 0 where an iteration fails: becomes the least number of one
  std::int32_t left;
  // A loop that counts, whose iterations are independent, too: several threads may run an iteration
  // of the kernel, each with some of these; what stands around it does no harm if all of them run
  // it. -1: there is none.
  std::int32_t shared = -1;
};

// Whether iterations need nothing of the host. *why says what they need.
bool runs_apart(const Kernel& k, std::string* why);

}  // namespace plait::ir
