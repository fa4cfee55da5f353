#pragma once
#include <cstdint>
#include <optional>

namespace plait::engine {

// A matrix as a BLAS takes it: its rows are contiguous (or, transposed, its columns) and begin `ld`
// elements apart.
struct BlasLayout {
  bool transposed;
  std::int64_t ld;
};
// None when the elements lie apart along both axes. Strides and the size of an element in bytes.
std::optional<BlasLayout> blas_layout(std::int64_t item, std::int64_t row_stride,
                                      std::int64_t column_stride, std::int64_t rows,
                                      std::int64_t columns);

}  // namespace plait::engine
