// Matrix products: register tiles over packed panels, compiled once a CPU tier. Every element of a
// product is summed in one order, which only its depth decides: along k in blocks of
// kProductDepth, each a chain of fused multiply-adds from zero, and the sums of the blocks added
// from the first on. So neither tiles, threads, packing nor the tier show in the bits (those of a
// NaN aside). Integers wrap, and are exact in any order.
#pragma once
#include <cstdint>

#include "core/config.hpp"
#include "core/dtype.hpp"

namespace plait::loops {

inline constexpr std::int64_t kProductDepth = 256;

// One block, k <= Product::depth, of rows and columns at element strides. Rows of b are
// contiguous when it is not packed.
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

// How an operand becomes panels, which hold what tiles multiply, whatever the operand's dtype.
struct Packing {
  // Packs an operand whose elements lie `line` bytes apart across a panel (rows of A, columns of B)
  // and `step` bytes along k: out is [ceil(lines / width)][k][width], padded with zeros. The panels
  // of integers are those of Product::panel.
  void (*pack)(void* out, const void* from, std::int64_t line, std::int64_t step,
               std::int64_t lines, std::int64_t k, std::int64_t width);
  // The same of elements that lie `lines_at` plus `sums_at` bytes from `from`.
  void (*gather)(void* out, const void* from, const std::int64_t* lines_at,
                 const std::int64_t* sums_at, std::int64_t lines, std::int64_t k,
                 std::int64_t width);
};

struct Product {
  // Of a register tile: panels of A are so many rows high, those of B so many columns wide.
  std::int64_t rows, columns;
  // Of panels: elements along k that stand together, as one word of so many bytes, and how deep a
  // block is at most. Where `starts`, a word for each line stands before them, which is added to
  // the sums of its row or column.
  std::int64_t group, word, depth;
  bool starts;
  // c[i * c_row + j] (+)= sum over k of A[i][k] * B[k][j], for a block of k <= depth. `a`
  // is [ceil(m / rows)][k][rows], `b` is [ceil(n / columns)][k][columns]; what pads the last panels
  // is never used. c_row in elements.
  void (*block)(std::int64_t m, std::int64_t n, std::int64_t k, const void* a, const void* b,
                void* c, std::int64_t c_row, bool add);
  // The same on operands where they lie. With `packed_b`, b is as above and b_row is not read.
  // nullptr where panels are not what operands are made of.
  void (*strided)(const ProductBlock& p, bool packed_b);
  Packing a, b;

  // Bytes of a panel, and of all panels of so many lines.
  std::int64_t panel(std::int64_t width, std::int64_t k) const {
    return width * word * ((k + group - 1) / group + (starts ? 1 : 0));
  }
  std::int64_t panels(std::int64_t lines, std::int64_t k, std::int64_t width) const {
    return (lines + width - 1) / width * panel(width, k);
  }
};

// Of operands of these dtypes, in the sums that ir::kFragmentTypes has for them; nullptr of others.
const Product* product(DType a, DType b, CpuTier tier);

// Elements of the panels that pack() writes.
constexpr std::int64_t packed_size(std::int64_t lines, std::int64_t k, std::int64_t width) {
  return (lines + width - 1) / width * width * k;
}

}  // namespace plait::loops
