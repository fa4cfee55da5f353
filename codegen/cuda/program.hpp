// A generated program: its text, and what a launch has to know of it.
#pragma once
#include <string>
#include <vector>

#include "mapping.hpp"

namespace plait::cuda {

class Program {
 public:
  std::string source, entry = "plait_kernel";
  ir::Kernel kernel;  // empty for a join
  Nest nest;
  bool wide = true;  // 64-bit indices
  Target target;
  static constexpr unsigned threads = 256;  // of a block, at most
};

// A short local of known length stays in the thread; others live in global scratch, where the
// elements of neighbouring threads lie side by side.
bool in_registers(const ir::Local& l);

}  // namespace plait::cuda
