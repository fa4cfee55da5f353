// The rules that rows of calls.def name, one for all calls whose results follow alike.
#pragma once
#include "call_table.hpp"

namespace plait::call_rules {

// One result, of the first input's dtype and shape.
void like_input(std::span<const ValueType> inputs, const CallAttributes& attributes,
                std::span<ValueType> results);

}  // namespace plait::call_rules
