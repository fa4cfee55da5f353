// Loops over a batch of small problems (a generalized ufunc's inner loop, in NumPy's calling
// convention), on the team.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/dims.hpp"

namespace plait::engine {

// args: one pointer an operand. dims: how many problems, then the sizes of the core dimensions.
// steps: an operand's step from problem to problem each, then all core strides. In bytes.
using BatchFn = void (*)(char** args, const std::intptr_t* dims, const std::intptr_t* steps,
                         void* data);

struct BatchLoop {
  BatchFn fn = nullptr;
  void* data = nullptr;
  std::vector<char*> operands;
  Dims batch;                        // extents of the batch
  std::vector<Dims> strides;         // an operand's along the batch; 0 where it is broadcast
  std::vector<std::intptr_t> sizes;  // of the core dimensions
  std::vector<std::intptr_t> core_steps;
  double seconds = 0;  // a problem takes on one thread
};

// Runs it. Gives the floating-point flags (fp_flags.hpp) that the loops left raised; those of the
// caller are as before. Throws Interrupted.
unsigned run_batches(const BatchLoop& loop);

}  // namespace plait::engine
