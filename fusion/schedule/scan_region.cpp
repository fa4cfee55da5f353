#include "scan_region.hpp"

#include "core/call_table.hpp"

namespace plait::fusion {
using tracer::Node;
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
  if (s && (n.shape[s->axis] <= (t.lanes ? kShort : 1) || element_count(n.shape) == 0)) s.reset();
  return s;
}

double scan_seconds(const Machine& m, const Node& n, int axis, bool call) {
  const std::int64_t elements = element_count(n.shape);
  const bool side_by_side =
      call ? elements != n.shape[axis] : by_width(n.shape, n.strides).back() != axis;
  return (side_by_side ? m.side_by_side : m.ordered) * static_cast<double>(elements);
}

bool shifts_along(const Node& view, const ViewMap& map, const Node& base, int axis) {
  if (view.shape.size() != base.shape.size()) return false;
  for (int d = 0; d < base.shape.size(); ++d) {
    if (base.shape[d] == 1) continue;
    if (map.from[d] != d || map.step[d] != 1) return false;
    if (d != axis && (map.start[d] != 0 || view.shape[d] != base.shape[d])) return false;
  }
  return true;
}

}  // namespace plait::fusion
