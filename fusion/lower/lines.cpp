// The lines of a node that a block has (Lines): how many, the loops over them, the place of each in
// a local, and operands that are packed line by line.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "lowering.hpp"
#include "tracer/contraction.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

// The longest axis that a block has whole, beside short ones.
constexpr std::int64_t kWholeAxis = 512;

// How many elements follow each other closest along one of these axes.
std::pair<Number, Number> closest(const Node& n, int first, int count) {
  std::pair<Number, Number> found{std::int64_t{1} << 60, 0};
  for (int d = first; d < first + count; ++d)
    if (n.extents[d] != 1) {
      const Number stride = abs(n.byte_strides[d]);
      if (stride < found.first || (stride == found.first && n.extents[d] > found.second))
        found = {stride, n.extents[d]};
    }
  return found;
}

}  // namespace

// All of the axes.
Lines Lowering::lines(std::int32_t of, int first, int count) {
  Lines l{of, first, first, first + count};
  for (int d = first + 1; d < l.last; ++d) l.inner = ex_.mul(l.inner, extent_of(l, d));
  l.most = extent_of(l, first);
  l.trips = node(of).extents[first].cost();
  return l;
}

// All that an operand sums.
Lines Lowering::lines_of_sums(std::int32_t product, int operand) {
  const tracer::ProductAxes axes = product_axes(node(product));
  const std::int32_t of = g_[product].in[operand];
  return lines(of, operand == 0 ? axes.batch + axes.rows : axes.batch, axes.sums);
}

// Those that a block has whole, from the last one on: short ones, and one that is longer.
Lines Lowering::block_of_lines(std::int32_t of, int first, int count, std::int64_t most) {
  Lines l = lines(of, first, count);
  const Numbers& shape = node(of).extents;
  l.split = l.last - 1;
  l.inner = ex_.one();
  Number inner = 1;
  bool long_one = false;
  for (; l.split > first; --l.split) {
    const Number& extent = shape[l.split];
    if (extent > kShort && (long_one || extent > kWholeAxis)) break;
    if (inner * extent > most) break;
    long_one |= extent > kShort;
    inner *= extent;
    l.inner = ex_.mul(l.inner, extent_of(l, l.split));
  }
  l.most = ex_.fit(ex_.constant(most), l.inner);
  l.trips = shape[l.split].cost();
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

// Whether the elements of different lines lie closest in memory, not those of one.
bool Lowering::lines_inside(std::int32_t operand, int lines_at, int lines, int sums_at,
                            int sums) const {
  const Node& n = node(operand);
  return closest(n, lines_at, lines) <= closest(n, sums_at, sums);
}

// What an operand of a product is packed as.
DType Lowering::multiplied(std::int32_t product, int operand) const {
  const ProductTypes t = in_.target.multiplied(product_types(node(product)));
  return operand == 0 ? t.a : t.b;
}

// Lines of an operand and what is summed of each into scratch, as that type. What lies closest in
// memory is the innermost loop, and so are its places in scratch.
Packed Lowering::pack_lines(std::int32_t operand, DType as, const Lines& l, int lines_at,
                            const Lines& s, int sums_at, std::int32_t ctx, bool repeated) {
  const bool lines_inside =
      this->lines_inside(operand, lines_at, l.last - l.first, sums_at, s.last - s.first);
  const ExprId apart =
      ex_.constant(in_.target.blocks.apart / static_cast<std::int64_t>(itemsize(as)));
  const ExprId depth = lines_in_block(s), lines = lines_in_block(l);
  Packed packed;
  // Each from the beginning of a line of the cache on.
  (lines_inside ? packed.sum : packed.line) =
      ex_.add(ex_.mul(ex_.blocks(lines_inside ? lines : depth, apart), apart), apart);
  packed.local =
      scratch({operand, s.begin == kNone ? "a block of lines" : "a block of sums",
               "its lines are multiplied by several others"},
              as, lines_inside ? ex_.mul(depth, packed.sum) : ex_.mul(lines, packed.line), ctx);

  const auto [idx, levels] =
      levels_of_lines(operand, l, lines_at, packed.line, s, sums_at, packed.sum, lines_inside);
  pack(operand, idx, levels, packed.local, ctx, repeated);
  return packed;
}

// The loops over lines of an operand and what is summed of each, and the index in front of them.
std::pair<Index, std::vector<Lowering::Level>> Lowering::levels_of_lines(
    std::int32_t operand, const Lines& l, int lines_at, ExprId line, const Lines& s, int sums_at,
    ExprId sum, bool lines_inside) {
  Index idx(static_cast<std::size_t>(node(operand).extents.size()));
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
      const double trips = node(of.of).extents[d].cost();
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
  std::vector<Level> levels = levels_of(l, lines_at, line, false);
  const std::vector<Level> summed = levels_of(s, sums_at, sum, true);
  levels.insert(lines_inside ? levels.begin() : levels.end(), summed.begin(), summed.end());
  return {idx, levels};
}

}  // namespace plait::fusion
