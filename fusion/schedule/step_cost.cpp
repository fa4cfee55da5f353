#include "step_cost.hpp"

#include "../plan.hpp"
#include "core/call_table.hpp"
#include "core/scatter.hpp"
#include "cost.hpp"
#include "product_region.hpp"
#include "scan_region.hpp"

namespace plait::fusion {
using tracer::NodeKind;

namespace {

// By the loops of a region. Fragments are part of its work, blocks are not.
double kernel_seconds(const Problem& p, const Step& s, double bytes) {
  const Machine& m = *p.target.machine;
  const LoweredKernel& k = s.lowered;
  double seconds = region_seconds(m, bytes, k.work) + k.in_order;
  if (s.region.kind == RegionKind::Product && !s.region.attention)
    for (const std::int32_t product : s.region.products())
      seconds += tiling_seconds(p.target, p.graph, product);
  bool shared = k.planned_grid > 1;
  if (s.region.kind == RegionKind::Scatter) {
    const PlanNode& gn = p.graph[s.region.roots[0]];
    shared = scatter_pieces(element_count(p.graph[gn.in[2]].node->extents).estimate(),
                            element_count(gn.node->extents).estimate()) > 1;
  }
  return shared ? seconds : 2 * seconds;
}

double direct_seconds(const Problem& p, const Step& s, double bytes) {
  const Machine& m = *p.target.machine;
  const std::int32_t root = s.epilogue ? s.epilogue.product : s.region.roots[0];
  const Node& n = *p.graph[root].node;
  if (const std::optional<Scan> scan = scan_of(n)) {
    const double seconds = scan_seconds(m, n, scan->axis, true) + memory_seconds(m, bytes);
    return element_count(n.extents) == n.extents[scan->axis] ? 2 * seconds : seconds;
  }
  if (n.kind == NodeKind::Call && n.call == CallId::Scatter) {
    const std::int64_t elements =
        element_count(p.graph[p.graph[root].in[2]].node->extents).estimate();
    const double seconds =
        static_cast<double>(elements) * m.near_element + memory_seconds(m, bytes);
    return scatter_pieces(elements, element_count(n.extents).estimate()) > 1 ? seconds
                                                                             : 2 * seconds;
  }
  return operation_seconds(m, n);
}

}  // namespace

double step_seconds(const Problem& p, const Step& s, double bytes) {
  const Machine& m = *p.target.machine;
  const double alone =
      s.kind == StepKind::Kernel ? kernel_seconds(p, s, bytes) : direct_seconds(p, s, bytes);
  const double team = alone >= m.least_shared ? m.ask_awake + m.join : 0;
  return m.operation + alone + team;
}

}  // namespace plait::fusion
