// A matrix product as a region: the grid runs over blocks of its rows. A block's rows of the first
// operand are computed into scratch once, with what stands before them; then, blocks of columns by
// blocks of columns, so are those of the second, and fragments sum into the block of the product,
// which what stands after it reads.
#include <algorithm>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "lowering.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

std::int32_t Lowering::local(ExprId count, std::int32_t home) {
  k_.locals.push_back({node(region_.product).dtype, coeff(count), home});
  return static_cast<std::int32_t>(k_.locals.size() - 1);
}

// Whether what reads the product folds its rows, so that a block has to have them whole.
bool Lowering::keeps_rows(const Node& p) const {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack;
  for (const std::int32_t r : region_.roots) {
    if (node(r).shape != p.shape) return true;
    stack.push_back(r);
  }
  // What reads the product comes after it.
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (i <= region_.product || in_.in_memory[i] || !seen.insert(i).second) continue;
    if (node(i).kind == NodeKind::Reduce && reads_product(g_[i].in[0])) return true;
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in_.canon[in]);
  }
  return false;
}

bool Lowering::reads_product(std::int32_t id) const {
  std::set<std::int32_t> seen;
  std::vector<std::int32_t> stack{in_.canon[id]};
  while (!stack.empty()) {
    const std::int32_t i = stack.back();
    stack.pop_back();
    if (i == region_.product) return true;
    if (i < region_.product || in_.in_memory[i] || !seen.insert(i).second) continue;
    for (const std::int32_t in : g_[i].in)
      if (in >= 0) stack.push_back(in_.canon[in]);
  }
  return false;
}

// The grid counts blocks, those of a matrix one after another; each axis in front of rows and
// columns is a loop of one iteration.
Lowering::RowBlock Lowering::block_of_rows(std::int64_t height) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const int dims = p.shape.size();
  const ExprId rows = ex_.source({id, Field::Shape, dims - 2});
  for (const std::int32_t r : region_.roots)
    for (int d = 0; d < node(r).shape.size(); ++d)
      if (d < dims - 1 || node(r).shape[d] != 1) {
        const ExprId mine = ex_.source({r, Field::Shape, d}),
                     its = ex_.source({id, Field::Shape, d});
        in_.facts.equal(mine, its);
      }
  trips_[0] = 1;
  const ExprId blocks = ex_.blocks(rows, height);
  out_.grid_extent = blocks;
  for (int d = 0; d < dims - 2; ++d)
    out_.grid_extent = ex_.mul(out_.grid_extent, ex_.source({id, Field::Shape, d}));
  Val block = k_.loops[0].var, rest = kNone;
  if (element_count(Dims(p.shape.begin(), p.shape.end() - 2)) != 1) {
    rest = integer(OpId::FloorDivide, block, number(blocks));
    block = integer(OpId::Remainder, block, number(blocks));
  }
  RowBlock b;
  b.batch.resize(static_cast<std::size_t>(dims));
  for (int d = dims - 3; d >= 0; --d) {
    if (p.shape[d] == 1) continue;
    const Val extent = number(ex_.source({id, Field::Shape, d}));
    const Val at = integer(OpId::Remainder, rest, extent);
    rest = integer(OpId::FloorDivide, rest, extent);
    b.ctx = open_between(b.ctx, at, integer(OpId::Add, at, constant(scalar_int(1))), ex_.one(),
                         static_cast<double>(p.shape[d]));
    b.opened.push_back(b.ctx);
    b.batch[static_cast<std::size_t>(d)].loop = b.ctx;
  }
  b.first = integer(OpId::Multiply, block, constant(scalar_int(height)));
  b.last = integer(OpId::Minimum, integer(OpId::Add, b.first, constant(scalar_int(height))),
                   number(rows));
  return b;
}

// Of so many columns or sums, at most `most` of which are in scratch at a time: those of number
// `block`.
Lowering::Range Lowering::range_of_block(Val block, ExprId extent, std::int64_t now,
                                         std::int64_t most) {
  const Val from = integer(OpId::Multiply, block, constant(scalar_int(most)));
  const Val to =
      integer(OpId::Minimum, integer(OpId::Add, from, constant(scalar_int(most))), number(extent));
  const auto all = static_cast<double>(std::max<std::int64_t>(1, now));
  const std::int64_t blocks = std::max<std::int64_t>(1, (now + most - 1) / most);
  return {from, to, std::max<std::int64_t>(1, std::min(now, most)), ex_.constant(most),
          all / static_cast<double>(blocks)};
}

std::int32_t Lowering::open_range(std::int32_t parent, const Range& r) {
  return open_between(parent, r.begin, r.end, ex_.constant(r.now), r.trips);
}

std::int32_t Lowering::open_blocks(std::int32_t parent, ExprId extent, std::int64_t most) {
  const ExprId blocks = ex_.blocks(extent, most);
  return open_between(parent, kNone, number(blocks), blocks,
                      static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
}

void Lowering::count_fragments(const Node& product) {
  const std::int64_t depth = tracer::product_depth(product);
  out_.work += product_work(*in_.target.machine, product.dtype,
                            static_cast<double>(element_count(product.shape) * depth));
}

void Lowering::product() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const int dims = p.shape.size();
  const ExprId columns = ex_.source({id, Field::Shape, dims - 1});
  tile_.whole = keeps_rows(p);
  const TileShape shape = tile_shape(g_, id, tile_.whole);
  tile_.width = shape.columns;
  const RowBlock b = block_of_rows(shape.rows);
  tile_.batch = b.batch;
  tile_.first_row = b.first;
  const Rows rows = pack_rows(g_[id].in[0], b, shape.rows);

  tile_.c_row =
      tile_.whole ? ex_.add(columns, ex_.constant(kApart / 4)) : ex_.constant(tile_.width);
  tile_.c = local(ex_.mul(ex_.constant(shape.rows), tile_.c_row), b.ctx);
  const std::int32_t strip = open_blocks(b.ctx, columns, tile_.width);
  const Range across = range_of_block(k_.loops[strip].var, columns, p.shape.back(), tile_.width);
  tile_.first_column = across.begin;
  multiply_columns(id, tile_, rows, across, b, strip);
  if (tile_.whole) {
    close(strip);
    store_rows(b.first, b.last, shape.rows, b.ctx);
  } else {
    store_rows(b.first, b.last, shape.rows, strip);
    close(strip);
  }
  close_all(b.opened);
  count_fragments(p);
}

void Lowering::close_all(const std::vector<std::int32_t>& loops) {
  for (auto l = loops.rbegin(); l != loops.rend(); ++l) close(*l);
}

Lowering::Rows Lowering::pack_rows(std::int32_t operand, const RowBlock& b, std::int64_t height) {
  const int dims = node(operand).shape.size();
  const ExprId depth = ex_.source({operand, Field::Shape, dims - 1});
  const std::int64_t apart =
      kApart / static_cast<std::int64_t>(itemsize(node(region_.product).dtype));
  Rows rows;
  rows.row = ex_.add(depth, ex_.constant(apart));
  rows.local = local(ex_.mul(ex_.constant(height), rows.row), b.ctx);
  const Dims& shape = node(operand).shape;
  pack(operand, b.batch,
       {{dims - 2, rows.row, ex_.constant(height), b.first, b.last,
         static_cast<double>(shape[dims - 2])},
        {dims - 1, ex_.one(), depth, kNone, kNone, static_cast<double>(shape[dims - 1])}},
       rows.local, b.ctx);
  return rows;
}

// Columns and sums of a second operand, walked as they lie in memory: rows of either in scratch.
ir::Panels Lowering::pack_columns(std::int32_t operand, const Index& batch, const Range& sums,
                                  const Range& across, std::int32_t ctx) {
  const Node& on = node(operand);
  const int dims = on.shape.size();
  const std::int64_t apart = kApart / static_cast<std::int64_t>(itemsize(on.dtype));
  const bool turned =
      std::abs(on.strides[dims - 2]) < std::abs(on.strides[dims - 1]) && on.shape[dims - 2] != 1;
  const Range &outer = turned ? across : sums, &inner = turned ? sums : across;
  const ExprId row = ex_.add(inner.most, ex_.constant(apart));
  const std::int32_t b = local(ex_.mul(outer.most, row), ctx);
  const auto level = [&](const Range& r, int axis, ExprId place) {
    return Level{axis, place, ex_.constant(r.now), r.begin, r.end, r.trips};
  };
  pack(operand, batch,
       {level(outer, turned ? dims - 1 : dims - 2, row),
        level(inner, turned ? dims - 2 : dims - 1, ex_.one())},
       b, ctx, true);
  ir::Panels p{b, access({}), 1, coeff(row), {1}};
  // Rows of sums: one panel, whatever number of columns it has.
  if (!turned) p = {p.local, p.access, kOnePanel, {0}, coeff(row)};
  return p;
}

void Lowering::multiply_columns(std::int32_t product, const Tile& tile, const Rows& rows,
                                const Range& across, const RowBlock& b, std::int32_t ctx) {
  const std::int32_t operand = g_[product].in[1];
  const Node& on = node(operand);
  const int dims = on.shape.size();
  const std::int64_t most = in_.target.product_depth;
  const ExprId depth = ex_.source({operand, Field::Shape, dims - 2});
  const std::int32_t block = open_blocks(ctx, depth, most);
  const Range sums = range_of_block(k_.loops[block].var, depth, on.shape[dims - 2], most);
  ir::Product m;
  m.b = pack_columns(operand, tile.batch, sums, across, block);
  m.a = {rows.local, access({{}, {{sums.begin, {1, ir::kNoParam}}}}), 1, coeff(rows.row), {1}};
  m.local = tile.c;
  m.access = access(tile.whole ? Access{{}, {{across.begin, {1, ir::kNoParam}}}} : Access{});
  m.row = coeff(tile.c_row);
  m.block = k_.loops[block].var;
  push_product(m, integer(OpId::Subtract, b.last, b.first),
               integer(OpId::Subtract, across.end, across.begin), sums, block);
  close(block);
}

void Lowering::push_product(const ir::Product& m, Val rows, Val columns, const Range& sums,
                            std::int32_t ctx) {
  k_.products.push_back(m);
  Inst i{Op::Product, node(region_.product).dtype, OpId::Count_,
         static_cast<std::int32_t>(k_.products.size() - 1)};
  i.operands[0] = rows;
  i.operands[1] = columns;
  i.operands[2] = integer(OpId::Subtract, sums.end, sums.begin);
  push(i, ctx);
}

void Lowering::store_rows(Val first, Val last, std::int64_t most, std::int32_t ctx) {
  const Node& p = node(region_.product);
  const int dims = p.shape.size();
  const auto height = static_cast<double>(p.shape[dims - 2]);
  tile_.rows = open_between(ctx, first, last, ex_.constant(most), height);
  Index idx = tile_.batch;
  idx[static_cast<std::size_t>(dims - 2)].loop = tile_.rows;
  // Folds of rows first: what is computed from them finds them in front of its loop.
  std::int32_t columns = -1;
  for (const bool folded : {true, false})
    for (const std::int32_t r : region_.roots) {
      const Node& n = node(r);
      if ((n.shape != p.shape) != folded) continue;
      if (folded) {
        idx.back() = {};
        Index at(idx.begin(), idx.begin() + n.shape.size());
        store_root(r, at, tile_.rows);
        continue;
      }
      if (columns < 0) {
        const ExprId extent = ex_.source({region_.product, Field::Shape, dims - 1});
        if (tile_.whole) {
          columns = open(tile_.rows, extent);
        } else {
          const Val right = apply(
              OpId::Minimum, DType::Int64,
              apply(OpId::Add, DType::Int64, tile_.first_column, constant(scalar_int(tile_.width))),
              number(extent));
          const std::int64_t wide =
              std::max<std::int64_t>(1, std::min(p.shape.back(), tile_.width));
          columns = open_between(tile_.rows, tile_.first_column, right, ex_.constant(wide),
                                 static_cast<double>(wide));
        }
        tile_.columns = columns;
      }
      idx.back().loop = columns;
      store_root(r, idx, columns);
    }
  if (columns >= 0) close(columns);
  close(tile_.rows);
}

// Whether the index is that one, or a broadcast of it along axes of one element.
bool Lowering::at_index(std::int32_t id, const Index& idx, const Index& whole) const {
  const Dims& shape = node(id).shape;
  if (idx.size() != whole.size()) return false;
  for (std::size_t d = 0; d < idx.size(); ++d)
    if (idx[d] != whole[d] && !(shape[static_cast<int>(d)] == 1 && idx[d] == Ix{})) return false;
  return true;
}

// The product at an index of its own block.
Val Lowering::tile_element(std::int32_t id, const Index& idx) {
  const Node& p = node(id);
  if (!tile_.own.empty()) {
    if (!at_index(id, idx, tile_.own)) {
      need(id, "it is read beyond its own rows");
      return zero(p.dtype);
    }
    Inst i{Op::LoadLocal, p.dtype, OpId::Count_, tile_.c};
    i.access = access(tile_.at);
    return push(i, innermost(tile_.own));
  }
  Index row = tile_.batch;
  row[row.size() - 2].loop = tile_.rows;
  row.back() = idx.back();
  const Ix& column = idx.back();
  const bool own = at_index(id, idx, row);
  const bool block = tile_.whole || (column == Ix{tile_.columns} && column.loop >= 0);
  if (tile_.rows < 0 || !own || !block) {
    need(id, "it is read beyond its own rows");
    return zero(p.dtype);
  }
  Access a;
  a.terms.push_back({k_.loops[tile_.rows].var, coeff(tile_.c_row)});
  a.terms.push_back({tile_.first_row, coeff(ex_.mul(tile_.c_row, ex_.constant(-1)))});
  if (column.loop >= 0) a.terms.push_back({k_.loops[column.loop].var, coeff(column.step)});
  if (tile_.whole)
    a.offset = coeff(column.start);
  else
    a.terms.push_back({tile_.first_column, {-1, ir::kNoParam}});
  Inst i{Op::LoadLocal, p.dtype, OpId::Count_, tile_.c};
  i.access = access(std::move(a));
  const std::int32_t at = column.loop >= 0 ? column.loop : tile_.rows;
  return finished(push(i, at), at);
}

}  // namespace plait::fusion
