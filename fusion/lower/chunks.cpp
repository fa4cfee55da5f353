#include "chunks.hpp"

#include <algorithm>

#include "plait/error.hpp"

namespace plait::fusion {
using namespace ir;

Chunk chunk_of_grid(Nest& nest) {
  nest.chunked_ = true;
  const std::int32_t table = nest.buffer({BufferSource::ChunkTable, 0}, DType::Int64, false);
  Access at;
  at.terms.push_back({nest.k_.loops[0].var, {8, kNoParam}});
  const Val begin = nest.push_load(table, at, DType::Int64, 0);
  at.offset.value = 8;
  const Val end = nest.push_load(table, at, DType::Int64, 0);
  nest.trips_[0] = 64;
  return {begin, end};
}

// The chunks of what lies in one piece are NumPy's, of all elements; of anything else they are
// chunks of one axis. One table cannot be both.
void ChunkedFolds::part_by_walk(const std::vector<int>& reduced) {
  std::vector<bool> walks;
  for (std::int32_t r : region_.roots) walks.push_back(reductions_.one_walk(r, reduced));
  if (std::find(walks.begin(), walks.end(), !walks[0]) == walks.end()) return;
  for (std::size_t i = 0; i < walks.size(); ++i) values_.need_alike(region_.roots[i], walks[i]);
}

void ChunkedFolds::build() {
  const Node& lead = node(region_.roots[0]);
  const std::int32_t operand = g_[region_.roots[0]].in[0];
  const Node& on = node(operand);
  std::vector<int> kept, reduced;
  for (int d : by_width(on.extents, on.byte_strides))
    (std::find(lead.axes.begin(), lead.axes.end(), d) != lead.axes.end() ? reduced : kept)
        .push_back(d);
  if (reduced.empty()) throw InternalError("blocked region without a reduced axis");
  if (!nest_.builds_) part_by_walk(reduced);
  const Chunk chunk = chunk_of_grid(nest_);

  Index idx(on.extents.size());
  std::int32_t ctx = 0;
  std::vector<std::int32_t> opened;
  ExprId outputs = ex_.one();
  std::vector<ExprId> out_stride(on.extents.size(), ex_.zero());
  for (auto d = kept.rbegin(); d != kept.rend(); ++d) {
    out_stride[*d] = outputs;
    outputs = ex_.mul(outputs, ex_.source({operand, Field::Shape, *d}));
  }
  for (int d : kept) {
    ctx = open(ctx, ex_.source({operand, Field::Shape, d}));
    opened.push_back(ctx);
    idx[d].loop = ctx;
  }
  for (int d : kept)
    out_.kept.push_back(
        static_cast<std::int32_t>(d - std::count_if(lead.axes.begin(), lead.axes.end(),
                                                    [&](std::int64_t a) { return a < d; })));
  out_.grid_extent = ex_.source({operand, Field::Shape, reduced[0]});
  for (std::int32_t r : region_.roots) {
    const Node& n = node(r);
    out_.pairwise_chunks |= reductions_.pairwise_axis(
        n, operand, reductions_.one_walk(r, reduced) ? reduced.back() : reduced[0]);
    const auto [v, extreme] = reductions_.fold_chunk(r, idx, reduced, ctx, chunk);
    auto partial = [&](Val value, ReduceKind kind, DType t) {
      std::int32_t b =
          nest_.buffer({BufferSource::Partial, static_cast<int>(out_.partials.size())}, t, true);
      out_.partials.push_back({r, kind, t, outputs});
      Access a;
      const auto item = static_cast<std::int64_t>(itemsize(t));
      a.terms.push_back({k_.loops[0].var, coeff(ex_.mul(outputs, ex_.constant(item)))});
      for (int d : kept)
        a.terms.push_back(
            {k_.loops[idx[d].loop].var, coeff(ex_.mul(out_stride[d], ex_.constant(item)))});
      nest_.push_store(b, a, value, ctx, false);
    };
    if (is_arg(n.reduce)) {
      // The combination compares the chunks' extreme values.
      partial(extreme, reduce_info(n.reduce).values, k_.insts[extreme].type);
      partial(v, n.reduce, DType::Int64);
    } else {
      partial(v, n.reduce, n.dtype);
    }
  }
  close_all(opened);
}

}  // namespace plait::fusion
