#include "scan_region.hpp"

#include "core/call_table.hpp"

namespace plait::fusion {
using tracer::NodeKind;

std::optional<Scan> scan_of(const Node& n) {
  if (n.kind != NodeKind::Call || n.call != CallId::Accumulate) return std::nullopt;
  const bool number = is_integer(n.dtype) || n.dtype == DType::Float32 || n.dtype == DType::Float64;
  const int axis = static_cast<int>(n.axes[0]);
  switch (n.fn) {
    case OpId::Add:
      if (number || is_complex(n.dtype)) return Scan{ReduceKind::Sum, axis};
      break;
    // A complex product that starts from 1 is not its first factor: 1 * (inf + 0j) is inf + nanj.
    case OpId::Multiply:
      if (number) return Scan{ReduceKind::Prod, axis};
      break;
    case OpId::Minimum:
      if (number) return Scan{ReduceKind::Min, axis};
      break;
    case OpId::Maximum:
      if (number) return Scan{ReduceKind::Max, axis};
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<Scan> looped_scan(const Node& n, const Target& t) {
  std::optional<Scan> s = scan_of(n);
  if (s && (n.extents[s->axis] <= (t.lanes ? kShort : 1) || n.elements == 0)) s.reset();
  return s;
}

double scan_seconds(const Machine& m, const Node& n, int axis, bool call) {
  const Number elements = n.elements;
  const bool side_by_side =
      call ? elements != n.extents[axis] : by_width(n.extents, n.byte_strides).back() != axis;
  return (side_by_side ? m.side_by_side : m.ordered) * elements.cost();
}

bool shifts_along(const Node& view, const PlanViewMap& map, const Node& base, int axis) {
  if (view.extents.size() != base.extents.size()) return false;
  for (int d = 0; d < base.extents.size(); ++d) {
    if (base.extents[d] == 1) continue;
    if (map.from[d] != d || map.step[d] != 1) return false;
    if (d != axis && (map.start[d] != 0 || view.extents[d] != base.extents[d])) return false;
  }
  return true;
}

}  // namespace plait::fusion
