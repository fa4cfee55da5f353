// Checks that no iteration of a loop fails. An innermost loop that counts may break on an index out
// of range (Builder::index), on an integer that overflows, or on another comparison of values that
// step evenly along the loop, or do not change. What such a value is in the first and in the last
// iteration decides for all of them: so both are computed in front of the loop, and where no check
// can fail a copy of the loop without the checks runs, else the loop as it is.
#pragma once
#include "ir.hpp"

namespace plait::ir {

// Of a sequential kernel; best after forward_variables().
Kernel without_range_checks(const Kernel& k);

}  // namespace plait::ir
