// The rules that rows of calls.def name, one for all calls whose results follow alike.
#pragma once
#include "call_table.hpp"

namespace plait::call_rules {

// One result, of the first input's dtype and shape.
void like_input(std::span<const ValueType> inputs, const CallAttributes& attributes,
                std::span<ValueType> results);

// One result of int64, of the first input's shape.
void indices_like_input(std::span<const ValueType> inputs, const CallAttributes& attributes,
                        std::span<ValueType> results);

// One of int64, of the second input's shape.
void indices_like_second(std::span<const ValueType> inputs, const CallAttributes& attributes,
                         std::span<ValueType> results);
// The input without axis numbers[0], once for each number that follows.
void ranks_of_lines(std::span<const ValueType> inputs, const CallAttributes& attributes,
                    std::span<ValueType> results);
// The input, and one integer; between them, where there are three, as many integers.
void values_and_count(std::span<const ValueType> inputs, const CallAttributes& attributes,
                      std::span<ValueType> results);
// The first input's shape, but along axis numbers[0] as many as the second has elements.
void one_for_each_index(std::span<const ValueType> inputs, const CallAttributes& attributes,
                        std::span<ValueType> results);
// Integers, as many as numbers[0].
void one_for_each_bin(std::span<const ValueType> inputs, const CallAttributes& attributes,
                      std::span<ValueType> results);
// Of real lines along axis numbers[0], n / 2 + 1 complex numbers; of those, numbers[1] real ones.
void half_spectrum(std::span<const ValueType> inputs, const CallAttributes& attributes,
                   std::span<ValueType> results);
void line_of_half_spectrum(std::span<const ValueType> inputs, const CallAttributes& attributes,
                           std::span<ValueType> results);
// Two results like it.
void two_like_input(std::span<const ValueType> inputs, const CallAttributes& attributes,
                    std::span<ValueType> results);
// Of a real float: one result like it, and Int32 of its shape.
void mantissa_and_exponent(std::span<const ValueType> inputs, const CallAttributes& attributes,
                           std::span<ValueType> results);

// Of stacks of matrices; what each row's results are stands in calls.def
// (linear_algebra_rules.cpp).
#define PLAIT_MATRIX_RULE(name)                                                  \
  void name(std::span<const ValueType> inputs, const CallAttributes& attributes, \
            std::span<ValueType> results);
PLAIT_MATRIX_RULE(solution_of_matrices)
PLAIT_MATRIX_RULE(square_like_input)
PLAIT_MATRIX_RULE(determinants)
PLAIT_MATRIX_RULE(sign_and_logarithm)
PLAIT_MATRIX_RULE(orthogonal_and_triangle)
PLAIT_MATRIX_RULE(singular_vectors)
PLAIT_MATRIX_RULE(singular_values)
PLAIT_MATRIX_RULE(hermitian_values_and_vectors)
PLAIT_MATRIX_RULE(hermitian_values)
PLAIT_MATRIX_RULE(values_and_vectors)
PLAIT_MATRIX_RULE(complex_values)
PLAIT_MATRIX_RULE(least_squares)
#undef PLAIT_MATRIX_RULE

}  // namespace plait::call_rules
