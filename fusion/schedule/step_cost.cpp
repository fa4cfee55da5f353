#include "step_cost.hpp"

#include <algorithm>

#include "../plan.hpp"
#include "core/call_table.hpp"
#include "core/scatter.hpp"
#include "cost.hpp"
#include "product_region.hpp"
#include "scan_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

double shared_seconds(const Problem& p, double seconds, std::int64_t parts) {
  const Machine& m = *p.target.machine;
  const int workers = p.target.workers;
  const auto busy = static_cast<int>(std::clamp<std::int64_t>(parts, 1, workers));
  if (!p.target.lanes) return seconds * workers / busy;
  if (busy == 1 || seconds < m.least_shared) return seconds;
  return seconds / busy + m.ask_awake + m.join;
}

namespace {

// By the loops of a region. Fragments are part of its work, blocks are not.
double kernel_seconds(const Problem& p, const Step& s, double bytes) {
  const Machine& m = *p.target.machine;
  const LoweredKernel& k = s.lowered;
  double seconds = region_seconds(m, bytes, k.work) + k.serial_seconds;
  if (s.region.product >= 0 && s.region.order == FoldOrder::Whole)
    for (const std::int32_t product : s.region.products())
      seconds += tiling_seconds(p.target, p.graph, product);
  std::int64_t parts = k.planned_grid;
  if (s.region.order == FoldOrder::ByIndex) {
    const PlanNode& gn = p.graph[s.region.roots[0]];
    parts =
        scatter_pieces(p.graph[gn.in[2]].node->elements.estimate(), gn.node->elements.estimate());
  }
  return shared_seconds(p, seconds, parts);
}

double direct_seconds(const Problem& p, const Step& s, double bytes) {
  const Machine& m = *p.target.machine;
  const std::int32_t root = s.epilogue ? s.epilogue.product : s.region.roots[0];
  const Node& n = *p.graph[root].node;
  if (const std::optional<Scan> scan = scan_of(n)) {
    const double seconds = scan_seconds(m, n, scan->axis, true) + memory_seconds(m, bytes);
    const std::int64_t length = std::max<std::int64_t>(1, n.extents[scan->axis].estimate());
    return shared_seconds(p, seconds, n.elements.estimate() / length);
  }
  if (n.kind == NodeKind::Call && n.call == CallId::Scatter) {
    const std::int64_t elements = p.graph[p.graph[root].in[2]].node->elements.estimate();
    const double seconds =
        static_cast<double>(elements) * m.near_element + memory_seconds(m, bytes);
    return shared_seconds(p, seconds, scatter_pieces(elements, n.elements.estimate()));
  }
  return shared_seconds(p, operation_seconds(m, n), p.target.workers);
}

}  // namespace

double step_seconds(const Problem& p, const Step& s, double bytes) {
  return p.target.machine->operation +
         (s.kind == StepKind::Kernel ? kernel_seconds(p, s, bytes) : direct_seconds(p, s, bytes));
}

}  // namespace plait::fusion
