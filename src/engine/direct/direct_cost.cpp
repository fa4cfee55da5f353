// What the reference evaluator needs for a graph, and where its sums are not those of a plan.
#include <algorithm>
#include <vector>

#include "engine/plans/history.hpp"
#include "fusion/schedule/cost.hpp"

namespace plait::engine {
using fusion::GNode;
using fusion::Graph;
using tracer::Node;
using tracer::NodeKind;

namespace {

double bytes(const Node& n) {
  return static_cast<double>(element_count(n.shape)) * static_cast<double>(itemsize(n.dtype));
}

// Of each node, whether a sum over it is one walk however the planner reads it: what lies behind
// it, down to what is in memory, has its shape, is in C order and has no gaps.
std::vector<bool> in_one_piece(const Graph& g) {
  std::vector<bool> piece(g.nodes.size());
  for (std::int32_t i = 0; i < g.size(); ++i) {
    const GNode& gn = g[i];
    const Node& n = *gn.node;
    const bool number = n.kind == NodeKind::Scalar || n.kind == NodeKind::Fill;
    piece[i] = number || n.strides == contiguous_strides(
                                          n.shape, static_cast<std::int64_t>(itemsize(n.dtype)));
    const bool map = n.kind == NodeKind::Elementwise || n.kind == NodeKind::Cast;
    if (gn.leaf || number) continue;
    piece[i] = piece[i] && (map || (n.kind == NodeKind::View && g[gn.in[0]].leaf));
    for (std::int32_t in : gn.in)
      if (in >= 0 && map) {
        const Node& from = *g[in].node;
        const bool one = from.kind == NodeKind::Scalar || from.kind == NodeKind::Fill;
        piece[i] = piece[i] && piece[in] && (one || from.shape == n.shape);
      }
  }
  return piece;
}

// A plan cuts long sums of rows into blocks, and sums over several axes as it walks them; complex
// sums and products need not have the order of the direct way.
bool sums_alike(const Graph& g, const GNode& gn, std::vector<bool>& piece) {
  const Node& n = *gn.node;
  const bool ordered = reduce_info(n.reduce).has(kOrderShows);
  if (!ordered || !(is_float(n.dtype) || is_complex(n.dtype))) return true;
  if (gn.in[1] >= 0 || n.reduce == ReduceKind::Prod || is_complex(n.dtype)) return false;
  const Dims& on = n.inputs[0]->shape;
  const std::int64_t total = element_count(on);
  const std::int64_t results = std::max<std::int64_t>(1, element_count(n.shape));
  const bool cut = total >= fusion::kBlockedFold && total / results >= 64;
  if (n.axes.size() == 1) return !cut || fusion::chunks_keep_bits(n);
  if (n.dtype == DType::Float16 || (cut && results > 1)) return false;
  if (piece.empty()) piece = in_one_piece(g);
  return piece[gn.in[0]];
}

}  // namespace

DirectWork direct_work(const Graph& g) {
  DirectWork w;
  std::vector<bool> piece;
  for (const GNode& gn : g.nodes) {
    if (gn.leaf) continue;
    const Node& n = *gn.node;
    w.seconds += fusion::operation_seconds(host_machine(), n);
    if (n.kind != NodeKind::View) w.bytes += bytes(n);
    if (n.kind == NodeKind::Reduce) w.same_bits = w.same_bits && sums_alike(g, gn, piece);
  }
  return w;
}

}  // namespace plait::engine
