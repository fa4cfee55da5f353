#include "product_block.hpp"

#include <algorithm>

#include "fusion/schedule/cost.hpp"
#include "fusion/schedule/product_region.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

// What is stored of a root: of an update, what it writes.
std::int32_t ProductBlock::stored(std::int32_t root) const {
  return node(root).kind == NodeKind::Update ? in_.canon[g_[root].in[1]] : root;
}

// Of what is stored of a root, which of the axes of the product each of its own is.
std::optional<Dims> ProductBlock::axes_in_product(std::int32_t root) const {
  std::optional<Dims> axes;
  for (const std::int32_t of : region_.products())
    if (!axes) axes = axes_of_product(g_, in_.canon, stored(root), of);
  return axes;
}

bool ProductBlock::folds_rows(std::int32_t root) const {
  const Node& p = node(region_.product);
  return p.axes.empty() && node(stored(root)).extents != p.extents && !axes_in_product(root);
}

ExprId ProductBlock::row_padding(DType t) const {
  return ex_.constant(in_.target.blocks.row_padding / static_cast<std::int64_t>(itemsize(t)));
}

// All that an operand sums.
AxisTile ProductBlock::lines_of_sums(std::int32_t product, int operand) {
  const tracer::ProductAxes axes = product_axes(node(product));
  const std::int32_t of = g_[product].in[operand];
  return {nest_, of, operand == 0 ? axes.batch + axes.rows : axes.batch, axes.sums};
}

std::int32_t ProductBlock::open_block(AxisTile& rows, AxisTile* columns) {
  const std::int32_t id = region_.product;
  const Node& p = node(id);
  nest_.trips_[0] = 1;
  struct Digit {
    ExprId extent;
    AxisTile* blocks;
    int axis;
  };
  std::vector<Digit> digits;
  for (AxisTile* l : {columns, &rows}) {
    if (!l) continue;
    digits.push_back({ex_.blocks(l->extent(l->split), l->most), l, -1});
    for (int d = l->split - 1; d >= l->first; --d) digits.push_back({l->extent(d), l, d});
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
      d.blocks->set_block(at);
      continue;
    }
    ctx = open_between(ctx, at, integer(OpId::Add, at, constant(scalar_int(1))), ex_.one(),
                       p.extents[d.axis].cost());
    AxisIndex& x = tile_.batch[static_cast<std::size_t>(d.axis)];
    x.loop = ctx;
    if (d.blocks) d.blocks->at[static_cast<std::size_t>(d.axis - d.blocks->first)] = x;
  }
  return ctx;
}

// The loops of one iteration around what a grid iteration computes.
void ProductBlock::close_grid(std::int32_t ctx) {
  for (std::int32_t around = ctx; ctx > 0; ctx = around) {
    around = nest_.parent_[ctx];
    close(ctx);
  }
}

std::vector<std::int32_t> ProductBlock::open_rows_of(const AxisTile& rows, const AxisTile& columns,
                                                     std::int32_t ctx) {
  std::vector<std::int32_t> opened;
  tile_.rows = rows.open(ctx, opened);
  tile_.own = tile_.batch;
  own_index(rows, opened);
  tile_.at = {};
  rows.add_terms(tile_.at, tile_.own, tile_.row);
  tile_.across = columns;
  tile_.columns = -1;
  return opened;
}

void ProductBlock::own_index(const AxisTile& l, const std::vector<std::int32_t>& loops) {
  for (int d = l.split; d < l.last; ++d)
    tile_.own[static_cast<std::size_t>(d)].loop = loops[static_cast<std::size_t>(d - l.split)];
}

std::vector<std::int32_t> ProductBlock::open_columns_of_block() {
  std::vector<std::int32_t> opened;
  tile_.columns = tile_.across.open(tile_.rows, opened);
  own_index(tile_.across, opened);
  return opened;
}

Access ProductBlock::place_in_block() {
  Access a = tile_.at;
  tile_.across.add_terms(a, tile_.own, ex_.one());
  return a;
}

void ProductBlock::store_block(const AxisTile& rows, const AxisTile& columns, std::int32_t ctx) {
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
void ProductBlock::store_along(std::int32_t root, std::int32_t ctx) {
  const std::int32_t value = stored(root);
  const Node& n = node(value);
  std::optional<Dims> axes = axes_in_product(root);
  if (!axes && node(region_.product).axes.empty()) {
    axes.emplace(n.extents.size());
    for (int d = 0; d < axes->size(); ++d)
      (*axes)[d] = d != tile_.across.first || n.extents[d] != 1 ? d : -1;
  }
  if (!axes) return values_.need(region_.product, "it is read beyond its own rows");
  Index idx(static_cast<std::size_t>(n.extents.size()));
  for (int d = 0; d < axes->size(); ++d) {
    const auto of = static_cast<int>((*axes)[d]);
    if (of < 0) continue;
    const ExprId mine = ex_.source({value, Field::Shape, d}),
                 its = ex_.source({region_.product, Field::Shape, of});
    in_.facts.equal(mine, its);
    idx[static_cast<std::size_t>(d)] = tile_.own[static_cast<std::size_t>(of)];
  }
  values_.store_root(root, idx, ctx);
}

Val ProductBlock::value(std::int32_t id, const Index& idx, std::int32_t) {
  return in_.in_memory[id] || tile_.locals.count(id) == 0 ? kNone : tile_element(id, idx);
}

// The product at an index of its own block, rounded to its dtype.
Val ProductBlock::tile_element(std::int32_t id, const Index& idx) {
  const Node& p = node(id);
  bool own = tile_.rows >= 0 && idx.size() == tile_.own.size();
  for (int d = 0; own && d < p.extents.size(); ++d) {
    const AxisIndex& x = idx[static_cast<std::size_t>(d)];
    own = x == tile_.own[static_cast<std::size_t>(d)] || (p.extents[d] == 1 && x == AxisIndex{}) ||
          (tile_.whole && d >= tile_.across.first && d < tile_.across.last);
  }
  if (!own) {
    values_.need(id, "it is read beyond its own rows");
    return zero(p.dtype);
  }
  Access a = tile_.at;
  tile_.across.add_terms(a, idx, ex_.one());
  const Val v = load_local(tile_.locals.at(id), std::move(a), std::max(tile_.rows, innermost(idx)));
  return cast(finished(v, id, idx), p.dtype);
}

void ProductBlock::push_product(const ir::Fragment& m, Val rows, Val columns, Val sums,
                                std::int32_t ctx) {
  k_.fragments.push_back(m);
  Inst i{Op::Fragment, k_.locals[m.local].dtype, OpId::Count_,
         static_cast<std::int32_t>(k_.fragments.size() - 1)};
  i.operands[0] = rows;
  i.operands[1] = columns;
  i.operands[2] = sums;
  push(i, ctx);
}

void ProductBlock::count_fragments(const Node& product) {
  const ProductImpl by = region_.order == FoldOrder::Rescaled ? ProductImpl::Attention
                         : !product.axes.empty()              ? ProductImpl::Axes
                         : tile_.whole                        ? ProductImpl::Rows
                                                              : ProductImpl::Tiles;
  out_.work += product_work(*in_.target.machine, by, product_types(product),
                            product.elements.cost() * product_depth(product).cost());
}

}  // namespace plait::fusion
