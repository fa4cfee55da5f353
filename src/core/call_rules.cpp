#include "call_rules.hpp"

namespace plait::call_rules {

void like_input(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                std::span<ValueType> results) {
  results[0] = inputs[0];
}

}  // namespace plait::call_rules
