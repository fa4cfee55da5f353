// A product as a region. The grid runs over blocks of its rows, and of its columns where a block
// has some of them. The lines of either operand that a block reads are placed in scratch: at the
// block, with all that is summed, or at a block of the sums; with what stands before them.
// Fragments sum into the block of the product, which what stands after it reads.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

namespace {

// Blocks that such a product has at least, if its columns allow it.
constexpr std::int64_t kLeastBlocks = 6;
// The longest axis that a block has whole, beside short ones.
constexpr std::int64_t kWholeAxis = 512;

// How many elements follow each other closest along one of these axes.
std::pair<std::int64_t, std::int64_t> closest(const Node& n, int first, int count) {
  std::pair<std::int64_t, std::int64_t> found{std::int64_t{1} << 60, 0};
  for (int d = first; d < first + count; ++d)
    if (n.shape[d] != 1) found = std::min(found, {std::abs(n.strides[d]), -n.shape[d]});
  return found;
}

}  // namespace

// Whether what reads the product folds its rows, so that a block has to have them whole.
bool Lowering::keeps_rows(const Node& p) const {
  if (!p.axes.empty()) return false;
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack;
  for (const std::int32_t r : region_.roots) {
    if (node(r).shape != p.shape) return true;
    stack.push_back(r);
  }
  const std::int32_t first = first_product();
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (i <= first || in_.in_memory[i] || !seen.insert(i).second) continue;
    if (node(i).kind == NodeKind::Reduce && reads_product(g_[i].in[0])) return true;
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in_.canon[in]);
  }
  return false;
}

// What reads the products comes after them.
std::int32_t Lowering::first_product() const {
  const std::vector<std::int32_t> all = region_.products();
  return *std::min_element(all.begin(), all.end());
}

bool Lowering::reads_product(std::int32_t id) const {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{in_.canon[id]};
  const std::int32_t first = first_product();
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (region_.multiplies(i)) return true;
    if (i < first || in_.in_memory[i] || !seen.insert(i).second) continue;
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in_.canon[in]);
  }
  return false;
}

// All of the axes.
Lines Lowering::lines(std::int32_t of, int first, int count) {
  Lines l{of, first, first, first + count};
  for (int d = first + 1; d < l.last; ++d) l.inner = ex_.mul(l.inner, extent_of(l, d));
  l.most = extent_of(l, first);
  l.trips = static_cast<double>(node(of).shape[first]);
  return l;
}

// Those that a block has whole, from the last one on: short ones, and one that is longer.
Lines Lowering::block_of_lines(std::int32_t of, int first, int count, std::int64_t most) {
  Lines l = lines(of, first, count);
  const Dims& shape = node(of).shape;
  l.split = l.last - 1;
  l.inner = ex_.one();
  std::int64_t inner = 1;
  bool long_one = false;
  for (; l.split > first; --l.split) {
    const std::int64_t extent = shape[l.split];
    if (extent > kShort && (long_one || extent > kWholeAxis)) break;
    if (inner * extent > most) break;
    long_one |= extent > kShort;
    inner *= extent;
    l.inner = ex_.mul(l.inner, extent_of(l, l.split));
  }
  l.most = ex_.fit(ex_.constant(most), l.inner);
  l.trips = static_cast<double>(shape[l.split]);
  l.at.resize(static_cast<std::size_t>(l.split - first));
  return l;
}

ExprId Lowering::lines_in_block(const Lines& l) {
  return ex_.mul(ex_.least(l.most, extent_of(l, l.split)), l.inner);
}

Val Lowering::lines_now(const Lines& l) {
  if (l.begin == kNone) return number(ex_.mul(extent_of(l, l.split), l.inner));
  const Val indices = integer(OpId::Subtract, l.end, l.begin);
  return l.inner == ex_.one() ? indices : integer(OpId::Multiply, indices, number(l.inner));
}

// Of an index of the axis: so many lines further.
ExprId Lowering::lines_from(const Lines& l, int axis) {
  ExprId lines = ex_.one();
  for (int d = axis + 1; d < l.last; ++d) lines = ex_.mul(lines, extent_of(l, d));
  return lines;
}

// The first line of a block, counted from the first of all.
Val Lowering::first_line(const Lines& l) {
  Val first = l.inner == ex_.one() ? l.begin : integer(OpId::Multiply, l.begin, number(l.inner));
  for (int d = l.first; d < l.split; ++d)
    if (const Ix& x = l.at[static_cast<std::size_t>(d - l.first)]; x.loop >= 0)
      first =
          integer(OpId::Add, first, integer(OpId::Multiply, position(x), number(lines_from(l, d))));
  return first;
}

// Of so many, `most` a block: those of that block.
std::pair<Val, Val> Lowering::range_of_block(Val block, ExprId most, ExprId extent) {
  const Val each = number(most), from = integer(OpId::Multiply, block, each);
  return {from, integer(OpId::Minimum, integer(OpId::Add, from, each), number(extent))};
}

void Lowering::set_block(Lines& l, Val number_of_block) {
  std::tie(l.begin, l.end) = range_of_block(number_of_block, l.most, extent_of(l, l.split));
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
  for (int d = rows.first - 1; d >= 0; --d)
    digits.push_back({ex_.source({id, Field::Shape, d}), nullptr, d});
  std::erase_if(digits, [&](const Digit& d) { return d.axis >= 0 && p.shape[d.axis] == 1; });
  tile_.batch.assign(static_cast<std::size_t>(p.shape.size()), {});
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
                       static_cast<double>(p.shape[d.axis]));
    Ix& x = tile_.batch[static_cast<std::size_t>(d.axis)];
    x.loop = ctx;
    if (d.blocks) d.blocks->at[static_cast<std::size_t>(d.axis - d.blocks->first)] = x;
  }
  return ctx;
}

// The blocks of the lines, one after another. Returns the innermost of the loops.
std::int32_t Lowering::open_blocks(Lines& l, std::int32_t ctx, std::vector<std::int32_t>& opened) {
  for (int d = l.first; d < l.split; ++d) {
    ctx = open(ctx, extent_of(l, d));
    opened.push_back(ctx);
    l.at[static_cast<std::size_t>(d - l.first)].loop = ctx;
  }
  const ExprId blocks = ex_.blocks(extent_of(l, l.split), l.most);
  const auto count = static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks)));
  ctx = open_between(ctx, kNone, number(blocks), blocks, count);
  opened.push_back(ctx);
  set_block(l, k_.loops[ctx].var);
  l.trips /= count;
  return ctx;
}

std::int32_t Lowering::open_lines(const Lines& l, std::int32_t ctx,
                                  std::vector<std::int32_t>& opened) {
  for (int d = l.split; d < l.last; ++d) {
    const ExprId extent = extent_of(l, d);
    ctx = d == l.split && l.begin != kNone
              ? open_between(ctx, l.begin, l.end, ex_.least(l.most, extent), l.trips)
              : open(ctx, extent);
    opened.push_back(ctx);
  }
  return ctx;
}

// The place of an index of the lines in a local, `stride` elements from line to line.
void Lowering::add_terms(Access& a, const Lines& l, const Index& idx, ExprId stride) {
  for (int d = l.split; d < l.last; ++d) {
    const ExprId step = ex_.mul(lines_from(l, d), stride);
    const Ix& x = idx[static_cast<std::size_t>(d)];
    if (x.loop >= 0) a.terms.push_back({k_.loops[x.loop].var, coeff(ex_.mul(step, x.step))});
    if (x.at != kNone) a.terms.push_back({x.at, coeff(step)});
    if (x.start != ex_.zero()) {
      if (a.offset.param == kNoParam && a.offset.value == 0)
        a.offset = coeff(ex_.mul(step, x.start));
      else
        a.terms.push_back({number(x.start), coeff(step)});
    }
    if (d == l.split && l.begin != kNone)
      a.terms.push_back({l.begin, coeff(ex_.mul(step, ex_.constant(-1)))});
  }
}

// Whether an axis in memory and the one behind it, of `extent` elements, are one.
bool Lowering::joins(std::int32_t operand, int axis, int behind, ExprId extent) {
  const std::int32_t id = in_.canon[operand];
  const bool view = !in_.in_memory[id] && node(id).kind == NodeKind::View &&
                    in_.in_memory[in_.canon[g_[id].in[0]]] && !laid_out(in_.canon[g_[id].in[0]]);
  if (!view && !in_.in_memory[id]) return false;
  const Field strides = view ? Field::Stride : Field::Layout;
  return in_.facts.equal(stride_of({id, strides, axis}),
                         ex_.mul(extent, stride_of({id, strides, behind})));
}

// Lines of an operand and what is summed of each into scratch. What lies closest in memory is the
// innermost loop, and so are its places in scratch.
Packed Lowering::pack_lines(std::int32_t operand, const Lines& l, int lines_at, const Lines& s,
                            int sums_at, std::int32_t ctx, bool repeated) {
  const Node& on = node(operand);
  const bool lines_inside =
      closest(on, lines_at, l.last - l.first) <= closest(on, sums_at, s.last - s.first);
  const ExprId apart =
      ex_.constant(in_.target.blocks.apart / static_cast<std::int64_t>(itemsize(on.dtype)));
  const ExprId depth = lines_in_block(s), lines = lines_in_block(l);
  Packed packed;
  // Each from the beginning of a line of the cache on.
  (lines_inside ? packed.sum : packed.line) =
      ex_.add(ex_.mul(ex_.blocks(lines_inside ? lines : depth, apart), apart), apart);
  packed.local = scratch(
      {operand, s.begin == kNone ? "a block of lines" : "a block of sums",
       "its lines are multiplied by several others"},
      on.dtype, lines_inside ? ex_.mul(depth, packed.sum) : ex_.mul(lines, packed.line), ctx);

  Index idx(static_cast<std::size_t>(on.shape.size()));
  const int batch = std::min(lines_at, sums_at);
  std::copy(tile_.batch.begin(), tile_.batch.begin() + batch, idx.begin());
  std::copy(l.at.begin(), l.at.end(), idx.begin() + lines_at);
  std::copy(s.at.begin(), s.at.end(), idx.begin() + sums_at);
  // Summed axes that are one in memory are one loop.
  const auto levels_of = [&](const Lines& of, int at, ExprId stride, bool join) {
    std::vector<Level> levels;
    for (int d = of.last; d-- > of.split;) {
      const bool cut = d == of.split && of.begin != kNone;
      const ExprId extent = extent_of(of, d);
      const int axis = at + d - of.first;
      const auto trips = static_cast<double>(node(of.of).shape[d]);
      if (join && !cut && !levels.empty() &&
          joins(operand, axis, levels.back().axis, levels.back().extent)) {
        Level& behind = levels.back();
        behind.extent = ex_.mul(behind.extent, extent);
        behind.trips *= trips;
        continue;
      }
      Level level{axis, ex_.mul(lines_from(of, d), stride), extent, of.begin, of.end, of.trips};
      if (!cut) {
        level.begin = level.end = kNone;
        level.trips = trips;
      } else {
        level.extent = ex_.least(of.most, extent);
      }
      levels.push_back(level);
    }
    std::reverse(levels.begin(), levels.end());
    return levels;
  };
  std::vector<Level> levels = levels_of(l, lines_at, packed.line, false);
  const std::vector<Level> summed = levels_of(s, sums_at, packed.sum, true);
  levels.insert(lines_inside ? levels.begin() : levels.end(), summed.begin(), summed.end());
  pack(operand, idx, levels, packed.local, ctx, repeated);
  return packed;
}

// The rows times the columns into their tile. An operand that is not in scratch is packed for each
// block of sums.
void Lowering::multiply(std::int32_t product, const std::optional<Packed>& a,
                        const std::optional<Packed>& b, const Lines& rows, const Lines& columns,
                        const Tile& tile, std::int32_t ctx, bool adds) {
  const Node& p = node(product);
  const tracer::ProductAxes axes = tracer::product_axes(p);
  const std::int32_t left = g_[product].in[0], right = g_[product].in[1];
  const std::int64_t most = in_.target.product_depth;
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
  const auto panels = [&](const std::optional<Packed>& placed, const Packed& now) {
    Access from;
    if (placed) from.terms.push_back({first, coeff(now.sum)});
    return Panels{now.local, access(std::move(from)), 1, coeff(now.line), coeff(now.sum)};
  };
  const int behind = axes.batch + axes.rows, columns_at = axes.batch + axes.sums;
  ir::Fragment m;
  const Packed down = a ? *a : pack_lines(left, rows, axes.batch, sums, behind, ctx, true);
  const Packed across =
      b ? *b : pack_lines(right, columns, columns_at, sums, axes.batch, ctx, true);
  m.a = panels(a, down);
  m.b = panels(b, across);
  // Lines of sums: one panel, whatever number of columns it has.
  if (across.line == ex_.one()) m.b = {across.local, m.b.access, kOnePanel, {0}, coeff(across.sum)};
  const auto own = tile.locals.find(product);
  m.local = own == tile.locals.end() ? tile.c : own->second;
  Access to;
  if (tile.whole && columns.begin != kNone)
    to.terms.push_back({first_line(columns), {1, ir::kNoParam}});
  m.access = access(std::move(to));
  m.row = coeff(tile.c_row);
  m.block = adds ? constant(scalar_int(1)) : first;
  push_product(m, lines_now(rows), lines_now(columns), count, ctx);
  close_all(opened);
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
  const std::int64_t depth = tracer::product_depth(product);
  out_.work += product_work(*in_.target.machine, product.dtype,
                            static_cast<double>(element_count(product.shape) * depth));
}

// How many lines a block has: of a product of several axes, as many as its scratch has room for.
void Lowering::size_block(Lines& rows, Lines& columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = tracer::product_axes(p);
  const auto sized = [&](std::int64_t most_rows, std::int64_t most_columns) {
    rows = block_of_lines(id, axes.batch, axes.rows, most_rows);
    columns = block_of_lines(id, axes.batch + axes.rows, axes.columns, most_columns);
  };
  if (p.axes.empty()) {
    TileShape shape = tile_shape(BlockExtents(in_), id, tile_.whole, in_.target.blocks);
    for (const std::int32_t b : region_.beside)
      shape.rows = std::min(shape.rows,
                            tile_shape(BlockExtents(in_), b, tile_.whole, in_.target.blocks).rows);
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
  const tracer::ProductAxes axes = tracer::product_axes(p);
  tile_.whole = keeps_rows(p);
  Lines rows, columns;
  size_block(rows, columns);
  // The rows of a matrix are packed once for all of its columns, which come one strip after
  // another.
  const bool at_sums = in_.target.blocks.at_sums, several = !p.axes.empty();
  const bool strips = tile_.whole || (!at_sums && !several);
  const std::int32_t ctx = open_block(rows, strips ? nullptr : &columns);
  const Lines all = lines(id, columns.first, axes.columns);
  const DType sums = fragment_sums(p.dtype);
  const ExprId apart =
      ex_.constant(in_.target.blocks.apart / static_cast<std::int64_t>(itemsize(sums)));
  tile_.c_row = ex_.add(lines_in_block(tile_.whole ? all : columns), apart);
  const ExprId elements = ex_.mul(lines_in_block(rows), tile_.c_row);
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
  std::map<std::int32_t, Packed> down;  // of each first operand
  for (const std::int32_t p : products)
    if (const std::int32_t a = in_.canon[g_[p].in[0]]; !at_sums && down.count(a) == 0)
      down[a] = pack_lines(g_[p].in[0], rows, axes.batch, lines_of_sums(p, 0),
                           axes.batch + axes.rows, ctx, false);
  std::vector<std::int32_t> opened;
  const std::int32_t strip = strips ? open_blocks(columns, ctx, opened) : ctx;
  for (const SummedProducts& c : chains)
    if (c.start >= 0)
      start_block(tile_.locals[c.sum], c.start, rows, tile_.whole ? all : columns,
                  tile_.whole ? ctx : strip);
  for (const std::int32_t p : products) {
    std::optional<Packed> a, b;
    if (!at_sums) a = down[in_.canon[g_[p].in[0]]];
    if (!at_sums && several)
      b = pack_lines(g_[p].in[1], columns, axes.batch + tracer::product_axes(node(p)).sums,
                     lines_of_sums(p, 1), axes.batch, strip, false);
    const SummedProducts* const chain = chain_of.count(p) ? chain_of[p] : nullptr;
    multiply(p, a, b, rows, columns, tile_, strip,
             chain && (chain->start >= 0 || p != chain->products[0]));
    count_fragments(node(p));
  }
  if (!tile_.whole) store_block(rows, columns, strip);
  close_all(opened);
  if (tile_.whole) store_block(rows, all, ctx);
  close_grid(ctx);
}

// All that an operand sums.
Lines Lowering::lines_of_sums(std::int32_t product, int operand) {
  const tracer::ProductAxes axes = tracer::product_axes(node(product));
  const std::int32_t of = g_[product].in[operand];
  return lines(of, operand == 0 ? axes.batch + axes.rows : axes.batch, axes.sums);
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
  add_terms(tile_.at, rows, tile_.own, tile_.c_row);
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
  const Node& p = node(region_.product);
  const std::vector<std::int32_t> down = open_rows_of(rows, columns, ctx);
  std::vector<std::int32_t> across;
  const auto folded = [&](std::int32_t r) { return p.axes.empty() && node(r).shape != p.shape; };
  // Folds of rows first: what is computed from them finds them in front of its loop.
  for (const std::int32_t r : region_.roots)
    if (folded(r)) store_along(r, tile_.rows);
  for (const std::int32_t r : region_.roots) {
    if (folded(r)) continue;
    if (tile_.columns < 0) across = open_columns_of_block();
    store_along(r, tile_.columns);
  }
  close_all(across);
  close_all(down);
}

// A root whose axes are those of the product, in some order.
void Lowering::store_along(std::int32_t root, std::int32_t ctx) {
  const Node &p = node(region_.product), &n = node(root);
  std::optional<Dims> axes;
  if (p.axes.empty()) {
    axes.emplace(n.shape.size());
    for (int d = 0; d < axes->size(); ++d)
      (*axes)[d] = d + 1 < p.shape.size() || n.shape[d] != 1 ? d : -1;
  } else {
    for (const std::int32_t of : region_.products())
      if (!axes) axes = axes_of_product(g_, in_.canon, root, of);
  }
  if (!axes) return need(region_.product, "it is read beyond its own rows");
  Index idx(static_cast<std::size_t>(n.shape.size()));
  for (int d = 0; d < axes->size(); ++d) {
    const auto of = static_cast<int>((*axes)[d]);
    if (of < 0) continue;
    const ExprId mine = ex_.source({root, Field::Shape, d}),
                 its = ex_.source({region_.product, Field::Shape, of});
    in_.facts.equal(mine, its);
    idx[static_cast<std::size_t>(d)] = tile_.own[static_cast<std::size_t>(of)];
  }
  store_root(root, idx, ctx);
}

// The product at an index of its own block, rounded to its dtype.
Val Lowering::tile_element(std::int32_t id, const Index& idx) {
  const Node& p = node(id);
  const auto behind = static_cast<std::size_t>(tile_.across.first);
  bool own = tile_.rows >= 0 && idx.size() == tile_.own.size();
  for (std::size_t d = 0; own && d < (tile_.whole ? behind : idx.size()); ++d)
    own = idx[d] == tile_.own[d] || (p.shape[static_cast<int>(d)] == 1 && idx[d] == Ix{});
  if (!own) {
    need(id, "it is read beyond its own rows");
    return zero(p.dtype);
  }
  Access a = tile_.at;
  add_terms(a, tile_.across, idx, ex_.one());
  const auto local = tile_.locals.find(id);
  const Val v = load_local(local == tile_.locals.end() ? tile_.c : local->second, std::move(a),
                           std::max(tile_.rows, innermost(idx)));
  return cast(finished(v), p.dtype);
}

std::int32_t Lowering::open_blocks(std::int32_t parent, ExprId extent, std::int64_t most) {
  const ExprId blocks = ex_.blocks(extent, most);
  return open_between(parent, kNone, number(blocks), blocks,
                      static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
}

// Whether the index is that one, or a broadcast of it along axes of one element.
bool Lowering::at_index(std::int32_t id, const Index& idx, const Index& whole) const {
  const Dims& shape = node(id).shape;
  if (idx.size() != whole.size()) return false;
  for (std::size_t d = 0; d < idx.size(); ++d)
    if (idx[d] != whole[d] && !(shape[static_cast<int>(d)] == 1 && idx[d] == Ix{})) return false;
  return true;
}

}  // namespace plait::fusion
