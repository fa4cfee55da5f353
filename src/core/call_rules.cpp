#include "call_rules.hpp"

namespace plait::call_rules {

void like_input(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                std::span<ValueType> results) {
  results[0] = inputs[0];
}

void indices_like_input(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                        std::span<ValueType> results) {
  results[0] = {DType::Int64, inputs[0].shape};
}

void indices_like_second(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                         std::span<ValueType> results) {
  results[0] = {DType::Int64, inputs[1].shape};
}

void ranks_of_lines(std::span<const ValueType> inputs, const CallAttributes& attributes,
                    std::span<ValueType> results) {
  results[0] = inputs[0];
  results[0].shape.erase(static_cast<int>(attributes.numbers[0]));
  results[0].shape.insert(0, attributes.numbers.size() - 1);
}

void values_and_count(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                      std::span<ValueType> results) {
  for (ValueType& r : results) r = {DType::Int64, inputs[0].shape};
  results.front() = inputs[0];
  results.back().shape = {1};
}

}  // namespace plait::call_rules
