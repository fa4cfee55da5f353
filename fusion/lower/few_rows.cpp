// A product of few rows and columns that are computed, as dequantised weights are: to read the
// columns takes longest. Each element of them is computed in registers and multiplied there by
// every row; in scratch it would go through the cache twice. Sums of a block wait in the cache.
#include <algorithm>

#include "product_nest.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;

namespace {
// Lines of the columns that an iteration reads at once, so that sums are loaded and stored less
// often: as many as leave the rows' factors registers.
constexpr std::int64_t kLinesOfFew = 8, kLinesOfMore = 4, kFew = 2;
}  // namespace

// Whether sums are those of the operands' own type: others are made of several elements at a time.
// Columns lie side by side, in long pieces of their lines.
bool ProductNest::streams(std::int32_t product) const {
  const DType sums = fragment_sums(product_types(node(product)));
  const std::int32_t columns = g_[product].in[1];
  const int dims = node(columns).extents.size();
  return in_.target.lanes && reads_once() && is_float(sums) && multiplied(product, 0) == sums &&
         multiplied(product, 1) == sums && lines_inside(columns, dims - 1, 1, dims - 2, 1);
}

// As fragments do: in each block of sums a chain of multiply-adds from zero, which is added to what
// the product has of the blocks before.
void ProductNest::multiply_streamed(std::int32_t product, const AxisTile& rows,
                                    const AxisTile& columns, std::int32_t ctx, bool adds) {
  const tracer::ProductAxes axes = product_axes(node(product));
  const std::int32_t left = g_[product].in[0], right = g_[product].in[1],
                     whole = tile_.locals.at(product);
  const DType t = k_.locals[whole].dtype;
  const std::int64_t count = ex_.value(in_.facts.known(rows.extent(rows.split)));
  const ExprId row = ex_.add(columns.lines(), row_padding(t));
  const auto down_to = [&](Access a, std::int64_t r, ExprId step) {
    if (r > 0) a.offset = coeff(ex_.mul(ex_.constant(r), step));
    return a;
  };
  // Of a column: its place in the sums of a block, and in the product.
  const auto each_column = [&](auto&& put) {
    std::vector<std::int32_t> opened;
    const std::int32_t loop = columns.open(ctx, opened);
    Index own = tile_.batch;
    for (int d = columns.split; d < columns.last; ++d)
      own[static_cast<std::size_t>(d)].loop = opened[static_cast<std::size_t>(d - columns.split)];
    Access part;
    columns.add_terms(part, own, ex_.one());
    Access all = part;
    if (tile_.whole && columns.begin != kNone)
      all.terms.push_back({columns.first_line(), {1, ir::kNoParam}});
    for (std::int64_t r = 0; r < count; ++r)
      put(down_to(part, r, row), down_to(all, r, tile_.row), loop);
    close_all(opened);
  };

  if (!adds)
    each_column([&](const Access&, const Access& all, std::int32_t loop) {
      push_store_local(whole, all, constant(fold_identity(ReduceKind::Sum, t)), loop);
    });
  AxisTile sums = AxisTile::block(nest_, right, axes.batch, axes.sums, in_.target.depth_of_block());
  std::vector<std::int32_t> opened;
  ctx = sums.open_blocks(ctx, opened);
  const Packed down =
      pack_lines(left, t, rows, axes.batch, sums, axes.batch + axes.rows, ctx, true);
  const std::int32_t part =
      nest_.place({product, PlaceLevel::BlockOfSums, "its columns are read once"}, t,
                  ex_.mul(ex_.constant(count), row), ctx);
  each_column([&](const Access& at, const Access&, std::int32_t loop) {
    push_store_local(part, at, zero(t), loop);
  });

  const int columns_at = axes.batch + axes.sums;
  auto [idx, levels] =
      levels_of_lines(right, columns, columns_at, ex_.one(), sums, axes.batch, down.sum, true);
  for (CutLoops::Level& l : levels)
    if (l.axis < columns_at) l.second = std::exchange(l.place, ex_.zero());
  const ExprId depth = ex_.source({right, Field::Shape, axes.batch});
  const auto divides = [&](std::int64_t by) {
    const ExprId each = ex_.constant(by);
    return in_.facts.equal(depth, ex_.mul(ex_.blocks(depth, each), each));
  };
  std::int64_t at_once = count <= kFew ? kLinesOfFew : kLinesOfMore;
  while (at_once > 1 && !divides(at_once)) at_once /= 2;
  const CutLoops::Unroll unroll{at_once > 1 ? axes.batch : -1, at_once};
  values_.fill(right, idx, levels, ctx, true, unroll, [&](CutLoops::Elements& e) {
    std::vector<Val> sum;
    for (std::int64_t r = 0; r < count; ++r)
      sum.push_back(load_local(part, down_to(e.place, r, row), e.loop));
    for (std::size_t n = 0; n < e.values.size(); ++n) {
      const Val v = cast(e.values[n], t);
      for (std::int64_t r = 0; r < count; ++r) {
        Access at = e.second;
        at.offset = coeff(ex_.add(ex_.mul(ex_.constant(r), down.line), e.offsets[n]));
        Val& s = sum[static_cast<std::size_t>(r)];
        s = apply(OpId::Fma, t, v, load_local(down.local, std::move(at), e.outer), s);
      }
    }
    for (std::int64_t r = 0; r < count; ++r)
      push_store_local(part, down_to(e.place, r, row), sum[static_cast<std::size_t>(r)], e.loop);
  });

  each_column([&](const Access& at, const Access& all, std::int32_t loop) {
    const Val v = apply(OpId::Add, t, load_local(whole, all, loop), load_local(part, at, loop));
    push_store_local(whole, all, v, loop);
  });
  close_all(opened);
}

}  // namespace plait::fusion
