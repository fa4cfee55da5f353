// Reads of variables whose value is known where they stand name that value instead: what follows
// sees that an index is a loop's variable. What is stored stays stored.
#pragma once
#include "ir.hpp"

namespace plait::ir {

Kernel forward_variables(const Kernel& k);  // a sequential one

// Whether an instruction of the loop, or of one inside it, stores to the variable.
bool sets(const Kernel& k, std::int32_t loop, std::int32_t local);

}  // namespace plait::ir
