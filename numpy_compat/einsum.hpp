// numpy.einsum of one or two operands over contractions (tracer/contraction.hpp).
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "tracer/array.hpp"

namespace plait::numpy {

// Whose way of laying out the result and of rounding intermediate sums: einsum's own loop, or the
// products of matrices that `optimize` makes of it.
enum class EinsumLike : std::uint8_t { Loop, Matmul };

struct EinsumResult {
  tracer::Array array;
  bool view = false;   // of the operand
  bool scalar = true;  // what has no axes is returned as a scalar
};

// Nothing for subscripts or shapes that are mistakes, for empty arrays, and for what stays NumPy's.
std::optional<EinsumResult> einsum(std::string_view subscripts,
                                   std::span<const tracer::Array> operands, EinsumLike like);

}  // namespace plait::numpy
