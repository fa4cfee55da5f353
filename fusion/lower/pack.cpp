// Operands of a product that are packed in scratch, line by line.
#include <algorithm>
#include <cstdlib>

#include "product_block.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

// The axis among these whose elements follow each other closest, and of such the longest.
struct Nearest {
  Number stride = std::int64_t{1} << 60, extent = 0;
  bool before(const Nearest& o) const {
    return stride < o.stride || (stride == o.stride && extent > o.extent);
  }
};
Nearest nearest(const Node& n, int first, int count) {
  Nearest found;
  for (int d = first; d < first + count; ++d)
    if (n.extents[d] != 1)
      if (const Nearest axis{abs(n.byte_strides[d]), n.extents[d]}; axis.before(found))
        found = axis;
  return found;
}

}  // namespace

// Whether an axis in memory and the one behind it, of `extent` elements, are one.
bool ProductBlock::joins(std::int32_t operand, int axis, int behind, ExprId extent) {
  const std::int32_t id = in_.canon[operand];
  const bool view = !in_.in_memory[id] && node(id).kind == NodeKind::View &&
                    in_.in_memory[in_.canon[g_[id].in[0]]] &&
                    !nest_.laid_out(in_.canon[g_[id].in[0]]);
  if (!view && !in_.in_memory[id]) return false;
  const Field strides = view ? Field::Stride : Field::Layout;
  return in_.facts.equal(nest_.stride_of({id, strides, axis}),
                         ex_.mul(extent, nest_.stride_of({id, strides, behind})));
}

bool ProductBlock::lines_inside(std::int32_t operand, int lines_at, int lines, int sums_at,
                                int sums) const {
  const Node& n = node(operand);
  return !nearest(n, sums_at, sums).before(nearest(n, lines_at, lines));
}

DType ProductBlock::multiplied(std::int32_t product, int operand) const {
  const ProductTypes t = in_.target.multiplied(product_types(node(product)));
  return operand == 0 ? t.a : t.b;
}

// What lies closest in memory is the innermost loop, and so are its places in scratch.
ProductBlock::Packed ProductBlock::pack_lines(std::int32_t operand, DType as, const AxisTile& l,
                                              int lines_at, const AxisTile& s, int sums_at,
                                              std::int32_t ctx, bool repeated) {
  const bool lines_inside =
      this->lines_inside(operand, lines_at, l.last - l.first, sums_at, s.last - s.first);
  const ExprId padding = row_padding(as);
  const ExprId depth = s.lines(), lines = l.lines();
  Packed packed;
  // Each from the beginning of a line of the cache on.
  (lines_inside ? packed.sum : packed.line) =
      ex_.add(ex_.mul(ex_.blocks(lines_inside ? lines : depth, padding), padding), padding);
  packed.local =
      nest_.place({operand, s.begin == kNone ? PlaceLevel::BlockOfLines : PlaceLevel::BlockOfSums,
                   "its lines are multiplied by several others"},
                  as, lines_inside ? ex_.mul(depth, packed.sum) : ex_.mul(lines, packed.line), ctx);

  const auto [idx, levels] =
      levels_of_lines(operand, l, lines_at, packed.line, s, sums_at, packed.sum, lines_inside);
  values_.fill(operand, idx, levels, ctx, repeated, {}, [&](CutLoops::Elements& e) {
    push_store_local(packed.local, std::move(e.place), cast(e.values[0], as), e.loop);
  });
  return packed;
}

std::pair<Index, std::vector<CutLoops::Level>> ProductBlock::levels_of_lines(
    std::int32_t operand, const AxisTile& l, int lines_at, ExprId line, const AxisTile& s,
    int sums_at, ExprId sum, bool lines_inside) {
  Index idx(static_cast<std::size_t>(node(operand).extents.size()));
  const int batch = std::min(lines_at, sums_at);
  std::copy(tile_.batch.begin(), tile_.batch.begin() + batch, idx.begin());
  std::copy(l.at.begin(), l.at.end(), idx.begin() + lines_at);
  std::copy(s.at.begin(), s.at.end(), idx.begin() + sums_at);
  // Summed axes that are one in memory are one loop.
  const auto levels_of = [&](const AxisTile& of, int at, ExprId stride, bool join) {
    std::vector<CutLoops::Level> levels;
    for (int d = of.last; d-- > of.split;) {
      const bool cut = d == of.split && of.begin != kNone;
      const ExprId extent = of.extent(d);
      const int axis = at + d - of.first;
      const double trips = node(of.of).extents[d].cost();
      if (join && !cut && !levels.empty() &&
          joins(operand, axis, levels.back().axis, levels.back().extent)) {
        CutLoops::Level& behind = levels.back();
        behind.extent = ex_.mul(behind.extent, extent);
        behind.trips *= trips;
        continue;
      }
      CutLoops::Level level{axis,    ex_.mul(of.stride(d), stride), extent, of.begin, of.end,
                            of.trips};
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
  std::vector<CutLoops::Level> levels = levels_of(l, lines_at, line, false);
  const std::vector<CutLoops::Level> summed = levels_of(s, sums_at, sum, true);
  levels.insert(lines_inside ? levels.begin() : levels.end(), summed.begin(), summed.end());
  return {idx, levels};
}

// Of columns that lie side by side: one panel, whatever number of them it has.
Panels ProductBlock::panels(const Packed& p, Access from, bool columns) {
  const std::int32_t at = access(std::move(from));
  if (columns && p.line == ex_.one()) return {p.local, at, kOnePanel, {0}, coeff(p.sum)};
  return {p.local, at, 1, coeff(p.line), coeff(p.sum)};
}

}  // namespace plait::fusion
