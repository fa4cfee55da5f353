// A product of several axes as a region: a convolution, whose windows overlap in memory. The grid
// runs over blocks of rows and columns, as the axes cut them. A block's lines of either operand go
// into scratch once, by loops over the axes as they lie in memory; fragments multiply them, and
// what stands after the product reads the block.
#include <algorithm>
#include <cstdlib>

#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;

namespace {

// Lines of a block, and bytes of those of an operand.
constexpr std::int64_t kBlockRows = 256, kBlockColumns = 512, kPackedBytes = 768 << 10;
// Blocks that a product has at least, if its columns allow it.
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

// Axes from the last one on that a block has whole: short ones, and one that is longer.
Lowering::Lines Lowering::lines_of(int first, int last, std::int64_t most) const {
  const std::int32_t id = region_.product;
  const Dims& shape = node(id).shape;
  Lines l{first, last - 1, last};
  std::int64_t inner = 1;
  bool long_one = false;
  for (; l.split > first; --l.split) {
    const std::int64_t extent = shape[l.split];
    if (extent > kShort && (long_one || extent > kWholeAxis)) break;
    if (inner * extent > most) break;
    long_one |= extent > kShort;
    inner *= extent;
    l.inner = ex_.mul(l.inner, ex_.source({id, Field::Shape, l.split}));
  }
  return l;
}

ExprId Lowering::lines_in_block(const Lines& l) {
  const ExprId extent = ex_.source({region_.product, Field::Shape, l.split});
  return ex_.mul(ex_.least(l.most, extent), l.inner);
}

// The grid counts blocks of columns, then of rows, then what stands in front of them: each axis
// that a block has one index of is a loop of one iteration. Returns the innermost of these loops.
std::int32_t Lowering::open_block(Lines& rows, Lines& columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  trips_[0] = 1;
  Val rest = k_.loops[0].var;
  std::int32_t ctx = 0;
  out_.grid_extent = ex_.one();
  const auto digit = [&](ExprId extent) {
    out_.grid_extent = ex_.mul(out_.grid_extent, extent);
    const Val count = number(extent), at = integer(OpId::Remainder, rest, count);
    rest = integer(OpId::FloorDivide, rest, count);
    return at;
  };
  tile_.batch.assign(static_cast<std::size_t>(p.shape.size()), {});
  const auto one_of = [&](int axis) {
    if (p.shape[axis] == 1) return;
    const Val at = digit(ex_.source({id, Field::Shape, axis}));
    ctx = open_between(ctx, at, integer(OpId::Add, at, constant(scalar_int(1))), ex_.one(),
                       static_cast<double>(p.shape[axis]));
    tile_.batch[static_cast<std::size_t>(axis)].loop = ctx;
  };
  for (Lines* l : {&columns, &rows}) {
    const ExprId extent = ex_.source({id, Field::Shape, l->split});
    const Val most = number(l->most);
    l->begin = integer(OpId::Multiply, digit(ex_.blocks(extent, l->most)), most);
    l->end = integer(OpId::Minimum, integer(OpId::Add, l->begin, most), number(extent));
    for (int d = l->split - 1; d >= l->first; --d) one_of(d);
  }
  for (int d = rows.first - 1; d >= 0; --d) one_of(d);
  return ctx;
}

std::int32_t Lowering::open_lines(const Lines& l, std::int32_t ctx,
                                  std::vector<std::int32_t>& opened) {
  const Dims& shape = node(region_.product).shape;
  for (int d = l.split; d < l.last; ++d) {
    const ExprId extent = ex_.source({region_.product, Field::Shape, d});
    ctx = d == l.split ? open_between(ctx, l.begin, l.end, ex_.least(l.most, extent),
                                      static_cast<double>(shape[d]))
                       : open(ctx, extent);
    opened.push_back(ctx);
  }
  return ctx;
}

ExprId Lowering::lines_from(const Lines& l, int axis) {
  ExprId lines = ex_.one();
  for (int d = axis + 1; d < l.last; ++d)
    lines = ex_.mul(lines, ex_.source({region_.product, Field::Shape, d}));
  return lines;
}

// The place of a line in a local, `stride` elements from line to line.
void Lowering::add_terms(Access& a, const Lines& l, const std::vector<std::int32_t>& loops,
                         ExprId stride) {
  for (int d = l.split; d < l.last; ++d) {
    const ExprId step = ex_.mul(lines_from(l, d), stride);
    a.terms.push_back({k_.loops[loops[static_cast<std::size_t>(d - l.split)]].var, coeff(step)});
    if (d == l.split) a.terms.push_back({l.begin, coeff(ex_.mul(step, ex_.constant(-1)))});
  }
}

// Whether an axis in memory and the one behind it, of `extent` elements, are one.
bool Lowering::joins(std::int32_t operand, int axis, int behind, ExprId extent) {
  const std::int32_t id = in_.canon[operand];
  const bool view = !in_.in_memory[id] && node(id).kind == tracer::NodeKind::View &&
                    in_.in_memory[in_.canon[g_[id].in[0]]] && !laid_out(in_.canon[g_[id].in[0]]);
  if (!view && !in_.in_memory[id]) return false;
  const Field strides = view ? Field::Stride : Field::Layout;
  return in_.facts.equal(stride_of({id, strides, axis}),
                         ex_.mul(extent, stride_of({id, strides, behind})));
}

// What lies closest in memory is the innermost loop, and so are its places in scratch.
Lowering::Packed Lowering::pack_lines(std::int32_t operand, const Lines& l, int lines_at,
                                      int sums_at, std::int32_t ctx) {
  const Node& on = node(operand);
  const int sums = tracer::product_axes(node(region_.product)).sums;
  const bool lines_inside = closest(on, lines_at, l.last - l.first) <= closest(on, sums_at, sums);
  const ExprId apart = ex_.constant(kApart / static_cast<std::int64_t>(itemsize(on.dtype)));
  ExprId depth = ex_.one();
  for (int s = 0; s < sums; ++s)
    depth = ex_.mul(depth, ex_.source({operand, Field::Shape, sums_at + s}));
  const ExprId lines = lines_in_block(l);
  Packed packed;
  // Each from the beginning of a line of the cache on.
  (lines_inside ? packed.sum : packed.line) =
      ex_.add(ex_.mul(ex_.blocks(lines_inside ? lines : depth, apart), apart), apart);
  packed.local =
      local(lines_inside ? ex_.mul(depth, packed.sum) : ex_.mul(lines, packed.line), ctx);

  // Summed axes that are one in memory are one loop.
  struct Run {
    int axis;
    ExprId extent, step;
  };
  std::vector<Run> runs;
  ExprId step = packed.sum;
  for (int s = sums_at + sums - 1; s >= sums_at; --s) {
    const ExprId extent = ex_.source({operand, Field::Shape, s});
    if (!runs.empty() && joins(operand, s, runs.back().axis, runs.back().extent))
      runs.back().extent = ex_.mul(runs.back().extent, extent);
    else
      runs.push_back({s, extent, step});
    step = ex_.mul(step, extent);
  }
  Index idx(static_cast<std::size_t>(on.shape.size()));
  const auto at = [&](int axis) -> Ix& { return idx[static_cast<std::size_t>(axis)]; };
  for (int d = 0; d < l.first && d < std::min(lines_at, sums_at); ++d)
    at(d) = tile_.batch[static_cast<std::size_t>(d)];
  for (int d = l.first; d < l.split; ++d)
    at(lines_at + d - l.first) = tile_.batch[static_cast<std::size_t>(d)];
  std::vector<Level> levels;
  for (const bool of_sums : {lines_inside, !lines_inside}) {
    if (of_sums) {
      for (auto r = runs.rbegin(); r != runs.rend(); ++r)
        levels.push_back({r->axis, r->step, r->extent, kNone, kNone,
                          static_cast<double>(concrete(in_, r->extent))});
      continue;
    }
    for (int d = l.split; d < l.last; ++d) {
      const ExprId extent = ex_.source({region_.product, Field::Shape, d});
      Level level{lines_at + d - l.first,
                  ex_.mul(lines_from(l, d), packed.line),
                  extent,
                  kNone,
                  kNone,
                  static_cast<double>(node(region_.product).shape[d])};
      if (d == l.split) {
        level.extent = ex_.least(l.most, extent);
        level.begin = l.begin;
        level.end = l.end;
      }
      levels.push_back(level);
    }
  }
  pack(operand, idx, levels, packed.local, ctx);
  return packed;
}

void Lowering::multiply_block(const Packed& a, const Packed& b, const Lines& rows,
                              const Lines& columns, std::int32_t ctx) {
  const std::int32_t operand = g_[region_.product].in[1];
  const Node& p = node(region_.product);
  const tracer::ProductAxes axes = tracer::product_axes(p);
  const std::int64_t most = in_.target.product_depth;
  ExprId depth = ex_.one();
  for (int s = 0; s < axes.sums; ++s)
    depth = ex_.mul(depth, ex_.source({operand, Field::Shape, axes.batch + s}));
  const std::int32_t block = open_blocks(ctx, depth, most);
  const Range sums = range_of_block(k_.loops[block].var, depth, tracer::product_depth(p), most);
  const auto panels = [&](const Packed& from) {
    return Panels{from.local, access({{}, {{sums.begin, coeff(from.sum)}}}), 1, coeff(from.line),
                  coeff(from.sum)};
  };
  const auto count = [&](const Lines& l) {
    return integer(OpId::Multiply, integer(OpId::Subtract, l.end, l.begin), number(l.inner));
  };
  ir::Product m;
  m.a = panels(a);
  m.b = panels(b);
  // Rows of sums: one panel, whatever number of columns it has.
  if (b.line == ex_.one()) m.b = {b.local, m.b.access, kOnePanel, {0}, coeff(b.sum)};
  m.local = tile_.c;
  m.access = access({});
  m.row = coeff(tile_.c_row);
  m.block = k_.loops[block].var;
  push_product(m, count(rows), count(columns), sums, block);
  close(block);
}

void Lowering::store_block(const Lines& rows, const Lines& columns, std::int32_t ctx) {
  std::vector<std::int32_t> down, across;
  ctx = open_lines(rows, ctx, down);
  ctx = open_lines(columns, ctx, across);
  tile_.own = tile_.batch;
  tile_.at = {};
  add_terms(tile_.at, rows, down, tile_.c_row);
  add_terms(tile_.at, columns, across, ex_.one());
  for (int d = rows.split; d < rows.last; ++d)
    tile_.own[static_cast<std::size_t>(d)].loop = down[static_cast<std::size_t>(d - rows.split)];
  for (int d = columns.split; d < columns.last; ++d)
    tile_.own[static_cast<std::size_t>(d)].loop =
        across[static_cast<std::size_t>(d - columns.split)];
  for (const std::int32_t r : region_.roots) {
    const std::optional<Dims> axes = axes_of_product(g_, in_.canon, r, region_.product);
    Index idx(static_cast<std::size_t>(node(r).shape.size()));
    for (int d = 0; axes && d < axes->size(); ++d) {
      const auto of = static_cast<int>((*axes)[d]);
      if (of < 0) continue;
      const ExprId mine = ex_.source({r, Field::Shape, d}),
                   its = ex_.source({region_.product, Field::Shape, of});
      in_.facts.equal(mine, its);
      idx[static_cast<std::size_t>(d)] = tile_.own[static_cast<std::size_t>(of)];
    }
    if (axes)
      store_root(r, idx, ctx);
    else
      need(region_.product, "it is read beyond its own rows");
  }
  close_all(across);
  close_all(down);
}

void Lowering::contraction() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const tracer::ProductAxes axes = tracer::product_axes(p);
  const std::int32_t a = g_[id].in[0], b = g_[id].in[1];
  Lines rows = lines_of(axes.batch, axes.batch + axes.rows, kBlockRows),
        columns = lines_of(axes.batch + axes.rows, p.shape.size(), kBlockColumns);
  ExprId bytes = ex_.constant(static_cast<std::int64_t>(itemsize(p.dtype)));
  for (int s = 0; s < axes.sums; ++s)
    bytes = ex_.mul(bytes, ex_.source({b, Field::Shape, axes.batch + s}));
  const ExprId fit = ex_.fit(ex_.constant(kPackedBytes), bytes);
  rows.most = ex_.fit(ex_.least(fit, ex_.constant(kBlockRows)), rows.inner);
  ExprId blocks = ex_.blocks(ex_.source({id, Field::Shape, rows.split}), rows.most);
  for (int d = 0; d < rows.split; ++d) blocks = ex_.mul(blocks, ex_.source({id, Field::Shape, d}));
  const ExprId each = ex_.blocks(lines_from(columns, columns.first - 1),
                                 ex_.blocks(ex_.constant(kLeastBlocks), blocks));
  columns.most =
      ex_.fit(ex_.least(ex_.least(fit, ex_.constant(kBlockColumns)), each), columns.inner);
  const std::int32_t ctx = open_block(rows, columns);

  const ExprId apart = ex_.constant(kApart / static_cast<std::int64_t>(itemsize(p.dtype)));
  tile_.c_row = ex_.add(lines_in_block(columns), apart);
  tile_.c = local(ex_.mul(lines_in_block(rows), tile_.c_row), ctx);
  const Packed down = pack_lines(a, rows, axes.batch, axes.batch + axes.rows, ctx);
  const Packed across = pack_lines(b, columns, axes.batch + axes.sums, axes.batch, ctx);
  multiply_block(down, across, rows, columns, ctx);
  store_block(rows, columns, ctx);
  std::vector<std::int32_t> opened;
  for (std::int32_t l = ctx; l > 0; l = parent_[l]) opened.push_back(l);
  for (const std::int32_t l : opened) close(l);
  count_fragments(p);
}

}  // namespace plait::fusion
