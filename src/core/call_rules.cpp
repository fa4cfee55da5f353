#include "call_rules.hpp"

#include <string>

#include "plait/error.hpp"

namespace plait::call_rules {

namespace {

void check_real_float(const char* call, DType t) {
  if (!is_float(t))
    throw DTypeError("ufunc '" + std::string(call) +
                     "' not supported for the input types, and the inputs could not be safely "
                     "coerced to any supported types according to the casting rule ''safe''");
}

}  // namespace

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

void one_for_each_index(std::span<const ValueType> inputs, const CallAttributes& attributes,
                        std::span<ValueType> results) {
  results[0] = inputs[0];
  results[0].shape[static_cast<int>(attributes.numbers[0])] = inputs[1].shape[0];
}

void one_for_each_bin(std::span<const ValueType> /*inputs*/, const CallAttributes& attributes,
                      std::span<ValueType> results) {
  results[0] = {DType::Int64, {attributes.numbers[0]}};
}

void half_spectrum(std::span<const ValueType> inputs, const CallAttributes& attributes,
                   std::span<ValueType> results) {
  const bool single = inputs[0].dtype == DType::Float32;
  results[0] = {single ? DType::Complex64 : DType::Complex128, inputs[0].shape};
  std::int64_t& n = results[0].shape[static_cast<int>(attributes.numbers[0])];
  n = n / 2 + 1;
}

void line_of_half_spectrum(std::span<const ValueType> inputs, const CallAttributes& attributes,
                           std::span<ValueType> results) {
  const bool single = inputs[0].dtype == DType::Complex64;
  results[0] = {single ? DType::Float32 : DType::Float64, inputs[0].shape};
  results[0].shape[static_cast<int>(attributes.numbers[0])] = attributes.numbers[1];
}

void two_like_input(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                    std::span<ValueType> results) {
  check_real_float("modf", inputs[0].dtype);
  results[0] = results[1] = inputs[0];
}

void mantissa_and_exponent(std::span<const ValueType> inputs, const CallAttributes& /*attributes*/,
                           std::span<ValueType> results) {
  check_real_float("frexp", inputs[0].dtype);
  results[0] = inputs[0];
  results[1] = {DType::Int32, inputs[0].shape};
}

}  // namespace plait::call_rules
