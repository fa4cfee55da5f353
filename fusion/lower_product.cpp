// A matrix product as a region: the grid runs over blocks of its rows. A block's rows of the first
// operand are computed into scratch once, with what stands before them; then, blocks of columns by
// blocks of columns, so are those of the second, and fragments sum into the block of the product,
// which what stands after it reads.
#include <algorithm>

#include "cost.hpp"
#include "lowering.hpp"
#include "product_region.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::Node;
using tracer::NodeKind;

namespace {

// Beyond a row of an operand, so that rows do not share the cache's sets.
constexpr std::int64_t kApart = 64;

}  // namespace

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

void Lowering::product() {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  const int dims = p.shape.size();
  const ExprId rows = ex_.source({id, Field::Shape, dims - 2}),
               columns = ex_.source({id, Field::Shape, dims - 1});
  for (const std::int32_t r : region_.roots)
    for (int d = 0; d < node(r).shape.size(); ++d)
      if (d < dims - 1 || node(r).shape[d] != 1) {
        const ExprId mine = ex_.source({r, Field::Shape, d}),
                     its = ex_.source({id, Field::Shape, d});
        in_.facts.equal(mine, its);
      }
  tile_.whole = keeps_rows(p);
  const TileShape shape = tile_shape(g_, id, tile_.whole);
  tile_.height = shape.rows;
  tile_.width = shape.columns;
  tile_.depth = in_.target.product_depth;

  // The grid counts blocks, those of a matrix one after another.
  trips_[0] = 1;
  const ExprId blocks = ex_.blocks(rows, tile_.height);
  out_.grid_extent = blocks;
  for (int d = 0; d < dims - 2; ++d)
    out_.grid_extent = ex_.mul(out_.grid_extent, ex_.source({id, Field::Shape, d}));
  const auto integer = [&](OpId fn, Val a, Val b) { return apply(fn, DType::Int64, a, b); };
  Val block = k_.loops[0].var, rest = kNone;
  if (element_count(Dims(p.shape.begin(), p.shape.end() - 2)) != 1) {
    rest = integer(OpId::FloorDivide, block, number(blocks));
    block = integer(OpId::Remainder, block, number(blocks));
  }
  tile_.batch.assign(static_cast<std::size_t>(dims), {});
  std::vector<std::int32_t> opened;
  std::int32_t ctx = 0;
  for (int d = dims - 3; d >= 0; --d) {
    if (p.shape[d] == 1) continue;
    const Val extent = number(ex_.source({id, Field::Shape, d}));
    const Val at = integer(OpId::Remainder, rest, extent);
    rest = integer(OpId::FloorDivide, rest, extent);
    ctx = open_between(ctx, at, integer(OpId::Add, at, constant(scalar_int(1))), ex_.one(),
                       static_cast<double>(p.shape[d]));
    opened.push_back(ctx);
    tile_.batch[static_cast<std::size_t>(d)].loop = ctx;
  }
  const Val first = integer(OpId::Multiply, block, constant(scalar_int(tile_.height)));
  const Val last = integer(
      OpId::Minimum, integer(OpId::Add, first, constant(scalar_int(tile_.height))), number(rows));
  tile_.first_row = first;
  pack_rows(g_[id].in[0], first, last, ctx);

  const ExprId across =
      tile_.whole ? ex_.add(columns, ex_.constant(kApart / 4)) : ex_.constant(tile_.width);
  tile_.c_row = across;
  tile_.c = local(ex_.mul(ex_.constant(tile_.height), across), ctx);
  const ExprId strips = ex_.blocks(columns, tile_.width);
  const std::int32_t strip =
      open_between(ctx, kNone, number(strips), strips,
                   static_cast<double>(std::max<std::int64_t>(1, concrete(in_, strips))));
  opened.push_back(strip);
  tile_.first_column =
      integer(OpId::Multiply, k_.loops[strip].var, constant(scalar_int(tile_.width)));
  multiply_columns(g_[id].in[1], integer(OpId::Subtract, last, first), strip);
  if (tile_.whole) {
    opened.pop_back();
    close(strip);
    store_rows(first, last, ctx);
  } else {
    store_rows(first, last, strip);
  }
  for (auto l = opened.rbegin(); l != opened.rend(); ++l) close(*l);
  const std::int64_t depth = node(g_[id].in[0]).shape.back();
  out_.work += product_work(*in_.target.machine, p.dtype,
                            static_cast<double>(element_count(p.shape) * depth));
}

void Lowering::pack_rows(std::int32_t operand, Val first, Val last, std::int32_t ctx) {
  const Node& p = node(region_.product);
  const int dims = p.shape.size();
  const ExprId depth = ex_.source({operand, Field::Shape, dims - 1});
  const std::int64_t apart = kApart / static_cast<std::int64_t>(itemsize(p.dtype));
  tile_.a_row = ex_.add(depth, ex_.constant(apart));
  tile_.a = local(ex_.mul(ex_.constant(tile_.height), tile_.a_row), ctx);
  const std::int32_t i = open_between(ctx, first, last, ex_.constant(tile_.height),
                                      static_cast<double>(p.shape[dims - 2]));
  const std::int32_t k = open(i, depth);
  Index idx = tile_.batch;
  idx[static_cast<std::size_t>(dims - 2)].loop = i;
  idx[static_cast<std::size_t>(dims - 1)].loop = k;
  const Val v = emit(operand, idx, k);
  const ExprId back = ex_.mul(tile_.a_row, ex_.constant(-1));
  push_store_local(tile_.a,
                   {{},
                    {{k_.loops[i].var, coeff(tile_.a_row)},
                     {first, coeff(back)},
                     {k_.loops[k].var, {1, ir::kNoParam}}}},
                   v, k);
  close(k);
  close(i);
}

void Lowering::multiply_columns(std::int32_t operand, Val rows, std::int32_t ctx) {
  const Node &p = node(region_.product), &on = node(operand);
  const int dims = p.shape.size();
  const auto integer = [&](OpId fn, Val a, Val b) { return apply(fn, DType::Int64, a, b); };
  const ExprId depth = ex_.source({operand, Field::Shape, dims - 2}),
               columns = ex_.source({region_.product, Field::Shape, dims - 1});
  const std::int64_t apart = kApart / static_cast<std::int64_t>(itemsize(p.dtype));
  const std::int64_t row = tile_.width + apart;
  const auto few = [](std::int64_t extent, std::int64_t most) {
    return std::max<std::int64_t>(1, std::min(extent, most));
  };
  const Val left = tile_.first_column;
  const Val right = integer(
      OpId::Minimum, integer(OpId::Add, left, constant(scalar_int(tile_.width))), number(columns));
  const std::int32_t b = local(ex_.constant(tile_.depth * row), ctx);
  const ExprId blocks = ex_.blocks(depth, tile_.depth);
  const std::int32_t block =
      open_between(ctx, kNone, number(blocks), blocks,
                   static_cast<double>(std::max<std::int64_t>(1, concrete(in_, blocks))));
  const Val from = integer(OpId::Multiply, k_.loops[block].var, constant(scalar_int(tile_.depth)));
  const Val to = integer(OpId::Minimum, integer(OpId::Add, from, constant(scalar_int(tile_.depth))),
                         number(depth));
  // Along the memory of the operand.
  const bool turned =
      std::abs(on.strides[dims - 2]) < std::abs(on.strides[dims - 1]) && on.shape[dims - 2] != 1;
  const std::int64_t deep = few(on.shape[dims - 2], tile_.depth),
                     wide = few(p.shape.back(), tile_.width);
  const auto range = [&](bool sum, std::int32_t parent) {
    return sum ? open_between(parent, from, to, ex_.constant(deep), static_cast<double>(deep))
               : open_between(parent, left, right, ex_.constant(wide), static_cast<double>(wide));
  };
  const std::int32_t outer = range(!turned, block), inner = range(turned, outer);
  const std::int32_t k = turned ? inner : outer, j = turned ? outer : inner;
  Index idx = tile_.batch;
  idx[static_cast<std::size_t>(dims - 2)].loop = k;
  idx[static_cast<std::size_t>(dims - 1)].loop = j;
  const Val v = emit(operand, idx, inner);
  push_store_local(b,
                   {{},
                    {{k_.loops[k].var, {row, ir::kNoParam}},
                     {from, {-row, ir::kNoParam}},
                     {k_.loops[j].var, {1, ir::kNoParam}},
                     {left, {-1, ir::kNoParam}}}},
                   v, inner);
  close(inner);
  close(outer);

  ir::Product m;
  const auto access = [&](Access a) {
    k_.accesses.push_back(std::move(a));
    return static_cast<std::int32_t>(k_.accesses.size() - 1);
  };
  m.a = {tile_.a, access({{}, {{from, {1, ir::kNoParam}}}}), 1, coeff(tile_.a_row), {1}};
  m.b = {b, access({}), static_cast<std::int32_t>(tile_.width), {0}, {row}};
  m.local = tile_.c;
  m.access = access(tile_.whole ? Access{{}, {{left, {1, ir::kNoParam}}}} : Access{});
  m.row = coeff(tile_.c_row);
  m.block = k_.loops[block].var;
  k_.products.push_back(m);
  Inst i{Op::Product, p.dtype, OpId::Count_, static_cast<std::int32_t>(k_.products.size() - 1)};
  i.operands[0] = rows;
  i.operands[1] = integer(OpId::Subtract, right, left);
  i.operands[2] = integer(OpId::Subtract, to, from);
  push(i, block);
  close(block);
}

void Lowering::store_rows(Val first, Val last, std::int32_t ctx) {
  const Node& p = node(region_.product);
  const int dims = p.shape.size();
  const auto height = static_cast<double>(p.shape[dims - 2]);
  tile_.rows = open_between(ctx, first, last, ex_.constant(tile_.height), height);
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

// The product at an index of its own block.
Val Lowering::tile_element(std::int32_t id, const Index& idx) {
  const Node& p = node(id);
  Index row = tile_.batch;
  row[row.size() - 2].loop = tile_.rows;
  row.back() = idx.back();
  const Ix& column = idx.back();
  const bool block = tile_.whole || (column == Ix{tile_.columns} && column.loop >= 0);
  if (tile_.rows < 0 || idx != row || !block) {
    demand(id, "it is read beyond its own rows");
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
  k_.accesses.push_back(std::move(a));
  Inst i{Op::LoadLocal, p.dtype, OpId::Count_, tile_.c};
  i.access = static_cast<std::int32_t>(k_.accesses.size() - 1);
  return push(i, column.loop >= 0 ? column.loop : tile_.rows);
}

}  // namespace plait::fusion
