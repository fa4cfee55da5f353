// Shapes and dtypes of what factorisations give.
#include <algorithm>
#include <string>

#include "call_rules.hpp"
#include "plait/linalg_error.hpp"

namespace plait::call_rules {

namespace {

void check_matrices(const ValueType& a) {
  if (a.shape.size() < 2)
    throw LinAlgError(std::to_string(a.shape.size()) +
                      "-dimensional array given. Array must be at least two-dimensional");
  if (a.dtype != DType::Float32 && a.dtype != DType::Float64 && !is_complex(a.dtype))
    throw DTypeError("array type " + std::string(name(a.dtype)) + " is unsupported in linalg");
}
std::int64_t rows(const ValueType& a) { return a.shape[a.shape.size() - 2]; }
std::int64_t columns(const ValueType& a) { return a.shape.back(); }
void check_square(const ValueType& a) {
  check_matrices(a);
  if (rows(a) != columns(a)) throw LinAlgError("Last 2 dimensions of the array must be square");
}
DType real_of(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
DType complex_of(DType t) {
  return t == DType::Float32 ? DType::Complex64 : t == DType::Float64 ? DType::Complex128 : t;
}
// As many of them as the stack has matrices.
ValueType each(const ValueType& a, DType t, std::initializer_list<std::int64_t> core) {
  ValueType v{t, a.shape};
  v.shape.erase(v.shape.size() - 1);
  v.shape.erase(v.shape.size() - 1);
  for (const std::int64_t n : core) v.shape.push_back(n);
  return v;
}

}  // namespace

using Inputs = std::span<const ValueType>;
using Results = std::span<ValueType>;

void solution_of_matrices(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  check_matrices(inputs[1]);
  if (rows(inputs[0]) != rows(inputs[1]))
    throw LinAlgError("solve: matrices of " + std::to_string(rows(inputs[0])) +
                      " rows, right-hand sides of " + std::to_string(rows(inputs[1])));
  results[0] = inputs[1];
}
void square_like_input(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  results[0] = inputs[0];
}
void determinants(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  results[0] = each(inputs[0], inputs[0].dtype, {});
}
void sign_and_logarithm(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  results[0] = each(inputs[0], inputs[0].dtype, {});
  results[1] = each(inputs[0], real_of(inputs[0].dtype), {});
}
void orthogonal_and_triangle(Inputs inputs, const CallAttributes& attributes, Results results) {
  const ValueType& a = inputs[0];
  check_matrices(a);
  const std::int64_t k = attributes.numbers[0] ? rows(a) : std::min(rows(a), columns(a));
  results[0] = each(a, a.dtype, {rows(a), k});
  results[1] = each(a, a.dtype, {k, columns(a)});
}
void singular_vectors(Inputs inputs, const CallAttributes& attributes, Results results) {
  const ValueType& a = inputs[0];
  check_matrices(a);
  const std::int64_t k = std::min(rows(a), columns(a));
  const bool full = attributes.numbers[0] != 0;
  results[0] = each(a, a.dtype, {rows(a), full ? rows(a) : k});
  results[1] = each(a, real_of(a.dtype), {k});
  results[2] = each(a, a.dtype, {full ? columns(a) : k, columns(a)});
}
void singular_values(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_matrices(inputs[0]);
  results[0] =
      each(inputs[0], real_of(inputs[0].dtype), {std::min(rows(inputs[0]), columns(inputs[0]))});
}
void hermitian_values(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  results[0] = each(inputs[0], real_of(inputs[0].dtype), {rows(inputs[0])});
}
void hermitian_values_and_vectors(Inputs inputs, const CallAttributes& attributes,
                                  Results results) {
  hermitian_values(inputs, attributes, results);
  results[1] = inputs[0];
}
void complex_values(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  check_square(inputs[0]);
  results[0] = each(inputs[0], complex_of(inputs[0].dtype), {rows(inputs[0])});
}
void values_and_vectors(Inputs inputs, const CallAttributes& attributes, Results results) {
  complex_values(inputs, attributes, results);
  results[1] = {complex_of(inputs[0].dtype), inputs[0].shape};
}
void least_squares(Inputs inputs, const CallAttributes& /*attributes*/, Results results) {
  const ValueType &a = inputs[0], &b = inputs[1];
  check_matrices(a);
  check_matrices(b);
  if (a.shape.size() != 2 || b.shape.size() != 2)
    throw LinAlgError("lstsq takes one matrix, not a stack of them");
  if (rows(a) != rows(b)) throw LinAlgError("Incompatible dimensions");
  results[0] = {a.dtype, {columns(a), columns(b)}};
  results[1] = {real_of(a.dtype), {columns(b)}};
  results[2] = {DType::Int64, {1}};
  results[3] = {real_of(a.dtype), {std::min(rows(a), columns(a))}};
}

}  // namespace plait::call_rules
