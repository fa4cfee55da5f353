// Kernels whose threads share memory, as one thread runs them.
#pragma once
#include "ir.hpp"

namespace plait::ir {

// Whether the kernel says where its locals lie, or which threads take its loops.
bool is_placed(const Kernel& k);
// The same without: barriers are gone, copies are loops that copy at once, the stages of a local
// follow each other in it.
Kernel on_one_thread(const Kernel& k);

}  // namespace plait::ir
