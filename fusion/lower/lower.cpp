// Which loops the roots of a region get.
#include <algorithm>

#include "attention_nest.hpp"
#include "chunks.hpp"
#include "lowering.hpp"
#include "plait/error.hpp"
#include "product_nest.hpp"
#include "scatter_nest.hpp"

namespace plait::fusion {
using namespace ir;
using tracer::NodeKind;

namespace {

// Elements of a block of what is cut along its only long dimension.
constexpr std::int64_t kBlock = 4096;

}  // namespace

std::int64_t concrete(const LoweringInput& in, ExprId e) { return in.facts.estimate(e); }

bool is_root(const LoweringInput& in, const RegionSpec& region, std::int32_t id) {
  return std::ranges::any_of(region.roots,
                             [&](std::int32_t r) { return in.canon[r] == id || r == id; });
}

void lower(const LoweringInput& in, const RegionSpec& region, LoweredKernel& out) {
  out = LoweredKernel();
  Lowering lowering(in, region, out, true);
  lowering.run();
  if (!lowering.needs().empty())
    throw InternalError(std::string("a region was lowered without what it needs: ") +
                        lowering.needs()[0].why);
}

void Lowering::run() {
  switch (region_.order) {
    case FoldOrder::Chunks:
      ChunkedFolds(*this, *this, region_, reductions_).build();
      break;
    case FoldOrder::ByIndex:
      ScatterNest(*this, *this, region_, costs_).build();
      break;
    case FoldOrder::Rescaled:
      build(AttentionNest(*this, *this, region_));
      break;
    case FoldOrder::Whole:
    case FoldOrder::Running:
      if (region_.product >= 0)
        build(ProductNest(*this, *this, region_));
      else
        map();
      break;
  }
  if (recomputation_ && needs_.empty()) recomputation_->check();
  k_.params = static_cast<std::int32_t>(out_.params.size());
  out_.planned_grid = std::max<std::int64_t>(1, concrete(in_, out_.grid_extent));
}

void Lowering::map() {
  const Node& lead = node(region_.roots[0]);
  const bool update = lead.kind == NodeKind::Update;
  const Numbers& shape = update ? lead.view_extents : lead.extents;
  const Numbers strides = update ? lead.view_byte_strides : strides_now(region_.roots[0]);
  if (element_count(shape) == 0) {
    out_.grid_extent = ex_.zero();
    return;
  }
  const Field extent_field = update ? Field::ViewShape : Field::Shape;
  if (!scans_.plan(shape)) return;
  Index idx(shape.size());
  std::vector<int> order = by_width(shape, strides);
  std::erase(order, scans_.axis());
  const bool folds = std::any_of(region_.roots.begin(), region_.roots.end(), [&](std::int32_t r) {
    return any_computed(in_, r, [&](std::int32_t i) { return node(i).kind == NodeKind::Reduce; });
  });
  CutLoops cuts = cut_loops();
  // The grid feeds the threads: a short outermost dimension makes way for the longest one, or for
  // blocks of it where it is the innermost and to be cut.
  int in_blocks = -1;
  const bool cut =
      in_.target.lanes && scans_.axis() < 0 && !folds && cuts.reads_parts(region_.roots);
  if (!order.empty() && (shape[order[0]] < kMinParallelRows || (cut && order.size() == 1))) {
    auto longest = std::max_element(order.begin(), order.end(),
                                    [&](int a, int b) { return shape[a] < shape[b]; });
    const bool innermost = longest + 1 == order.end();
    if (cut && innermost && (order.size() == 1 || shape[*longest] >= 4096))
      in_blocks = *longest;
    else if (shape[*longest] >= 4096)
      std::rotate(order.begin(), longest, longest + 1);
  }
  if (scans_.axis() >= 0 && !scans_.windows()) order.push_back(scans_.axis());
  // The grid's iterations come in any order.
  bool first = in_blocks < 0 && (order.empty() || order[0] != scans_.axis());
  // Short dimensions beside a reduction are unrolled: the components of a force share what does
  // not depend on them.
  std::vector<int> unrolled;
  const auto extent_of = [&](int d) { return ex_.source({region_.roots[0], extent_field, d}); };
  std::vector<int> looped;
  for (int d : order) {
    if (!first && folds && scans_.axis() < 0 && shape[d] <= kShort && unrolled.empty()) {
      shape[d].known();
      unrolled.push_back(d);
    } else if (first) {
      out_.grid_extent = extent_of(d);
      trips_[0] = shape[d].cost();
      idx[d].loop = 0;
      first = false;
    } else {
      looped.push_back(d);
    }
  }
  std::vector<CutLoops::Level> levels;
  for (const int d : looped)
    levels.push_back({d, ex_.one(), extent_of(d), kNone, kNone, shape[d].cost()});
  if (in_blocks >= 0) {
    const ExprId each = ex_.constant(kBlock), extent = extent_of(in_blocks);
    out_.grid_extent = ex_.blocks(extent, each);
    trips_[0] = static_cast<double>(concrete(in_, out_.grid_extent));
    chunked_ = true;
    std::tie(levels.back().begin, levels.back().end) =
        range_of_block(k_.loops[0].var, each, extent);
  }
  std::vector<ExprId> extents;
  for (int d = 0; d < shape.size(); ++d) extents.push_back(extent_of(d));
  cuts.start(idx, levels, extents);
  if (scans_.axis() < 0) cuts.cut_innermost(region_.roots);
  with_cuts(cuts, [&] {
    cuts.run(0, [&](Index& at, std::int32_t ctx) {
      if (scans_.windows())
        scans_.run_windows(at, extent_of(scans_.axis()), ctx);
      else
        store_unrolled(at, unrolled, shape, ctx);
    });
  });
}

CutLoops Lowering::cut_loops() {
  return {
      *this,
      [this](std::int32_t id, const Index& idx, std::int32_t ctx) { return emit(id, idx, ctx); },
      [this](std::int32_t id, const char* why) { need(id, why); }};
}

void Lowering::fill(std::int32_t operand, const Index& idx,
                    const std::vector<CutLoops::Level>& levels, std::int32_t ctx, bool repeated,
                    CutLoops::Unroll unroll, const CutLoops::Put& put) {
  CutLoops cuts = cut_loops();
  with_cuts(cuts, [&] { cuts.fill(operand, idx, levels, ctx, repeated, unroll, put); });
}

void Lowering::store_unrolled(Index& idx, const std::vector<int>& unrolled, const Numbers& shape,
                              std::int32_t ctx) {
  const std::int64_t count = unrolled.empty() ? 1 : shape[unrolled[0]].known();
  for (std::int64_t c = 0; c < count; ++c) {
    if (!unrolled.empty()) idx[unrolled[0]] = {-1, ex_.one(), ex_.constant(c)};
    for (std::int32_t r : region_.roots) store_root(r, idx, ctx);
  }
}

void Lowering::store_root(std::int32_t r, const Index& idx, std::int32_t ctx) {
  const Node& n = node(r);
  const bool large =
      n.elements * static_cast<std::int64_t>(itemsize(n.dtype)) >= (std::int64_t{32} << 20);
  if (n.kind == NodeKind::Update) {
    Val v = emit(g_[r].in[1], broadcast(g_[r].in[1], idx), ctx);
    v = cast(v, n.view_dtype);
    std::int32_t b = 0;
    Access a;
    in_full(true, [&] {
      b = buffer({BufferSource::NodeMemory, r}, n.view_dtype, true);
      a = address(idx, n.view_byte_strides, {r, Field::ViewStride, 0},
                  ex_.source({r, Field::Offset, 0}));
    });
    if (g_[r].in[2] >= 0) {
      Val m = emit(g_[r].in[2], broadcast(g_[r].in[2], idx), ctx);
      Val old = push_load(b, a, n.view_dtype, ctx);
      v = apply(OpId::Where, n.view_dtype, m, v, old);
    }
    in_full(true, [&] { push_store(b, a, v, ctx, false); });
  } else {
    Val v = emit(r, idx, ctx);
    std::int32_t b = buffer({BufferSource::NodeMemory, r}, n.dtype, true);
    push_store(b, address(idx, n.byte_strides, {r, Field::Layout, 0}, ex_.zero()), v, ctx, large);
  }
}

void Lowering::need(std::int32_t id, const char* why) { needs_.push_back({in_.canon[id], why}); }

void Lowering::need_alike(std::int32_t root, bool one_walk) {
  needs_.push_back({root, "", one_walk});
}

Val Lowering::operand_value(std::int32_t reduction, const Index& idx, std::int32_t ctx) {
  return reductions_.operand_value(reduction, idx, ctx);
}

}  // namespace plait::fusion
