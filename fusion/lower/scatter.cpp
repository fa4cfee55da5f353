#include "scatter_nest.hpp"

#include <algorithm>
#include <bit>

#include "chunks.hpp"
#include "core/scatter.hpp"
#include "fusion/operation.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {
// Indices of a block, which stay in the nearest cache; operations of an element that every row may
// have again.
constexpr std::int64_t kIndices = 512;
constexpr double kSoon = 4;
}  // namespace

void ScatterNest::build() {
  const std::int32_t index = g_[region_.roots[0]].in[1];
  // Their own extents decide how floats are cut: those of one region stay equal.
  std::int32_t lead = -1;
  for (const std::int32_t r : region_.roots) {
    if (is_integer(node(r).dtype)) continue;
    for (int d = 0; lead >= 0 && d < node(r).extents.size(); ++d)
      in_.facts.equal(ex_.source({lead, Field::Shape, d}), ex_.source({r, Field::Shape, d}));
    lead = r;
  }
  const auto [begin, end] = chunk_of_grid(nest_);
  std::vector<std::int32_t> tables;
  for (const std::int32_t r : region_.roots) {
    const ExprId outputs = elements(g_, ex_, r);
    tables.push_back(nest_.buffer({BufferSource::Partial, static_cast<int>(out_.partials.size())},
                                  node(r).dtype, true));
    out_.partials.push_back({r, scatter_fold(node(r).fn), node(r).dtype, outputs});
    const std::int32_t init = g_[r].in[0];
    if (node(init).kind != NodeKind::Fill) out_.reads.insert({in_.canon[init], in_.canon[init]});
    if (!in_.target.lanes) start_table(r, tables.back(), outputs);
  }
  out_.grid_extent = ex_.source({index, Field::Shape, 0});
  out_.scatters = true;
  const ExprId extent = out_.grid_extent;
  const double trips = node(index).extents[0].cost();
  const auto run = [&](std::int32_t rows, Val at) {
    for (std::size_t r = 0; r < region_.roots.size(); ++r)
      scatter_row(region_.roots[r], tables[r], {rows, ex_.one(), ex_.zero()}, at);
    close(rows);
  };
  if (!lanes_along_rows()) {
    const std::int32_t rows = open_between(0, begin, end, extent, trips);
    return run(rows, values_.emit(index, Index{{rows, ex_.one(), ex_.zero()}}, rows));
  }
  // Lanes run along indices where those are computed, a block of them, and then along each row.
  const ExprId most = ex_.constant(kIndices);
  const Val each = number(most), count = integer(OpId::Subtract, end, begin);
  const Val blocks = integer(OpId::FloorDivide,
                             integer(OpId::Add, count, constant(scalar_int(kIndices - 1))), each);
  const std::int32_t block =
      open_between(0, kNone, blocks, ex_.blocks(extent, most), std::max(1.0, trips / kIndices));
  const Val from = integer(OpId::Add, begin, integer(OpId::Multiply, k_.loops[block].var, each));
  const Val to = integer(OpId::Minimum, integer(OpId::Add, from, each), end);
  const std::int32_t named =
      nest_.place({index, PlaceLevel::BlockOfIndices, "lanes run along the rows there"},
                  DType::Int64, most, block);
  const auto open_rows = [&] {
    return open_between(block, from, to, most, std::min<double>(trips, kIndices));
  };
  const auto of_row = [&](std::int32_t rows) {
    return Access{{}, {{k_.loops[rows].var, {1, kNoParam}}, {from, {-1, kNoParam}}}};
  };
  const std::int32_t naming = open_rows();
  push_store_local(named, of_row(naming),
                   values_.emit(index, Index{{naming, ex_.one(), ex_.zero()}}, naming), naming);
  close(naming);
  const std::int32_t rows = open_rows();
  run(rows, load_local(named, of_row(rows), rows));
  close(block);
}

// Whether each index names a row whose values are soon computed, so that lanes are along it.
bool ScatterNest::lanes_along_rows() const {
  return in_.target.lanes &&
         std::ranges::all_of(
             region_.roots,
             [&](std::int32_t r) { return costs_.of(in_.canon[g_[r].in[2]]) <= kSoon; }) &&
         std::ranges::any_of(region_.roots,
                             [&](std::int32_t r) { return node(r).extents.size() > 1; });
}

// The first piece begins with what is combined with, the others with nothing.
void ScatterNest::start_table(std::int32_t root, std::int32_t table, ExprId outputs) {
  const Node& n = node(root);
  const std::int32_t init = g_[root].in[0];
  const DType t = n.dtype;
  const ExprId item = ex_.constant(static_cast<std::int64_t>(itemsize(t)));
  Access a{{}, {{k_.loops[0].var, coeff(ex_.mul(outputs, item))}}};
  Index idx(n.extents.size());
  std::vector<std::int32_t> opened;
  std::int32_t ctx = 0;
  for (int d = 0; d < n.extents.size(); ++d) {
    const ExprId extent = ex_.source({root, Field::Shape, d});
    opened.push_back(ctx = open(ctx, extent));
    idx[d] = {ctx, ex_.one(), ex_.zero()};
    ExprId stride = ex_.one();
    for (int e = d + 1; e < n.extents.size(); ++e)
      stride = ex_.mul(stride, ex_.source({root, Field::Shape, e}));
    a.terms.push_back({k_.loops[ctx].var, coeff(ex_.mul(stride, item))});
  }
  const Val first = apply(OpId::Equal, DType::Bool, k_.loops[0].var, constant(scalar_int(0)));
  const Val nothing = constant(plait::cast(fold_identity(scatter_fold(n.fn), t), t));
  const Val v =
      apply(OpId::Where, t, first, values_.emit(init, broadcast(init, idx), ctx), nothing);
  nest_.push_store(table, std::move(a), v, ctx, false);
  close_all(opened);
}

void ScatterNest::scatter_row(std::int32_t root, std::int32_t table, const AxisIndex& row, Val at) {
  const Node& n = node(root);
  const std::int32_t values = g_[root].in[2];
  // Elements from one index of a dimension to the next; a short row is unrolled.
  std::vector<ExprId> stride(n.extents.size(), ex_.one());
  for (int d = n.extents.size(); d-- > 1;)
    stride[d - 1] = ex_.mul(stride[d], ex_.source({root, Field::Shape, d}));
  const ExprId outputs = ex_.mul(stride[0], ex_.source({root, Field::Shape, 0}));
  const ExprId item = ex_.constant(static_cast<std::int64_t>(itemsize(n.dtype)));
  // Lanes need a power of two of them: where some are masked, what was stored waits to be loaded.
  const bool is_short = n.extents.size() == 2 && n.extents[1] <= kShort;
  const bool unrolled =
      is_short &&
      !(lanes_along_rows() && std::has_single_bit(static_cast<unsigned>(n.extents[1].known())));
  Index idx(n.extents.size());
  idx[0] = row;
  std::int32_t ctx = row.loop;
  std::vector<std::int32_t> opened;
  for (int d = 1; d < n.extents.size() && !unrolled; ++d) {
    ctx = open(ctx, ex_.source({root, Field::Shape, d}));
    opened.push_back(ctx);
    idx[d].loop = ctx;
  }
  for (std::int64_t c = 0; c < (unrolled ? n.extents[1].known() : 1); ++c) {
    if (unrolled) idx[1] = {-1, ex_.one(), ex_.constant(c)};
    const Val v = values_.emit(values, broadcast(values, idx), ctx);
    Access a;
    if (unrolled) a.offset = coeff(ex_.mul(ex_.constant(c), item));
    a.terms.push_back({k_.loops[0].var, coeff(ex_.mul(outputs, item))});
    for (int d = 1; d < n.extents.size() && !unrolled; ++d)
      a.terms.push_back({k_.loops[idx[d].loop].var, coeff(ex_.mul(stride[d], item))});
    nest_.push_scatter(n.fn, table, std::move(a), at, coeff(ex_.mul(stride[0], item)), v, ctx);
  }
  close_all(opened);
}

}  // namespace plait::fusion
