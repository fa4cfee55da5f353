#include "product_region.hpp"

#include <algorithm>

#include "tracer/contraction.hpp"

namespace plait::fusion {
using tracer::Node;
using tracer::NodeKind;

namespace {

// Of a block in scratch: rows, bytes of the first operand and of the product, columns of a strip.
constexpr std::int64_t kRows = 256, kManyRows = 512, kLeastRows = 32;
constexpr std::int64_t kOperandBytes = 4 << 20, kProductBytes = 1 << 20, kStripBytes = 2048;
// Scores, queries and rows of an attention's block, beside which keys and values come by.
constexpr std::int64_t kAttentionBytes = 448 << 10;
// Rows of a product from which blocks are larger: there are enough of them for any team.
constexpr std::int64_t kTall = 16384;
// Blocks that a product has at least, if its rows allow it.
constexpr std::int64_t kBlocks = 4;
// A row that a block can have whole; the longest sums; extents below which a tile has little to do.
constexpr std::int64_t kWholeRow = 32 << 10, kDeepest = 16384, kSmall = kShort;

bool rows_alone(const Dims& shape, const Dims& product) {
  const int rows = product.size() - 1;
  if (shape.size() < rows || !std::equal(product.begin(), product.end() - 1, shape.begin()))
    return false;
  return shape.size() == rows || (shape.size() == rows + 1 && shape.back() == 1);
}

bool same_axes(const ViewMap& map, int count) {
  for (int d = 0; d < count && d < map.from.size(); ++d)
    if (map.from[d] >= 0 && map.from[d] != d) return false;
  return true;
}

}  // namespace

ProductClass product_class(const Node& product) {
  constexpr double kWorthTiles = 1e6, kWorthBlocks = 1 << 15;  // multiplications
  const double all = static_cast<double>(element_count(product.shape)) *
                     static_cast<double>(tracer::product_depth(product));
  return all >= kWorthTiles    ? ProductClass::Large
         : all >= kWorthBlocks ? ProductClass::Medium
                               : ProductClass::Small;
}

TileShape tile_shape(const Graph& g, std::int32_t product, bool whole) {
  const Node& p = *g[product].node;
  const auto item = static_cast<std::int64_t>(itemsize(p.dtype));
  const std::int64_t rows = p.shape[p.shape.size() - 2], depth = p.inputs[0]->shape.back();
  std::int64_t height = rows >= kTall ? kManyRows : kRows;
  height = std::min(height, kOperandBytes / (depth * item));
  if (whole) height = std::min(height, kProductBytes / (p.shape.back() * item));
  const std::int64_t matrices =
      element_count(p.shape) / std::max<std::int64_t>(1, rows * p.shape.back());
  height = std::min(height, (rows * matrices + kBlocks - 1) / kBlocks);
  return {std::max(height, kLeastRows), kStripBytes / item};
}

std::int64_t attention_rows(const Graph& g, const Attention& a, std::int64_t columns) {
  const Node &p = *g[a.product].node, &s = *g[a.scores].node;
  const std::int64_t rows = p.shape[p.shape.size() - 2];
  const std::int64_t across = columns + p.shape.back() + s.inputs[0]->shape.back();
  const std::int64_t fit =
      kAttentionBytes / (across * static_cast<std::int64_t>(itemsize(p.dtype)));
  const std::int64_t all = element_count(p.shape) / std::max<std::int64_t>(1, p.shape.back());
  return std::max(std::min({fit, rows, (all + kBlocks - 1) / kBlocks}), kLeastRows);
}

bool fits_tiles(const Graph& g, std::int32_t node, const Target& target) {
  const Node& p = *g[node].node;
  if (g[node].leaf || p.kind != NodeKind::MatMul || target.product_depth == 0) return false;
  if (!p.axes.empty()) return false;
  if (p.dtype != DType::Float32 && p.dtype != DType::Float64) return false;
  const std::int64_t depth = p.inputs[0]->shape.back();
  return product_class(p) == ProductClass::Large && depth > kSmall && depth <= kDeepest &&
         p.shape.back() > kSmall && p.shape[p.shape.size() - 2] > kSmall;
}

bool follows_rows(const Graph& g, std::int32_t node, std::int32_t operand, const Dims& product) {
  const Node &n = *g[node].node, &v = *g[operand].node;
  const bool whole = v.shape == product;
  if (!whole && !rows_alone(v.shape, product)) return false;
  switch (n.kind) {
    case NodeKind::Elementwise:
    case NodeKind::Cast:
      return n.shape == v.shape || (n.shape == product && v.shape.size() == product.size());
    case NodeKind::Reduce:
      return whole && n.reduce != ReduceKind::Prod && n.axes.size() == 1 &&
             n.axes[0] == product.size() - 1 &&
             product.back() * static_cast<std::int64_t>(itemsize(v.dtype)) <= kWholeRow;
    case NodeKind::View:
      if (!g[node].map || n.dtype != v.dtype) return false;
      return whole ? n.shape == product && same_axes(*g[node].map, product.size())
                   : rows_alone(n.shape, product) && same_axes(*g[node].map, product.size() - 1);
    default:
      return false;
  }
}

}  // namespace plait::fusion
