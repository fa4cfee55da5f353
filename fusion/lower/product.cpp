// A product as a region. The grid runs over blocks of its rows, and of its columns where a block
// has some of them. The lines of either operand that a block reads are placed in scratch: at the
// block, with all that is summed, or at a block of the sums; with what stands before them.
// Fragments sum into the block of the product, which what stands after it reads.
#include <algorithm>

#include "fusion/graph/written_parts.hpp"
#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"
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
bool Lowering::keeps_rows(const Node& p) const {
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

// What is stored of a root: of an update, what it writes.
std::int32_t Lowering::stored(std::int32_t root) const {
  return node(root).kind == NodeKind::Update ? in_.canon[g_[root].in[1]] : root;
}

// Of what is stored of a root, which of the axes of the product each of its own is.
std::optional<Dims> Lowering::axes_in_product(std::int32_t root) const {
  std::optional<Dims> axes;
  for (const std::int32_t of : region_.products())
    if (!axes) axes = axes_of_product(g_, in_.canon, stored(root), of);
  return axes;
}

bool Lowering::folds_rows(std::int32_t root) const {
  const Node& p = node(region_.product);
  return p.axes.empty() && node(stored(root)).extents != p.extents && !axes_in_product(root);
}

// Whether something stands before columns of a product: blocks of them are computed once then, for
// all rows of a block, and the grid counts them.
bool Lowering::computes_columns() const {
  const std::vector<std::int32_t> all = region_.products();
  return std::any_of(all.begin(), all.end(), [&](std::int32_t p) {
    std::int32_t i = g_[p].in[1];
    if (!node(p).axes.empty() || unfolded_axes(g_, i)) return false;
    while (!in_.in_memory[in_.canon[i]] && node(i).kind == NodeKind::View) i = g_[i].in[0];
    return !in_.in_memory[in_.canon[i]] && node(i).kind != NodeKind::Update;
  });
}

// Whether that is of few rows, where to read the columns takes longest: long pieces of their lines,
// few of them, which stay in the first-level cache.
bool Lowering::reads_once() {
  const std::int32_t id = region_.product, columns = g_[id].in[1];
  const int rows = node(id).extents.size() - 2, dims = node(columns).extents.size();
  return computes_columns() && lines_inside(columns, dims - 1, 1, dims - 2, 1) &&
         node(id).extents[rows] <= in_.target.blocks.few_rows;
}

// What reads the products comes after them.
std::int32_t Lowering::first_product() const {
  const std::vector<std::int32_t> all = region_.products();
  return *std::min_element(all.begin(), all.end());
}

bool Lowering::reads_product(std::int32_t id) const {
  const std::int32_t first = first_product();
  const auto multiplies = [&](std::int32_t i) { return region_.multiplies(i); };
  return walk_inputs(
      g_, in_.canon, {id},
      [&](std::int32_t i) { return multiplies(i) || (i >= first && !in_.in_memory[i]); },
      multiplies);
}

// The grid counts blocks of columns, if there are several, then of rows, then what stands in front
// of them: each axis that a block has one index of is a loop of one iteration. Returns the
// innermost of these loops.
std::int32_t Lowering::open_block(Lines& rows, Lines* columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  trips_[0] = 1;
  struct Digit {
    ExprId extent;
    Lines* blocks;
    int axis;
  };
  std::vector<Digit> digits;
  for (Lines* l : {columns, &rows}) {
    if (!l) continue;
    digits.push_back({ex_.blocks(extent_of(*l, l->split), l->most), l, -1});
    for (int d = l->split - 1; d >= l->first; --d) digits.push_back({extent_of(*l, d), l, d});
  }
  for (int d = product_axes(p).batch - 1; d >= 0; --d)
    digits.push_back({ex_.source({id, Field::Shape, d}), nullptr, d});
  std::erase_if(digits, [&](const Digit& d) { return d.axis >= 0 && p.extents[d.axis] == 1; });
  tile_.batch.assign(static_cast<std::size_t>(p.extents.size()), {});
  out_.grid_extent = ex_.one();
  Val rest = k_.loops[0].var;
  std::int32_t ctx = 0;
  for (std::size_t n = 0; n < digits.size(); ++n) {
    const Digit& d = digits[n];
    out_.grid_extent = ex_.mul(out_.grid_extent, d.extent);
    Val at = rest;
    if (n + 1 < digits.size()) {
      const Val count = number(d.extent);
      at = integer(OpId::Remainder, rest, count);
      rest = integer(OpId::FloorDivide, rest, count);
    }
    if (d.axis < 0) {
      set_block(*d.blocks, at);
      continue;
    }
    ctx = open_between(ctx, at, integer(OpId::Add, at, constant(scalar_int(1))), ex_.one(),
                       p.extents[d.axis].cost());
    Ix& x = tile_.batch[static_cast<std::size_t>(d.axis)];
    x.loop = ctx;
    if (d.blocks) d.blocks->at[static_cast<std::size_t>(d.axis - d.blocks->first)] = x;
  }
  return ctx;
}

// The rows times the columns into their tile. An operand that is not in scratch is packed for each
// block of sums.
void Lowering::multiply(std::int32_t product, const std::optional<Packed>& a,
                        const std::optional<Packed>& b, const Lines& rows, const Lines& columns,
                        std::int32_t ctx, bool adds) {
  if (streams(product)) return multiply_streamed(product, rows, columns, ctx, adds);
  const Node& p = node(product);
  const tracer::ProductAxes axes = product_axes(p);
  const std::int32_t left = g_[product].in[0], right = g_[product].in[1];
  const std::int64_t most =
      reads_once() ? in_.target.blocks.few_depth : in_.target.depth_of_block();
  Lines sums = lines(right, axes.batch, axes.sums);
  std::vector<std::int32_t> opened;
  Val first = kNone, count = kNone;
  if (a && b) {
    const ExprId depth = lines_in_block(sums);
    opened.push_back(ctx = open_blocks(ctx, depth, most));
    const auto [begin, end] = range_of_block(k_.loops[ctx].var, ex_.constant(most), depth);
    first = begin;
    count = integer(OpId::Subtract, end, begin);
  } else {
    sums = block_of_lines(right, axes.batch, axes.sums, most);
    ctx = open_blocks(sums, ctx, opened);
    first = first_line(sums);
    count = lines_now(sums);
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
    to.terms.push_back({first_line(columns), {1, ir::kNoParam}});
  m.access = access(std::move(to));
  m.row = coeff(tile_.row);
  m.block = adds ? constant(scalar_int(1)) : first;
  push_product(m, lines_now(rows), lines_now(columns), count, ctx);
  close_all(opened);
}

// Of columns that lie side by side: one panel, whatever number of them it has.
Panels Lowering::panels(const Packed& p, Access from, bool columns) {
  const std::int32_t at = access(std::move(from));
  if (columns && p.line == ex_.one()) return {p.local, at, kOnePanel, {0}, coeff(p.sum)};
  return {p.local, at, 1, coeff(p.line), coeff(p.sum)};
}

void Lowering::push_product(const ir::Fragment& m, Val rows, Val columns, Val sums,
                            std::int32_t ctx) {
  k_.fragments.push_back(m);
  Inst i{Op::Fragment, k_.locals[m.local].dtype, OpId::Count_,
         static_cast<std::int32_t>(k_.fragments.size() - 1)};
  i.operands[0] = rows;
  i.operands[1] = columns;
  i.operands[2] = sums;
  push(i, ctx);
}

void Lowering::count_fragments(const Node& product) {
  const Multiplier by = region_.order == FoldOrder::Rescaled ? Multiplier::Attention
                        : !product.axes.empty()              ? Multiplier::Axes
                        : tile_.whole                        ? Multiplier::Rows
                                                             : Multiplier::Tiles;
  out_.work += product_work(*in_.target.machine, by, product_types(product),
                            elements_of(product.extents) * product_depth(product).cost());
}

// How many lines a block has: of a product of several axes, as many as its scratch has room for.
void Lowering::size_block(Lines& rows, Lines& columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = product_axes(p);
  const auto sized = [&](std::int64_t most_rows, std::int64_t most_columns) {
    rows = block_of_lines(id, axes.batch, axes.rows, most_rows);
    columns = block_of_lines(id, axes.batch + axes.rows, axes.columns, most_columns);
  };
  if (computes_columns() && !tile_.whole) {
    const ProductBlocks& most = in_.target.blocks;
    sized(most.rows, reads_once() ? most.few_columns : most.columns);
    if (!reads_once()) return;
    if (p.extents[columns.split] >= kLongBlocksOfFew * most.few_columns) return;
    const ExprId each = ex_.blocks(extent_of(columns, columns.split), kBlocksOfFew);
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
    depth = ex_.add(depth, lines_in_block(lines_of_sums(p, 1)));
  const ExprId bytes = ex_.mul(depth, ex_.constant(static_cast<std::int64_t>(itemsize(p.dtype))));
  const ExprId fit =
      most.at_sums ? ex_.constant(most.columns) : ex_.fit(ex_.constant(most.packed_bytes), bytes);
  rows.most = ex_.fit(ex_.least(fit, ex_.constant(most.rows)), rows.inner);
  ExprId blocks = ex_.blocks(extent_of(rows, rows.split), rows.most);
  for (int d = 0; d < rows.split; ++d) blocks = ex_.mul(blocks, extent_of(rows, d));
  const ExprId each = ex_.blocks(lines_from(columns, columns.first - 1),
                                 ex_.blocks(ex_.constant(kLeastBlocks), blocks));
  columns.most =
      ex_.fit(ex_.least(ex_.least(fit, ex_.constant(most.columns)), each), columns.inner);
}

void Lowering::product() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = product_axes(p);
  tile_.whole = keeps_rows(p);
  Lines rows, columns;
  size_block(rows, columns);
  // The rows of a matrix are packed once for all of its columns, which come one strip after
  // another.
  const bool at_sums = in_.target.blocks.at_sums || computes_columns(), several = !p.axes.empty();
  const bool strips = tile_.whole || (!at_sums && !several);
  const std::int32_t ctx = open_block(rows, strips ? nullptr : &columns);
  const Lines all = lines(id, columns.first, axes.columns);
  const DType sums = fragment_sums(product_types(p));
  const ExprId apart =
      ex_.constant(in_.target.blocks.apart / static_cast<std::int64_t>(itemsize(sums)));
  tile_.row = ex_.add(lines_in_block(tile_.whole ? all : columns), apart);
  const ExprId elements = ex_.mul(lines_in_block(rows), tile_.row);
  std::vector<std::int32_t> products = region_.products();
  std::map<std::int32_t, const SummedProducts*> chain_of;
  const std::vector<SummedProducts> chains = summed_products(g_, in_.canon, products, in_.target);
  for (const SummedProducts& c : chains) {
    const std::int32_t block = scratch(
        {c.sum, "a block of rows and columns", "products are summed in it"}, sums, elements, ctx);
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
      tile_.locals[p] = scratch({p, "a block of rows and columns", "what stands after it reads it"},
                                sums, elements, ctx);
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
  const std::int32_t strip = strips ? open_blocks(columns, ctx, opened) : ctx;
  for (const SummedProducts& c : chains)
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

void Lowering::close_all(const std::vector<std::int32_t>& loops) {
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) close(*l);
}

// The loops of one iteration around what a grid iteration computes.
void Lowering::close_grid(std::int32_t ctx) {
  for (std::int32_t around = ctx; ctx > 0; ctx = around) {
    around = parent_[ctx];
    close(ctx);
  }
}

// The loops over the rows of a block, at whose index its readers stand; those over its columns are
// opened for whoever reads them.
std::vector<std::int32_t> Lowering::open_rows_of(const Lines& rows, const Lines& columns,
                                                 std::int32_t ctx) {
  std::vector<std::int32_t> opened;
  tile_.rows = open_lines(rows, ctx, opened);
  tile_.own = tile_.batch;
  own_index(rows, opened);
  tile_.at = {};
  add_terms(tile_.at, rows, tile_.own, tile_.row);
  tile_.across = columns;
  tile_.columns = -1;
  return opened;
}

void Lowering::own_index(const Lines& l, const std::vector<std::int32_t>& loops) {
  for (int d = l.split; d < l.last; ++d)
    tile_.own[static_cast<std::size_t>(d)].loop = loops[static_cast<std::size_t>(d - l.split)];
}

std::vector<std::int32_t> Lowering::open_columns_of_block() {
  std::vector<std::int32_t> opened;
  tile_.columns = open_lines(tile_.across, tile_.rows, opened);
  own_index(tile_.across, opened);
  return opened;
}

Access Lowering::place_in_block() {
  Access a = tile_.at;
  add_terms(a, tile_.across, tile_.own, ex_.one());
  return a;
}

// What products are added to: a block of it in their local.
void Lowering::start_block(std::int32_t local, std::int32_t value, const Lines& rows,
                           const Lines& columns, std::int32_t ctx) {
  const std::vector<std::int32_t> down = open_rows_of(rows, columns, ctx);
  const std::vector<std::int32_t> across = open_columns_of_block();
  push_store_local(local, place_in_block(), emit(value, broadcast(value, tile_.own), tile_.columns),
                   tile_.columns);
  close_all(across);
  close_all(down);
}

// The roots, from the block of the product.
void Lowering::store_block(const Lines& rows, const Lines& columns, std::int32_t ctx) {
  const std::vector<std::int32_t> down = open_rows_of(rows, columns, ctx);
  std::vector<std::int32_t> across;
  // Folds of rows first: what is computed from them finds them in front of its loop.
  for (const std::int32_t r : region_.roots)
    if (folds_rows(r)) store_along(r, tile_.rows);
  for (const std::int32_t r : region_.roots) {
    if (folds_rows(r)) continue;
    if (tile_.columns < 0) across = open_columns_of_block();
    store_along(r, tile_.columns);
  }
  close_all(across);
  close_all(down);
}

// A root whose axes are those of the product, in some order.
void Lowering::store_along(std::int32_t root, std::int32_t ctx) {
  const std::int32_t value = stored(root);
  const Node& n = node(value);
  std::optional<Dims> axes = axes_in_product(root);
  if (!axes && node(region_.product).axes.empty()) {
    axes.emplace(n.extents.size());
    for (int d = 0; d < axes->size(); ++d)
      (*axes)[d] = d != tile_.across.first || n.extents[d] != 1 ? d : -1;
  }
  if (!axes) return need(region_.product, "it is read beyond its own rows");
  Index idx(static_cast<std::size_t>(n.extents.size()));
  for (int d = 0; d < axes->size(); ++d) {
    const auto of = static_cast<int>((*axes)[d]);
    if (of < 0) continue;
    const ExprId mine = ex_.source({value, Field::Shape, d}),
                 its = ex_.source({region_.product, Field::Shape, of});
    in_.facts.equal(mine, its);
    idx[static_cast<std::size_t>(d)] = tile_.own[static_cast<std::size_t>(of)];
  }
  store_root(root, idx, ctx);
}

// The product at an index of its own block, rounded to its dtype.
Val Lowering::tile_element(std::int32_t id, const Index& idx) {
  const Node& p = node(id);
  bool own = tile_.rows >= 0 && idx.size() == tile_.own.size();
  for (int d = 0; own && d < p.extents.size(); ++d) {
    const Ix& x = idx[static_cast<std::size_t>(d)];
    own = x == tile_.own[static_cast<std::size_t>(d)] || (p.extents[d] == 1 && x == Ix{}) ||
          (tile_.whole && d >= tile_.across.first && d < tile_.across.last);
  }
  if (!own) {
    need(id, "it is read beyond its own rows");
    return zero(p.dtype);
  }
  Access a = tile_.at;
  add_terms(a, tile_.across, idx, ex_.one());
  const Val v = load_local(tile_.locals.at(id), std::move(a), std::max(tile_.rows, innermost(idx)));
  return cast(finished(v, id, idx), p.dtype);
}

std::int32_t Lowering::open_blocks(std::int32_t parent, ExprId extent, std::int64_t most) {
  const ExprId blocks = ex_.blocks(extent, most);
  return open_between(parent, kNone, number(blocks), blocks,
                      static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
}

// Whether the index is that one, or a broadcast of it along axes of one element.
bool Lowering::at_index(std::int32_t id, const Index& idx, const Index& whole) const {
  const Numbers& shape = node(id).extents;
  if (idx.size() != whole.size()) return false;
  for (std::size_t d = 0; d < idx.size(); ++d)
    if (idx[d] != whole[d] && !(shape[static_cast<int>(d)] == 1 && idx[d] == Ix{})) return false;
  return true;
}

}  // namespace plait::fusion
