#include "axis_tile.hpp"

#include <algorithm>
#include <tuple>

namespace plait::fusion {
using namespace ir;

namespace {

// The longest axis that a block has whole, beside short ones.
constexpr std::int64_t kWholeAxis = 512;

}  // namespace

AxisTile::AxisTile(Nest& n, std::int32_t node, int first_axis, int count)
    : nest(&n), of(node), first(first_axis), split(first_axis), last(first_axis + count) {
  for (int d = first + 1; d < last; ++d) inner = n.ex_.mul(inner, extent(d));
  most = extent(first);
  trips = n.node(of).extents[first].cost();
}

AxisTile AxisTile::block(Nest& n, std::int32_t node, int first_axis, int count, std::int64_t most) {
  AxisTile t(n, node, first_axis, count);
  const Numbers& shape = n.node(node).extents;
  t.split = t.last - 1;
  t.inner = n.ex_.one();
  Number inner = 1;
  bool long_one = false;
  for (; t.split > first_axis; --t.split) {
    const Number& extent = shape[t.split];
    if (extent > kShort && (long_one || extent > kWholeAxis)) break;
    if (inner * extent > most) break;
    long_one |= extent > kShort;
    inner *= extent;
    t.inner = n.ex_.mul(t.inner, t.extent(t.split));
  }
  t.most = n.ex_.fit(n.ex_.constant(most), t.inner);
  t.trips = shape[t.split].cost();
  t.at.resize(static_cast<std::size_t>(t.split - first_axis));
  return t;
}

Val AxisTile::lines_now() const {
  Exprs& ex = nest->ex_;
  if (begin == kNone) return nest->number(ex.mul(extent(split), inner));
  const Val indices = nest->integer(OpId::Subtract, end, begin);
  return inner == ex.one() ? indices : nest->integer(OpId::Multiply, indices, nest->number(inner));
}

ExprId AxisTile::stride(int axis) const {
  ExprId lines = nest->ex_.one();
  for (int d = axis + 1; d < last; ++d) lines = nest->ex_.mul(lines, extent(d));
  return lines;
}

Val AxisTile::first_line() const {
  Val line =
      inner == nest->ex_.one() ? begin : nest->integer(OpId::Multiply, begin, nest->number(inner));
  for (int d = first; d < split; ++d)
    if (const AxisIndex& x = at[static_cast<std::size_t>(d - first)]; x.loop >= 0)
      line =
          nest->integer(OpId::Add, line,
                        nest->integer(OpId::Multiply, nest->position(x), nest->number(stride(d))));
  return line;
}

void AxisTile::set_block(Val number) {
  std::tie(begin, end) = nest->range_of_block(number, most, extent(split));
}

std::int32_t AxisTile::open_blocks(std::int32_t ctx, std::vector<std::int32_t>& opened) {
  for (int d = first; d < split; ++d) {
    ctx = nest->open(ctx, extent(d));
    opened.push_back(ctx);
    at[static_cast<std::size_t>(d - first)].loop = ctx;
  }
  const ExprId blocks = nest->ex_.blocks(extent(split), most);
  const auto count = static_cast<double>(std::max<std::int64_t>(1, concrete(nest->in_, blocks)));
  ctx = nest->open_between(ctx, kNone, nest->number(blocks), blocks, count);
  opened.push_back(ctx);
  set_block(nest->k_.loops[ctx].var);
  trips /= count;
  return ctx;
}

std::int32_t AxisTile::open(std::int32_t ctx, std::vector<std::int32_t>& opened) const {
  for (int d = split; d < last; ++d) {
    const ExprId all = extent(d);
    ctx = d == split && begin != kNone
              ? nest->open_between(ctx, begin, end, nest->ex_.least(most, all), trips)
              : nest->open(ctx, all);
    opened.push_back(ctx);
  }
  return ctx;
}

void AxisTile::add_terms(Access& a, const Index& idx, ExprId step) const {
  Exprs& ex = nest->ex_;
  for (int d = split; d < last; ++d) {
    const ExprId by = ex.mul(stride(d), step);
    const AxisIndex& x = idx[static_cast<std::size_t>(d)];
    if (x.loop >= 0)
      a.terms.push_back({nest->k_.loops[x.loop].var, nest->coeff(ex.mul(by, x.step))});
    if (x.at != kNone) a.terms.push_back({x.at, nest->coeff(by)});
    if (x.start != ex.zero()) {
      if (a.offset.param == kNoParam && a.offset.value == 0)
        a.offset = nest->coeff(ex.mul(by, x.start));
      else
        a.terms.push_back({nest->number(x.start), nest->coeff(by)});
    }
    if (d == split && begin != kNone)
      a.terms.push_back({begin, nest->coeff(ex.mul(by, ex.constant(-1)))});
  }
}

}  // namespace plait::fusion
