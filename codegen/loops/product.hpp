// Matrix products: register tiles over packed panels, compiled once a CPU tier. Every element of a
// product is summed in one order, which only its depth decides: along k in blocks of
// kProductDepth, each a chain of fused multiply-adds from zero, and the sums of the blocks added
// from the first on. So neither tiles, threads, packing nor the tier show in the bits (those of a
// NaN aside).
#pragma once
#include <cstdint>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace plait::loops {

inline constexpr std::int64_t kProductDepth = 256;

// One block, k <= kProductDepth, of rows and columns at element strides. Rows of b are contiguous
// when it is not packed.
struct ProductBlock {
  std::int64_t m, n, k;
  const void* a;
  std::int64_t a_row, a_column;
  const void* b;
  std::int64_t b_row;
  void* c;
  std::int64_t c_row;
  bool add;  // to what c holds; else c is only written
};

struct Product {
  // Of a register tile: panels of A are so many rows high, those of B so many columns wide.
  std::int64_t rows, columns;
  // c[i * c_row + j] (+)= sum over k of A[i][k] * B[k][j], for a block of k <= kProductDepth. `a`
  // is [ceil(m / rows)][k][rows], `b` is [ceil(n / columns)][k][columns]; what pads the last panels
  // is never used. c_row in elements.
  void (*block)(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                void* c, std::int64_t c_row, bool add);
  // The same on operands where they lie. With `packed_b`, b is as above and b_row is not read.
  void (*strided)(const ProductBlock& p, bool packed_b);
  // Packs an operand whose elements lie `line` bytes apart across a panel (rows of A, columns of B)
  // and `step` bytes along k: out is [ceil(lines / width)][k][width], padded with zeros.
  void (*pack)(void* out, const void* from, std::int64_t line, std::int64_t step,
               std::int64_t lines, std::int64_t k, std::int64_t width);
  // The same of elements that lie `lines_at` plus `sums_at` bytes from `from`.
  void (*gather)(void* out, const void* from, const std::int64_t* lines_at,
                 const std::int64_t* sums_at, std::int64_t lines, std::int64_t k,
                 std::int64_t width);
};

// nullptr but for floats. Of Float16 what is packed is; panels, tiles and results are Float32.
const Product* product(DType t, CpuTier tier);

// Elements of the panels that pack() writes.
constexpr std::int64_t packed_size(std::int64_t lines, std::int64_t k, std::int64_t width) {
  return (lines + width - 1) / width * width * k;
}

}  // namespace plait::loops
