#include "product_nest.hpp"

#include <algorithm>

#include "fusion/graph/walk.hpp"
#include "fusion/schedule/product_region.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

// Blocks that a product of several axes has at least, if its columns allow it.
constexpr std::int64_t kLeastBlocks = 6;
// Blocks of columns of few rows, which are all that a team has to share; of the widest ones fewer
// will do: longer pieces of the lines are read in less time.
constexpr std::int64_t kBlocksOfFew = 8, kLongBlocksOfFew = 4;

}  // namespace

// Whether what reads the product folds its rows, so that a block has to have them whole.
bool ProductNest::keeps_rows(const Node& p) const {
  if (!p.axes.empty()) return false;
  for (const std::int32_t r : region_.roots)
    if (folds_rows(r)) return true;
  const std::int32_t first = first_product();
  return walk_inputs(
      g_, in_.canon, region_.roots, [&](std::int32_t i) { return i > first && !in_.in_memory[i]; },
      [&](std::int32_t i) {
        return node(i).kind == NodeKind::Reduce && reads_product(g_[i].in[0]);
      });
}

// Whether columns are computed for few rows, where to read the columns takes longest: long pieces
// of their lines, few of them, which stay in the first-level cache.
bool ProductNest::reads_once() const {
  const std::int32_t id = region_.product, columns = g_[id].in[1];
  const int rows = node(id).extents.size() - 2, dims = node(columns).extents.size();
  return region_.computes_columns && lines_inside(columns, dims - 1, 1, dims - 2, 1) &&
         node(id).extents[rows] <= in_.target.blocks.gemv_rows;
}

// What reads the products comes after them.
std::int32_t ProductNest::first_product() const {
  const std::vector<std::int32_t> all = region_.products();
  return *std::min_element(all.begin(), all.end());
}

bool ProductNest::reads_product(std::int32_t id) const {
  const std::int32_t first = first_product();
  const auto multiplies = [&](std::int32_t i) { return region_.multiplies(i); };
  return walk_inputs(
      g_, in_.canon, {id},
      [&](std::int32_t i) { return multiplies(i) || (i >= first && !in_.in_memory[i]); },
      multiplies);
}

// The rows times the columns into their tile. An operand that is not in scratch is packed for each
// block of sums.
void ProductNest::multiply(std::int32_t product, const std::optional<Packed>& a,
                           const std::optional<Packed>& b, const AxisTile& rows,
                           const AxisTile& columns, std::int32_t ctx, bool adds) {
  if (streams(product)) return multiply_streamed(product, rows, columns, ctx, adds);
  const Node& p = node(product);
  const tracer::ProductAxes axes = product_axes(p);
  const std::int32_t left = g_[product].in[0], right = g_[product].in[1];
  const std::int64_t most =
      reads_once() ? in_.target.blocks.gemv_depth : in_.target.depth_of_block();
  AxisTile sums(nest_, right, axes.batch, axes.sums);
  std::vector<std::int32_t> opened;
  Val first = kNone, count = kNone;
  if (a && b) {
    const ExprId depth = sums.lines();
    opened.push_back(ctx = open_blocks(ctx, depth, most));
    const auto [begin, end] = nest_.range_of_block(k_.loops[ctx].var, ex_.constant(most), depth);
    first = begin;
    count = integer(OpId::Subtract, end, begin);
  } else {
    sums = AxisTile::block(nest_, right, axes.batch, axes.sums, most);
    ctx = sums.open_blocks(ctx, opened);
    first = sums.first_line();
    count = sums.lines_now();
  }
  const auto from = [&](const std::optional<Packed>& placed) {
    Access at;
    if (placed) at.terms.push_back({first, coeff(placed->sum)});
    return at;
  };
  const int behind = axes.batch + axes.rows, columns_at = axes.batch + axes.sums;
  ir::Fragment m;
  const Packed down =
      a ? *a : pack_lines(left, multiplied(product, 0), rows, axes.batch, sums, behind, ctx, true);
  const Packed across = b ? *b
                          : pack_lines(right, multiplied(product, 1), columns, columns_at, sums,
                                       axes.batch, ctx, true);
  m.a = panels(down, from(a));
  m.b = panels(across, from(b), true);
  m.local = tile_.locals.at(product);
  Access to;
  if (tile_.whole && columns.begin != kNone)
    to.terms.push_back({columns.first_line(), {1, ir::kNoParam}});
  m.access = access(std::move(to));
  m.row = coeff(tile_.row);
  m.block = adds ? constant(scalar_int(1)) : first;
  push_product(m, rows.lines_now(), columns.lines_now(), count, ctx);
  close_all(opened);
}

// How many lines a block has: of a product of several axes, as many as its scratch has room for.
void ProductNest::size_block(AxisTile& rows, AxisTile& columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = product_axes(p);
  const auto sized = [&](std::int64_t most_rows, std::int64_t most_columns) {
    rows = AxisTile::block(nest_, id, axes.batch, axes.rows, most_rows);
    columns = AxisTile::block(nest_, id, axes.batch + axes.rows, axes.columns, most_columns);
  };
  if (region_.computes_columns && !tile_.whole) {
    const ProductBlocks& most = in_.target.blocks;
    sized(most.rows, reads_once() ? most.gemv_columns : most.columns);
    if (!reads_once()) return;
    if (p.extents[columns.split] >= kLongBlocksOfFew * most.gemv_columns) return;
    const ExprId each = ex_.blocks(columns.extent(columns.split), kBlocksOfFew);
    const ExprId even =
        ex_.mul(ex_.blocks(each, most.least_columns), ex_.constant(most.least_columns));
    columns.most = ex_.least(columns.most, even);
    return;
  }
  if (p.axes.empty()) {
    TileShape shape = tile_shape(g_, id, tile_.whole, in_.target.blocks);
    for (const std::int32_t b : region_.beside)
      shape.rows = std::min(shape.rows, tile_shape(g_, b, tile_.whole, in_.target.blocks).rows);
    return sized(shape.rows, shape.columns);
  }
  const ProductBlocks& most = in_.target.blocks;
  sized(most.rows, most.columns);
  ExprId depth = ex_.zero();
  for (const std::int32_t p : region_.products())
    depth = ex_.add(depth, lines_of_sums(p, 1).lines());
  const ExprId bytes = ex_.mul(depth, ex_.constant(static_cast<std::int64_t>(itemsize(p.dtype))));
  const ExprId fit =
      most.at_sums ? ex_.constant(most.columns) : ex_.fit(ex_.constant(most.packed_bytes), bytes);
  rows.most = ex_.fit(ex_.least(fit, ex_.constant(most.rows)), rows.inner);
  ExprId blocks = ex_.blocks(rows.extent(rows.split), rows.most);
  for (int d = 0; d < rows.split; ++d) blocks = ex_.mul(blocks, rows.extent(d));
  const ExprId each =
      ex_.blocks(columns.stride(columns.first - 1), ex_.blocks(ex_.constant(kLeastBlocks), blocks));
  columns.most =
      ex_.fit(ex_.least(ex_.least(fit, ex_.constant(most.columns)), each), columns.inner);
}

void ProductNest::build() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = product_axes(p);
  tile_.whole = keeps_rows(p);
  AxisTile rows, columns;
  size_block(rows, columns);
  // The rows of a matrix are packed once for all of its columns, which come one strip after
  // another.
  const bool at_sums = in_.target.blocks.at_sums || region_.computes_columns,
             several = !p.axes.empty();
  const bool strips = tile_.whole || (!at_sums && !several);
  const std::int32_t ctx = open_block(rows, strips ? nullptr : &columns);
  const AxisTile all(nest_, id, columns.first, axes.columns);
  const DType sums = fragment_sums(product_types(p));
  tile_.row = ex_.add((tile_.whole ? all : columns).lines(), row_padding(sums));
  const ExprId elements = ex_.mul(rows.lines(), tile_.row);
  std::vector<std::int32_t> products = region_.products();
  std::map<std::int32_t, const SummedProducts*> chain_of;
  for (const SummedProducts& c : region_.sums) {
    const std::int32_t block =
        nest_.place({c.sum, PlaceLevel::BlockOfRowsAndColumns, "products are summed in it"}, sums,
                    elements, ctx);
    for (const std::int32_t p : c.products) {
      tile_.locals[p] = block;
      chain_of[p] = &c;
    }
    tile_.locals[c.sum] = block;
    // In the order of their additions.
    std::erase_if(products,
                  [&](std::int32_t p) { return tile_.locals.count(p) && chain_of[p] == &c; });
    products.insert(products.end(), c.products.begin(), c.products.end());
  }
  for (const std::int32_t p : products)
    if (tile_.locals.count(p) == 0)
      tile_.locals[p] =
          nest_.place({p, PlaceLevel::BlockOfRowsAndColumns, "what stands after it reads it"}, sums,
                      elements, ctx);
  std::map<std::pair<std::int32_t, DType>, Packed>
      down;  // of each first operand, as it is multiplied
  const auto first = [&](std::int32_t p) {
    return std::pair{in_.canon[g_[p].in[0]], multiplied(p, 0)};
  };
  for (const std::int32_t p : products)
    if (!at_sums && down.count(first(p)) == 0)
      down[first(p)] = pack_lines(g_[p].in[0], multiplied(p, 0), rows, axes.batch,
                                  lines_of_sums(p, 0), axes.batch + axes.rows, ctx, false);
  std::vector<std::int32_t> opened;
  const std::int32_t strip = strips ? columns.open_blocks(ctx, opened) : ctx;
  for (const SummedProducts& c : region_.sums)
    if (c.start >= 0)
      start_block(tile_.locals[c.sum], c.start, rows, tile_.whole ? all : columns,
                  tile_.whole ? ctx : strip);
  for (const std::int32_t p : products) {
    std::optional<Packed> a, b;
    if (!at_sums) a = down[first(p)];
    if (!at_sums && several)
      b = pack_lines(g_[p].in[1], multiplied(p, 1), columns,
                     axes.batch + product_axes(node(p)).sums, lines_of_sums(p, 1), axes.batch,
                     strip, false);
    const SummedProducts* const chain = chain_of.count(p) ? chain_of[p] : nullptr;
    multiply(p, a, b, rows, columns, strip,
             chain && (chain->start >= 0 || p != chain->products[0]));
    if (!streams(p)) count_fragments(node(p));
  }
  if (!tile_.whole) store_block(rows, columns, strip);
  close_all(opened);
  if (tile_.whole) store_block(rows, all, ctx);
  close_grid(ctx);
}

// What products are added to: a block of it in their local.
void ProductNest::start_block(std::int32_t local, std::int32_t value, const AxisTile& rows,
                              const AxisTile& columns, std::int32_t ctx) {
  const std::vector<std::int32_t> down = open_rows_of(rows, columns, ctx);
  const std::vector<std::int32_t> across = open_columns_of_block();
  push_store_local(local, place_in_block(),
                   values_.emit(value, broadcast(value, tile_.own), tile_.columns), tile_.columns);
  close_all(across);
  close_all(down);
}

std::int32_t ProductNest::open_blocks(std::int32_t parent, ExprId extent, std::int64_t most) {
  const ExprId blocks = ex_.blocks(extent, most);
  return open_between(parent, kNone, number(blocks), blocks,
                      static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
}

}  // namespace plait::fusion
